"""For whom plans are made now, of all that wait for room (L3, L5)."""

from collections.abc import Callable, Collection
from typing import Final

from ...loop.timing import in_slices
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.reclaim.beneficiaries import preempt_waiters, reclaim_waiters
from ...quota.reclaim.pauses import InVain, in_vain, paused_until
from ...quota.reclaim.places import TakenPlaces
from ...quota.reclaim.plan import PAUSE, Beneficiary
from ...quota.reclaim.progress import started
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
        self._in_vain: dict[str, InVain] = {}
        """By key of who did not start in its room. It stands on who waits, too: after a term."""
        self._would: dict[str, float] = {}
        """By key of who waits: when it was told what would be done."""
        self._looked: dict[str, float] = {}
        """By key of who waits: when it was last looked at."""

    def went_away(self, queue: str, card: str) -> None:
        """Pods ended for one of a queue that never started."""
        self._unserved[queue, card] = self._clock() + PAUSE

    def gave_up(self, key: str, queue: str, card: str) -> None:
        """One of a queue did not start in the room that was made for it, and still waits."""
        self._in_vain[key] = InVain(queue, card, self._wall_clock() + PAUSE)

    def is_paused(self, queue: str, card: str) -> bool:
        """Whether nothing ends for a queue and card, as who pods ended for went away, or as several
        that still wait did not start: others of them may be of their kind.
        """
        several = paused_until(self._in_vain.values(), queue, card) is not None
        return several or (queue, card) in self._unserved

    def was_told(self, key: str) -> None:
        """What would end for one that waits was said."""
        self._would[key] = self._clock()

    def mode_in(self, queue: str) -> ReclaimMode:
        """What is done for those who wait there (L6)."""
        account = self._ledger.account(queue)
        facts = account.facts if account is not None else None
        return self._reclaim.mode_in(facts.reclaim_mode if facts is not None else None)

    async def find(self, carried_out: Collection[str], taken: TakenPlaces) -> list[Beneficiary]:
        """Who waits for room, in order; first those whose plan is carried out, by key."""
        now = self._clock()
        created = time_text(int(max(0.0, self._wall_clock() - self._preempt_after)))
        found = await in_slices(
            reclaim_waiters(self._ledger, self._notes.since, now, self._reclaim.after)
        )
        found += await in_slices(preempt_waiters(self._ledger, created))
        self._look_after_those_in_vain()
        keys = {one.key for one in found}
        self._would = {key: at for key, at in self._would.items() if key in keys}
        self._looked = {key: at for key, at in self._looked.items() if key in keys}
        self._unserved = {place: until for place, until in self._unserved.items() if until > now}
        others = [
            one
            for one in found
            if one.key not in carried_out and not taken.bar(one) and self._may_have(one)
        ]
        if len(others) > _MOST:
            longest = sorted(others, key=lambda one: self._looked.get(one.key, 0.0))[:_MOST]
            keys = {one.key for one in longest}
            others = [one for one in others if one.key in keys]
        self._looked.update({one.key: now for one in others})
        # Nobody counts on what is only told.
        others.sort(key=lambda one: self.mode_in(one.queue) is ReclaimMode.DRY_RUN)
        return [*(one for one in found if one.key in carried_out), *others]

    def _look_after_those_in_vain(self) -> None:
        """Who goes away within its pause leaves the rest of it to its queue: else another one in
        its place would have pods ended at once.
        """
        ledger, wall = self._ledger, self._wall_clock()
        before, self._in_vain = self._in_vain, in_vain(ledger, wall)
        for key, one in before.items():
            if key in self._in_vain or one.until <= wall or started(ledger, key):
                continue
            if key in ledger.pods or key in ledger.groups:
                self._in_vain[key] = one  # it is about to go, or what was just written is not seen
            else:
                self._unserved[one.queue, one.card] = self._clock() + one.until - wall

    def _may_have(self, one: Beneficiary) -> bool:
        """Whether anything may be done, or said, for it now."""
        mode = self.mode_in(one.queue)
        if mode is ReclaimMode.DRY_RUN:
            return self._clock() - self._would.get(one.key, -PAUSE) >= PAUSE
        before = self._ledger.plans.get(one.key)
        paused = before is not None and self._wall_clock() - before.gave_up < PAUSE
        paused = paused or self.is_paused(one.queue, one.card)
        return mode is ReclaimMode.ON and not paused
