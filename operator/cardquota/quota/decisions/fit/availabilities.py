"""Which of its cards a pod could have at once, or later, besides other pods that go with it (E7).

This serves a choice between cards with quota and is never a limit.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final

from ...ledger.ledger_reader import LedgerReader
from ...nodes.free_cards import ByTaints, FreeOn, Rows, TaintGroup
from ...nodes.node_cache import Choice
from ...pods.pod_facts import PodFacts
from ...pods.pod_record import PodRecord
from ...selectors.taints import Tolerance, Tolerations
from .quota_check import Availability, Preference

MOST_SELECTORS: Final = 2
"""Different node selectors of pods that are let through together. Each costs a walk over the nodes
that it picks. A pod with a further selector gets the first of its cards with quota."""

MOST_STEPS: Final = 20_000
"""For pods that are let through together: steps of comparing their tolerations with the different
taints of the nodes with cards, and of reading what those nodes have free. Some milliseconds. Beyond
them a pod gets the first of its cards with quota that is not known to be taken.

Enough for a pod that tolerates one of 5,000 nodes' taints that are all different, and for a gang of
64 kinds with 256 tolerations each where nodes have one taint or none."""

_A_LOOK: Final = 16
"""Steps of looking at a card for the first time; one more for each different set of taints of its
nodes."""

_NOBODY: Final[Rows] = Counter()


class _Reach:
    """The nodes that pods may use, shared by all pods with the same choice and tolerated taints."""

    __slots__ = ("choice", "enough", "free", "largest", "selector", "tolerated")

    def __init__(
        self, selector: bytes, choice: Choice | None, tolerated: frozenset[TaintGroup]
    ) -> None:
        self.selector = selector
        """Empty if they pick all nodes."""
        self.choice = choice
        self.tolerated = tolerated
        self.free: dict[str, FreeOn | None] = {}
        """By card. None: not looked at."""
        self.largest: dict[str, int] = {}
        """By card: the most that a node has free beside the pods that go; dropped when more go."""
        self.enough: dict[str, dict[tuple[int, int], bool]] = {}
        """By card, and by amount and number of equal pods: whether it is free for all of these;
        dropped with it."""


class Availabilities:
    """For pods that are let through one after the other, in one go.

    The nodes of a card are looked at once for all pods that may use the same: meanwhile only the
    pods that go change anything there. Costs: see `MOST_SELECTORS` and `MOST_STEPS`, whatever the
    number of nodes, taints and tolerations.
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._nodes = ledger.nodes
        self._going: dict[str, Rows] = {}
        """By card, for the pods that go: how many ask for which amount."""
        self._choices: dict[bytes, Choice | None] = {}
        self._walks = 0
        self.steps_left = MOST_STEPS
        """Of `MOST_STEPS`, those that are left."""
        self._tolerated: dict[Tolerations, frozenset[TaintGroup] | None] = {}
        self._chosen: dict[tuple[bytes, str], ByTaints] = {}
        """By selector and card: the picked nodes."""
        self._reaches: dict[tuple[bytes, frozenset[TaintGroup]], _Reach] = {}
        self._last: tuple[PodFacts, _Reach | None] | None = None
        """The pod of the last question: its tolerations are compared once for all of its cards."""
        self._asked: dict[str, list[_Reach]] = {}
        """By card: the entries that have it in `largest`."""

    def of(self, record: PodRecord) -> Preference | None:
        """A function that says when a node can give the pod a card. None: it has no choice.

        If a pod picks its nodes and none of them has a card free, it gets a card that they have: of
        any other card it could only hold quota. If they have none of its cards, an autoscaler may
        bring a node.
        """
        request = record.request
        if request is None or len(request.cards) < 2:
            return None
        facts, amount = record.facts, request.amount

        def availability_of(card: str) -> Availability:
            reach = self._reach(facts)
            most = None if reach is None else self._most_free(reach, card)
            if reach is None or most is None or most >= amount:
                return Availability.NOW
            return (
                Availability.LATER if reach.choice and reach.choice.get(card) else Availability.NONE
            )

        return availability_of

    def go(self, card: str, amount: int, number: int) -> None:
        """`number` pods are let through, each for `amount` of a card."""
        self._going.setdefault(card, Counter())[amount] += number
        for reach in self._asked.pop(card, ()):
            del reach.largest[card]
            reach.enough.pop(card, None)

    def as_many(self, record: PodRecord, card: str, amount: int, most: int) -> int:
        """How many equal pods, at most `most`, find a card as available as the first one does, if
        they go one after the other.

        Pods that go only take room on nodes; they never free any.
        """
        reach = self._reach(record.facts)
        free = None if reach is None else self._free(reach, card)
        if reach is None or free is None or (self._most_free(reach, card) or 0) < amount:
            return most
        enough, too_many, number = 1, most + 1, most
        while enough + 1 < too_many:
            if self._after(free, card, Counter({amount: number - 1})) >= amount:
                enough = number
            else:
                too_many = number
            number = (enough + too_many) // 2
        return enough

    def all_at_once(self, record: PodRecord, card: str, amount: int, number: int) -> bool:
        """Whether nodes have a card free for all of these equal pods; True where nobody looks."""
        reach = self._reach(record.facts)
        free = None if reach is None else self._free(reach, card)
        if reach is None or free is None:
            return True
        if (self._most_free(reach, card) or 0) < amount:
            return False
        known = reach.enough.setdefault(card, {})
        found = known.get((amount, number))
        if found is None:
            left = self._after(free, card, Counter({amount: number - 1}))
            found = known[amount, number] = left >= amount
        return found

    def _most_free(self, reach: _Reach, card: str) -> int | None:
        """The most that a node has free beside the pods that go. None: not looked at."""
        found = reach.largest.get(card)
        if found is None:
            free = self._free(reach, card)
            if free is None:
                return None
            found = reach.largest[card] = self._after(free, card, _NOBODY)
            self._asked.setdefault(card, []).append(reach)
        return found

    def _after(self, free: FreeOn, card: str, others: Rows) -> int:
        return free.most_after(self._going.get(card, _NOBODY) + others)

    def _free(self, reach: _Reach, card: str) -> FreeOn | None:
        if card not in reach.free:
            reach.free[card] = self._look_at(reach, card)
        return reach.free[card]

    def _look_at(self, reach: _Reach, card: str) -> FreeOn | None:
        free = self._nodes.free
        if reach.choice is None:
            by_taints = free.by_taints(card)
        else:
            by_taints = self._picked(reach.selector, reach.choice.get(card, ()), card)
        if not self._afford(_A_LOOK + len(by_taints)):
            return None
        return free.on(card, [by_taints[kind] for kind in by_taints if kind in reach.tolerated])

    def _picked(self, selector: bytes, nodes: Collection[str], card: str) -> ByTaints:
        found = self._chosen.get((selector, card))
        if found is None:
            found = self._chosen[selector, card] = self._nodes.free.of_nodes(card, nodes)
        return found

    def _reach(self, facts: PodFacts) -> _Reach | None:
        """The nodes that a pod may use. None: not looked at."""
        if self._last is None or self._last[0] is not facts:
            self._last = facts, self._find_reach(facts)
        return self._last[1]

    def _find_reach(self, facts: PodFacts) -> _Reach | None:
        selector, tolerations = facts.selector, facts.tolerations
        if selector and selector not in self._choices and self._walks >= MOST_SELECTORS:
            return None
        if tolerations not in self._tolerated:
            free, tolerance = self._nodes.free, Tolerance(tolerations)
            affordable = self._afford(len(tolerations) + free.comparisons(tolerance))
            self._tolerated[tolerations] = free.tolerated(tolerance) if affordable else None
        tolerated = self._tolerated[tolerations]
        if tolerated is None:
            return None
        choice = self._choice(selector)
        key = b"" if choice is None else selector, tolerated
        reach = self._reaches.get(key)
        if reach is None:
            reach = self._reaches[key] = _Reach(key[0], choice, tolerated)
        return reach

    def _choice(self, selector: bytes) -> Choice | None:
        if not selector:
            return None
        if selector not in self._choices:
            found = self._choices[selector] = self._nodes.choice(selector)
            self._walks += found is not None
        return self._choices[selector]

    def _afford(self, steps: int) -> bool:
        """Take `steps` if that many are left. Returns whether they were."""
        if steps > self.steps_left:
            return False
        self.steps_left -= steps
        return True
