"""Writes on a pod that runs what those who start later could not know.

- Which cards it holds, where somebody bound it to other ones than it was let through for (E3). Its
  charge has moved already, with the ledger; of a pod that runs when it is first seen the stamp
  alone says what its node was (D8).
- That audit mode let it by (I3): the term stands on it, and no cards. Whether its namespace was
  audited when it came, nobody can tell once that is enforced.
"""

import logging

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.stamp import allocated_text, canonical
from ...quota.words import logged
from .fenced_writer import FencedWriter, TooLateError
from .pod_patch import pod_path, precondition

_LOG = logging.getLogger(__name__)


class StampWriter:
    """Corrects and adds to what stands on pods, under one term. One call per pod at a time.

    Not guaranteed: that a write lands. One that is lost may land later, for as long as nothing else
    is written on the pod, and does no harm then: it says what has been charged since.
    """

    def __init__(self, ledger: LedgerReader, writer: FencedWriter, *, term: str) -> None:
        self._ledger = ledger
        self._writer = writer
        self._term = term

    async def correct(self, uid: str) -> None:
        """Write what is missing on a pod, or is wrong. Whether it worked is seen by the watch."""
        if uid in self._ledger.misplaced:
            cards = canonical(self._ledger.pods[uid].on_node)
            note = {v.ALLOCATED: allocated_text(cards)}
        elif uid in self._ledger.unnoted:
            note = {v.TERM: self._term}
        else:
            return
        facts = self._ledger.pods[uid].facts
        body = {"metadata": {**precondition(facts), "annotations": note}}
        try:
            await self._writer.patch(pod_path(facts), body)
        except (ApiError, OutcomeUnknown, TooLateError) as error:
            moved = isinstance(error, ApiError) and error.moved
            level = logging.DEBUG if moved else logging.WARNING
            _LOG.log(level, "stamp of %s: %s", logged(facts.namespace, facts.name), error)
