"""Who waits in a queue, in the order of release (E6), as any replica knows it.

A gang that starts whole counts once, and so does a group that waits to be enqueued; every other pod
counts by itself. The order is over all that wait, whatever for.

Only the leader knows for whom room is set aside after a long wait (E6): that depends on its last
looks at the queue. Creation times and the setting tell every replica for whom it may be.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop, heappush, nsmallest
from itertools import islice
from typing import Final, NamedTuple

from ..accounts.account_reader import AccountReader
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pending.candidate import PodClass
from ..pending.readiness import Readiness
from ..pending.release_key import ORDINARY, Precedence, ReleaseKey, precedence_of
from ..pods.pod_record import PodRecord
from ..release.starvation import Starvation
from ..steps import Steps

AT_A_TIME: Final = 64
"""Classes of equal pods, or groups, that one step looks at: about a millisecond."""
MOST_KINDS: Final = 256
"""Different requests of a group's waiting members whose cards are looked at."""


class Next(NamedTuple):
    """One that waits: a pod that goes by itself, or a group."""

    key: ReleaseKey
    group: PodGroupState | None
    """A gang that starts whole, or a group that waits to be enqueued."""
    record: PodRecord | None
    """The pod; of a group its first waiting member, None if it has none."""


class _FirstLeft(NamedTuple):
    """The first that was not taken yet: of a class, or a group. No two keys are equal."""

    key: ReleaseKey
    group: str
    one: tuple[Precedence, PodClass] | None
    position: int


class PlaceInOrder(NamedTuple):
    """Where one stands among all that wait in its queue."""

    place: int
    """1: it is the first."""
    of: int
    """How many wait."""
    before: int
    """Of those before it: how many ask for one of its cards. Who asks for other cards never holds
    it up.
    """
    may_be_set_aside: bool = False
    """Whether one of these has waited so long that room may be set aside for it."""


class WaitingOrder:
    """All that wait in one queue, at about one moment. Made by `waiting_order`."""

    def __init__(
        self, ledger: LedgerReader, account: AccountReader, starvation: Starvation | None
    ) -> None:
        self._ledger = ledger
        self._account = account
        self._cutoff = starvation.cutoff if starvation is not None else ""
        self._groups: dict[str, ReleaseKey] = {}
        """By key of the group: its place."""
        self._classes: list[tuple[Precedence, PodClass]] = []
        """Pods that go one by one."""
        self._pods = 0
        """How many these are."""
        self._precedences: dict[str, Precedence] = {}

    def collect(self) -> Steps[None]:
        """Look at all of them."""
        pending = self._account.pending
        for number, gang in enumerate(list(pending.groups)):
            state = self._ledger.groups.get(gang.key)
            if state is not None and state.asks is not None:
                lost = state.lost_place
                self._groups[gang.key] = ORDINARY.key_of(state.asks.sort_key, lost_place=lost)
            if number % AT_A_TIME == AT_A_TIME - 1:
                yield
        for number, pod_class in enumerate([*pending.classes.values(), pending.refused]):
            self._add(pod_class)
            if number % AT_A_TIME == AT_A_TIME - 1:
                yield

    def _add(self, pod_class: PodClass) -> None:
        if not pod_class.sort_keys:
            return  # its pods went while others were looked at
        gang = pod_class.gang
        precedence = self.precedence(pod_class)
        if gang is None or gang.started:
            self._classes.append((precedence, pod_class))
            self._pods += len(pod_class.sort_keys)
        elif gang not in self._account.pending.groups:
            key = precedence.key_of(pod_class.sort_keys[0], lost_place=gang.lost_place)
            other = self._groups.get(gang.key, key)
            lowest = max(pod_class.sort_keys[-1].negated_priority, other.negated_priority)
            self._groups[gang.key] = min(key, other)._replace(negated_priority=lowest)

    def precedence(self, pod_class: PodClass) -> Precedence:
        """What all members of its gang have in common, as to their place."""
        gang, account = pod_class.gang, self._account
        if gang is None:
            return ORDINARY
        found = self._precedences.get(gang.key)
        if found is None:
            found = precedence_of(gang, account.name, account.limit)
            self._precedences[gang.key] = found
        return found

    def __len__(self) -> int:
        return len(self._groups) + self._pods

    def is_long(self, key: ReleaseKey) -> bool:
        """Whether who has this place has waited so long that room is set aside for it, if it lacks
        any. False where nothing is set aside.
        """
        incomplete = key.readiness is Readiness.INCOMPLETE
        return bool(self._cutoff) and (incomplete or key.made <= self._cutoff)

    def cards_of(self, one: Next) -> set[str]:
        """The cards that one of them asks for."""
        if one.group is not None:
            return set[str]().union(*self._choices_of(one.group))
        return set(_cards_of(one.record)) if one.record is not None else set()

    def first(self, most: int) -> Steps[list[Next]]:
        """So many of them, the first ones."""
        heads: list[_FirstLeft] = []
        groups = list(self._groups.items())
        for start in range(0, len(groups), AT_A_TIME):
            some = groups[start : start + AT_A_TIME]
            heads += (_FirstLeft(key, name, None, 0) for name, key in some)
            heads = nsmallest(most, heads)
            yield
        for start in range(0, len(self._classes), AT_A_TIME):
            for precedence, pod_class in self._classes[start : start + AT_A_TIME]:
                if pod_class.sort_keys:
                    key = precedence.key_of(pod_class.sort_keys[0])
                    heads.append(_FirstLeft(key, "", (precedence, pod_class), 0))
            # Nobody of a class is among the first if so many classes begin before it.
            heads = nsmallest(most, heads)
            yield
        return self._merged(heads, most)

    def _merged(self, heads: list["_FirstLeft"], most: int) -> list[Next]:
        found: list[Next] = []
        heapify(heads)
        while heads and len(found) < most:
            key, group, one, position = heappop(heads)
            if one is None:
                found += self._group(group, key)
                continue
            precedence, pod_class = one
            if position < len(pod_class.sort_keys):
                found += self._pod(pod_class, key, position)
            if position + 1 < len(pod_class.sort_keys):
                after = precedence.key_of(pod_class.sort_keys[position + 1])
                heappush(heads, _FirstLeft(after, "", one, position + 1))
        return found

    def _group(self, key: str, place: ReleaseKey) -> Iterator[Next]:
        """Nobody, if it went meanwhile."""
        group = self._ledger.groups.get(key)
        if group is not None:
            firsts = [one.sort_keys[0] for one in self._classes_of(group)]
            record = self._ledger.pods.get(min(firsts).uid) if firsts else None
            yield Next(place, group, record)

    def _pod(self, pod_class: PodClass, key: ReleaseKey, position: int) -> Iterator[Next]:
        record = self._ledger.pods.get(pod_class.sort_keys[position].uid)
        if record is not None:
            yield Next(key, None, record)

    def _classes_of(self, group: PodGroupState) -> list[PodClass]:
        return [one for one in self._account.pending.classes_of(group) if one.sort_keys]

    def place_of_pod(self, record: PodRecord) -> Steps[PlaceInOrder | None]:
        """The place of a pod that waits here; that of its gang, if it starts with that. None: it
        does not wait here.
        """
        # Queues have classes with the same keys.
        here = record.queue == self._account.name
        pod_class = self._account.pending.class_of(record) if here else None
        if pod_class is None:
            return None
        gang = pod_class.gang
        if gang is not None and not gang.started:
            group = self._ledger.groups.get(gang.key)
            return (yield from self.place_of_group(group)) if group is not None else None
        key = self.precedence(pod_class).key_of(record.sort_key)
        return (yield from self._place(key, _cards_of(record)))

    def place_of_group(self, group: PodGroupState) -> Steps[PlaceInOrder | None]:
        """The place of a gang that starts whole, or that waits to be enqueued. None: it is neither,
        or does not wait here.
        """
        key = self._groups.get(group.key)
        if key is None:
            return None
        cards = set[str]().union(*self._choices_of(group))
        return (yield from self._place(key, cards))

    def _place(self, key: ReleaseKey, cards: AbstractSet[str]) -> Steps[PlaceInOrder]:
        before = same = 0
        long = False
        for number, (precedence, pod_class) in enumerate(self._classes):
            pods = bisect_left(pod_class.sort_keys, key, key=precedence.key_of)
            if pods:
                before += pods
                record = self._ledger.pods.get(pod_class.sort_keys[0].uid)
                if record is not None and not _cards_of(record).isdisjoint(cards):
                    same += pods
                    long = long or self.is_long(precedence.key_of(pod_class.sort_keys[0]))
            if number % AT_A_TIME == AT_A_TIME - 1:
                yield
        looked = 0
        for name, other in self._groups.items():
            looked += 1
            if other < key:
                before += 1
                group = self._ledger.groups.get(name)
                for asked in self._choices_of(group) if group is not None else ():
                    looked += 1
                    if not cards.isdisjoint(asked):
                        same += 1
                        long = long or self.is_long(other)
                        break
            if looked >= AT_A_TIME:
                looked = 0
                yield
        return PlaceInOrder(before + 1, len(self), same, long)

    def _choices_of(self, group: PodGroupState) -> Iterator[Sequence[str]]:
        """The cards that each kind of its members asks for."""
        for asked in group.request.cards:
            yield asked.cards
        for pod_class in islice(self._account.pending.classes_of(group), MOST_KINDS):
            record = (
                self._ledger.pods.get(pod_class.sort_keys[0].uid) if pod_class.sort_keys else None
            )
            if record is not None and record.request is not None:
                yield record.request.cards


def waiting_order(
    ledger: LedgerReader, account: AccountReader, starvation: Starvation | None = None
) -> Steps[WaitingOrder]:
    """All that wait in a queue. Costs by its groups and its different pods, not by equal ones.
    `starvation`: from when on room is set aside, and what time it is; None: it never is.
    """
    found = WaitingOrder(ledger, account, starvation)
    yield from found.collect()
    return found


def _cards_of(record: PodRecord) -> frozenset[str]:
    return frozenset(record.request.cards) if record.request is not None else frozenset()
