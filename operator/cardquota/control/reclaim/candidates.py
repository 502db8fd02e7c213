"""For whom plans are made now, of all that wait for room (L3, L5)."""

from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from typing import Final

from ...loop.timing import in_slices
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.reclaim.beneficiaries import preempt_waiters, reclaim_waiters
from ...quota.reclaim.plan import PAUSE, Beneficiary
from ...quota.reclaim.reclaim_notes import ReclaimNotes
from ...quota.vocabulary import ReclaimMode
from ...quota.words import time_text
from ...settings import Settings

_MOST: Final = 256
"""So many are looked at in one look: those first who have waited for it most."""


class Candidates:
    """Of one term. Remembers for whom nothing more is done for a while."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        notes: ReclaimNotes,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        """The clocks as those of `Reclaimer`."""
        self._ledger = ledger
        self._reclaim = settings.reclaim
        self._preempt_after = settings.preempt.after
        self._notes = notes
        self._clock = clock
        self._wall_clock = wall_clock
        self._unserved: dict[tuple[str, str], float] = {}
        """By queue and card: until when nothing ends for it, as who pods ended for went away."""
        self._would: dict[str, float] = {}
        """By key of who waits: when it was told what would be done."""
        self._looked: dict[str, float] = {}
        """By key of who waits: when it was last looked at."""

    def went_away(self, queue: str, card: str) -> None:
        """Pods ended for one of a queue that never started."""
        self._unserved[queue, card] = self._clock() + PAUSE

    def was_told(self, key: str) -> None:
        """What would end for one that waits was said."""
        self._would[key] = self._clock()

    def mode_in(self, queue: str) -> ReclaimMode:
        """What is done for those who wait there (L6)."""
        account = self._ledger.account(queue)
        facts = account.facts if account is not None else None
        return self._reclaim.mode_in(facts.reclaim_mode if facts is not None else None)

    async def find(
        self, carried_out: Collection[str], taken: AbstractSet[tuple[str, str]]
    ) -> list[Beneficiary]:
        """Who waits for room, in order; first those whose plan is carried out, by key. `taken`:
        where no other is made.
        """
        now = self._clock()
        created = time_text(int(max(0.0, self._wall_clock() - self._preempt_after)))
        found = await in_slices(
            reclaim_waiters(self._ledger, self._notes.since, now, self._reclaim.after)
        )
        found += await in_slices(preempt_waiters(self._ledger, created))
        keys = {one.key for one in found}
        self._would = {key: at for key, at in self._would.items() if key in keys}
        self._looked = {key: at for key, at in self._looked.items() if key in keys}
        self._unserved = {place: until for place, until in self._unserved.items() if until > now}
        others = [
            one
            for one in found
            if one.key not in carried_out and one.places.isdisjoint(taken) and self._may_have(one)
        ]
        others.sort(key=lambda one: self._looked.get(one.key, 0.0))
        del others[_MOST:]
        self._looked.update({one.key: now for one in others})
        return [*(one for one in found if one.key in carried_out), *others]

    def _may_have(self, one: Beneficiary) -> bool:
        """Whether anything may be done, or said, for it now."""
        mode = self.mode_in(one.queue)
        if mode is ReclaimMode.DRY_RUN:
            return self._clock() - self._would.get(one.key, -PAUSE) >= PAUSE
        before = self._ledger.plans.get(one.key)
        paused = before is not None and self._wall_clock() - before.gave_up < PAUSE
        paused = paused or (one.queue, one.card) in self._unserved
        return mode is ReclaimMode.ON and not paused
