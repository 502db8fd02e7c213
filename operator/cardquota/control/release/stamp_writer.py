"""Writes on a running pod what a later leader could not know.

- Which cards it holds, if it was bound to other cards than it was let through for (E3). The ledger
  has already moved its charge. For a pod that runs when first seen, only the stamp says what its
  node was (D8).
- That it came where nothing is enforced (I3): it gets the term, and no cards. Once its namespace is
  enforced, that cannot be seen any more.
- Where it is charged although it came past admission (I3): its group and namespace may name another
  queue by then. It gets the label by which the API server knows which pods to guard. What stood
  there as if it were a stamp was not ours, and goes.
"""

import logging

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.writes.fenced_writer import FencedWriter, TooLateError
from ...cluster.writes.pod_patch import guard, pod_path, precondition
from ...quota import vocabulary as v
from ...quota.amounts import canonical
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.stamp import allocated_text
from ...quota.words import logged

_LOG = logging.getLogger(__name__)


class StampWriter:
    """Corrects or completes the stamps of pods, under one term. One call per pod at a time.

    Not guaranteed: that a write lands. A lost write may land later, as long as nothing else is
    written on the pod. That does no harm: it states what has been charged since.
    """

    def __init__(self, ledger: LedgerReader, writer: FencedWriter, *, term: str) -> None:
        self._ledger = ledger
        self._writer = writer
        self._term = term

    async def correct(self, uid: str) -> None:
        """Write what is missing or wrong on a pod. The watch shows whether it worked."""
        ledger = self._ledger
        note: dict[str, str | None] = {}
        if uid not in ledger.misplaced and uid not in ledger.unnoted:
            return
        record = ledger.pods[uid]
        facts = record.facts
        if uid in ledger.misplaced:
            note[v.ALLOCATED] = allocated_text(canonical(record.on_node))
        else:
            if record.audited:
                note[v.TERM] = self._term
            if record.fixed is not None:
                note[v.CHARGED_QUEUE] = record.fixed
        if not facts.labelled:
            note = {**dict.fromkeys(v.STAMP), **note}
        body = {"metadata": {**precondition(facts), "annotations": note, **guard(facts)}}
        try:
            await self._writer.patch(pod_path(facts), body)
        except (ApiError, OutcomeUnknown, TooLateError) as error:
            moved = isinstance(error, ApiError) and error.moved
            level = logging.DEBUG if moved else logging.WARNING
            _LOG.log(level, "stamp of %s: %s", logged(facts.namespace, facts.name), error)
