"""Which pods an event about something else changes, and how many of them are re-read at once."""

from collections.abc import Callable, Collection, Iterable
from itertools import islice
from math import inf
from typing import Final

from ..limits import KIB
from ..pods.pod_facts import PodFacts
from .charges import Charges
from .groups.pod_group_state import PodGroupState
from .ledger_state import LedgerState

_USUAL: Final = KIB
"""Bytes of a selector as pods usually have them; a longer one counts as several pods."""
_FEW: Final = 8
"""Alternatives, and devices, as pods usually have them at most."""


class Reassessment:
    """Re-reads pods after an event about something else: uncharges and charges them again. And
    groups that may wait to be enqueued.

    Guarantees: one event re-reads a bounded number of pods at once. The others are overdue: they
    keep their charge until somebody calls `read_overdue`, as if the event came later for them.
    """

    def __init__(self, state: LedgerState, charges: Charges, at_once: int | None) -> None:
        """`at_once`: how many pods one event re-reads, a large one counting as several; None: all
        of them.
        """
        self._state = state
        self._charges = charges
        self.at_once = at_once
        self._overdue = set[str]()
        """Pods to re-read, unless a stamp of ours charges them."""
        self._overdue_stamped = set[str]()
        """Pods to re-read, whatever charges them."""
        self._overdue_groups = set[str]()
        """Keys of groups of which it is to be found out whether they wait to be enqueued."""

    @property
    def overdue(self) -> bool:
        """Whether pods or groups are still to be re-read: see `read_overdue`."""
        return bool(self._overdue or self._overdue_stamped or self._overdue_groups)

    @property
    def left(self) -> int:
        """How many pods and groups are overdue."""
        return len(self._overdue | self._overdue_stamped) + len(self._overdue_groups)

    def postpone(self, uids: Iterable[str], *, stamped: bool = False) -> None:
        """Leave these pods to `read_overdue`; `stamped`: also where a stamp charges them."""
        (self._overdue_stamped if stamped else self._overdue).update(uids)

    def read_overdue(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Re-read overdue pods and groups, until none is left or it is `enough`."""
        while self.overdue and not enough():
            if self._overdue_groups:
                self._ask(self._overdue_groups.pop())
                continue
            stamped = bool(self._overdue_stamped)
            uids = self._overdue_stamped if stamped else self._overdue
            self._read_anew(uids.pop(), stamped=stamped)

    def read_first(self, uids: Iterable[str]) -> bool:
        """Re-read those of these pods that are overdue, a bounded number of them. Returns whether
        none was overdue.

        To be called before a decision on them: what they were judged by may not hold any more.
        """
        if not self._overdue and not self._overdue_stamped:
            return True
        found = [uid for uid in uids if uid in self._overdue or uid in self._overdue_stamped]
        left = inf if self.at_once is None else self.at_once
        for uid in found:
            if left <= 0:
                break
            self._overdue.discard(uid)
            self._overdue_stamped.discard(uid)
            left -= self._read_anew(uid, stamped=True)
        return not found

    def reassess(
        self, uids: Collection[str], *, stamped: bool = False, at_once: bool = False
    ) -> None:
        """Re-read these pods: those that a stamp charges only with `stamped`; all of them now with
        `at_once`, however many.
        """
        if at_once or self.at_once is None:
            for uid in sorted(uids):
                self._read_anew(uid, stamped=stamped)
            return
        left, overdue = self.at_once, self._overdue_stamped if stamped else self._overdue
        some = sorted(uids) if len(uids) <= left else list(islice(uids, left))
        if len(some) < len(uids):
            # As a whole: one by one it would take ten times as long.
            self.postpone(uids, stamped=stamped)
        for place, uid in enumerate(some):
            if left <= 0:
                self.postpone(some[place:], stamped=stamped)
                return
            overdue.discard(uid)
            left -= self._read_anew(uid, stamped=stamped)

    def _read_anew(self, uid: str, *, stamped: bool) -> int:
        """Returns as how many pods of usual length it counts."""
        record = self._state.pods.get(uid)
        if record is None or not (stamped or record.stamp is None):
            return 1
        self._charges.uncharge(record)
        self._charges.charge(record)
        return _weight(record.facts)

    def ask_groups_of_class(self, name: str) -> None:
        """Find another place for the groups that name a priority class and ask for something."""
        groups = self._state.groups.values()
        named = (g for g in groups if g.facts and g.facts.priority_class == name)
        self.ask_again([group.key for group in named if group.request])

    def ask_again(self, keys: Collection[str]) -> None:
        """Find out whether these groups wait to be enqueued, and at which place."""
        if self.at_once is not None and len(keys) > self.at_once:
            self._overdue_groups.update(keys)
            return
        for key in keys:
            self._ask(key)

    def ask_first(self, group: PodGroupState) -> bool:
        """Find out whether this group waits, and where, though it is overdue. Returns whether that
        is as before: to be called before anything is reserved for it.
        """
        before = group.asks
        self._overdue_groups.discard(group.key)
        self._state.ask(group)
        return group.asks == before

    def _ask(self, key: str) -> None:
        group = self._state.groups.get(key)
        if group is not None:
            self._state.ask(group)

    def cards_learned(self, resources: Iterable[str]) -> None:
        """The cards of these resource names changed. Re-reads the pods that ask for one, if no
        stamp charges them. Where there are any, some 20 ms for 100,000 pods.
        """
        changed = set(resources)
        if changed:
            self.reassess(
                [
                    uid
                    for uid, record in self._state.pods.items()
                    if not changed.isdisjoint(dict(record.facts.devices)) and record.stamp is None
                ]
            )


def _weight(facts: PodFacts) -> int:
    """As how many pods of usual length one counts, by what it costs to read."""
    alternatives = facts.card_text.count("|") if facts.card_text else 0
    return 1 + len(facts.selector) // _USUAL + (alternatives + len(facts.devices)) // _FEW
