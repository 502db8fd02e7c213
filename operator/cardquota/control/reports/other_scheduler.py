"""Volcano beside an operator that says `scheduler: standalone`: refused at the start, and told of
if it comes later (V6). Both would write the phases of PodGroups, in turns, for ever.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...metrics import Metrics
from ...quota.messages.volcano import volcano_messages
from .phase_probe import PhaseProbe

_LOG = logging.getLogger(__name__)
EVERY: Final = 60.0
"""Seconds between two looks of a replica: the first is at its start, all others while it leads."""
_TICK: Final = 1.0
"""Seconds within which it is noticed that this replica leads."""


class OtherSchedulerError(Exception):
    """Another scheduler decides on PodGroups. The text says who, and what to set."""


class OtherScheduler:
    """Whether there is one. Belongs to the ledger's loop.

    Not guaranteed: that a new leader knows of it before its first look, which takes some seconds;
    it writes phases meanwhile. Nor that one is found that is too busy to look at a group within
    some seconds; it is found at a later look. Nor is one found while the probe may not be written.
    """

    def __init__(
        self,
        probe: PhaseProbe,
        metrics: Metrics,
        leads: Callable[[], bool],
        changed: Callable[[], None],
        *,
        every: float = EVERY,
    ) -> None:
        """`leads`: whether this replica does; after the start the others do not look. `changed` is
        called when one has come, or has gone. `every`: seconds between two looks.
        """
        self._probe = probe
        self._gauge = metrics.other_scheduler
        self._gauge.set(0)
        self._leads = leads
        self._changed = changed
        self._every = every
        self._writer = ""

    @property
    def here(self) -> bool:
        """Whether phases are to be left alone."""
        return bool(self._writer)

    @property
    def faults(self) -> list[str]:
        """What is to be put right, in words for people."""
        return [volcano_messages.other_scheduler(self._writer)] if self._writer else []

    async def run(self) -> None:
        """Look until cancelled. Raises OtherSchedulerError if there is one at the start."""
        writer = await self._ask()
        if writer:
            raise OtherSchedulerError(volcano_messages.other_scheduler_at_start(writer))
        loop = asyncio.get_running_loop()
        looked_at = loop.time()
        while True:
            await asyncio.sleep(_TICK)
            if not self._leads():
                if self._writer:
                    # Another replica looks for itself, and what stands here would get old.
                    self._writer, looked_at = "", -self._every
                    self._gauge.set(0)
            elif loop.time() - looked_at >= self._every:
                looked_at = loop.time()
                await self.look()

    async def look(self) -> None:
        """Look once, if this replica leads."""
        writer = await self._ask() if self._leads() else None
        if writer is None or writer == self._writer or not self._leads():
            return
        before, self._writer = self._writer, writer
        self._gauge.set(1 if writer else 0)
        if writer:
            _LOG.warning("%s", volcano_messages.other_scheduler(writer))
        else:
            _LOG.info("%s", volcano_messages.other_scheduler_gone(before))
        self._changed()

    async def _ask(self) -> str | None:
        """None: it could not be found out."""
        try:
            return await self._probe.ask()
        except (ApiError, OutcomeUnknown, ValueError) as error:
            _LOG.info("whether another scheduler writes phases is not known: %s", error)
            return None
