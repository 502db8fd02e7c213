"""Writes on a pod which cards it holds, where somebody bound it to other ones than it was let
through for (E3).

Its charge has moved already, with the ledger. What is written is for those who start later: they
see a pod that runs, and of such a one the stamp alone says what its node was (D8).
"""

import logging
from typing import Final

from ..cluster.api_error import ApiError, OutcomeUnknown
from ..quota import vocabulary as v
from ..quota.ledger import Ledger
from ..quota.stamp import allocated_text, canonical
from .fenced_writer import FencedWriter, TooLateError
from .pod_patch import pod_path, precondition

_LOG = logging.getLogger(__name__)
_MOVED: Final = (404, 409)
"""The pod changed or is gone: its news are on the way."""


class StampKeeper:
    """Corrects stamps under the current term. One call per pod at a time.

    Not guaranteed: that a write lands. One that is lost may land later, for as long as nothing else
    is written on the pod, and does no harm then: it says what has been charged since.
    """

    def __init__(self, ledger: Ledger, writer: FencedWriter) -> None:
        self._ledger = ledger
        self._writer = writer

    async def correct(self, uid: str) -> None:
        """Write the cards of a misplaced pod on it. Whether it worked is seen by the watch."""
        if uid not in self._ledger.misplaced:
            return
        record = self._ledger.pods[uid]
        facts, cards = record.facts, canonical(record.on_node)
        note = {"annotations": {v.ALLOCATED: allocated_text(cards)}}
        try:
            await self._writer.patch(pod_path(facts), {"metadata": {**precondition(facts), **note}})
        except (ApiError, OutcomeUnknown, TooLateError) as error:
            moved = isinstance(error, ApiError) and error.status in _MOVED
            level = logging.DEBUG if moved else logging.WARNING
            _LOG.log(level, "stamp of %s/%s: %s", facts.namespace, facts.name, error)
