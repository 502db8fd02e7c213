"""Where a pod could go: the room of each node for one card, as a plan counts it (L4).

A node has one slot for the cards of a name. Of shared memory each card of a node is a slot: a pod's
memory is on one card.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from ..cards.card import is_memory
from ..decisions.queue_room import MOST_COMPARED
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import PodFacts, State
from ..pods.pod_record import PodRecord
from ..selectors.selector import Taints, Tolerance, Tolerations
from ..steps import Steps

_NODES: Final = 1_000
"""Nodes that one step looks at: about a millisecond."""
LATE: Final = 60.0
"""Seconds. Who is still there so long after its grace period may never go, and its cards are no
room that comes."""
AWAITED: Final = 900.0
"""Seconds from now. Who goes later is no room that comes either: grace is what its owner chose."""

_NEVER: Final = -(2**62)
"""The room of a broken card, whatever ends."""


class CardSlot:
    """Amounts are cards, or memory in the node's unit."""

    __slots__ = ("free", "node", "room", "size", "taints")

    def __init__(self, node: str, size: int, free: int, taints: Taints) -> None:
        self.node = node
        self.size = size
        """How many there are, free or not."""
        self.taints = taints
        self.free = free
        """What a pod could have at once."""
        self.room = free
        """The same, with what comes free."""

    def take(self, amount: int) -> None:
        """So much is promised, of what is free at once first."""
        self.room -= amount
        self.free -= min(amount, max(0, self.free))


class Kind(NamedTuple):
    """Pods that ask for the same and may go to the same nodes."""

    card: str
    amount: int
    number: int
    slots: Sequence[CardSlot]
    choice: int
    """How many slots they may use; more than there are here, where those without room are left out.
    """


class CardSlots:
    """Of some cards, on all nodes that take pods."""

    def __init__(self, ledger: LedgerReader, cards: Collection[str], now: float | None) -> None:
        """`now`: seconds since 1970, by which pods go late, or too late; None: none does."""
        self._ledger = ledger
        self._cards = cards
        self._now = now
        self._by_card: dict[str, dict[str, list[CardSlot]]] = {card: {} for card in cards}
        """By card and node: of memory a place for each card of the node."""
        self._by_node: dict[str, list[tuple[str, bool, list[CardSlot]]]] = {}
        """By node: resource names, whether that is of memory, and the slots."""
        self._for_pods: dict[tuple[str, int, bytes, Tolerations], list[CardSlot]] = {}

    def read(self) -> Steps[None]:
        """To be called once, before all else. What is being deleted counts as room that comes."""
        free = self._ledger.nodes.free
        for number, (node, offers) in enumerate(list(free.offers.items()), 1):
            if number % _NODES == 0:
                yield
            for card, offered in offers:
                by_node = self._by_card.get(card.name)
                if by_node is not None:
                    slots = self._read_node(node, card.name, card.resource, offered)
                    if slots:
                        by_node[node] = slots
                        row = card.resource, is_memory(card.name), slots
                        self._by_node.setdefault(node, []).append(row)
        for number, uid in enumerate(list(self._ledger.being_deleted), 1):
            if number % _NODES == 0:
                yield
            record = self._ledger.pods.get(uid)
            if record is not None and self.leaves(record):
                for slot, amount in self.gains(record):
                    slot.room += amount

    def _read_node(self, node: str, card: str, resource: str, offered: int) -> list[CardSlot]:
        ledger = self._ledger
        facts = ledger.nodes.get(node)
        taints = facts.taints if facts is not None else ()
        if not is_memory(card):
            if node not in ledger.card_memory.open_to_cards:
                return []
            used = ledger.nodes.free.used.get(node, {}).get(resource, 0)
            return [CardSlot(node, offered, offered - used, taints)]
        shared = ledger.card_memory.nodes.get(node)
        if shared is None or shared.shape is None or not shared.takes_memory:
            return []
        left = shared.shape.allocatable - shared.held
        return [
            CardSlot(
                node,
                size,
                _NEVER if i in shared.broken else min(left, size - used - shared.unknown),
                taints,
            )
            for i, (size, used) in enumerate(zip(shared.shape.sizes, shared.used, strict=True))
        ]

    @property
    def nodes(self) -> Collection[str]:
        """Those with slots."""
        return self._by_node

    def leaves(self, record: PodRecord) -> bool:
        """Whether a pod is being deleted, and may be expected to go soon."""
        facts, now = record.facts, self._now
        if now is None or facts.gone_by is None:
            return facts.terminating
        return facts.terminating and now - LATE <= facts.gone_by <= now + AWAITED

    def gains(self, record: PodRecord) -> list[tuple[CardSlot, int]]:
        """What each slot has more once a bound pod is gone. Of memory whose card is not known, all
        cards of its node.
        """
        facts, found = record.facts, list[tuple[CardSlot, int]]()
        if facts.state is not State.BOUND:
            return found
        for resource, by_memory, slots in self._by_node.get(facts.node, ()):
            for name, amount in facts.devices:
                if name != resource:
                    continue
                if not by_memory:
                    found.append((slots[0], amount))
                    continue
                shared = self._ledger.card_memory.nodes.get(facts.node)
                place = shared.card_of(facts.uid) if shared is not None and facts.placement else -1
                here = slots if place < 0 else slots[place : place + 1]
                found += [(slot, amount) for slot in here]
        return found

    def for_pod(self, facts: PodFacts, card: str, amount: int) -> list[CardSlot]:
        """The slots that a pod may use for so much of a card: by their size, by its selector, and
        by taints. None of them if looking at these takes too long (E7).
        """
        key = card, amount, facts.selector, facts.tolerations
        if key not in self._for_pods:
            found = self._picked(facts, card)
            self._for_pods[key] = [slot for slot in found if slot.size >= amount]
        return self._for_pods[key]

    def _picked(self, facts: PodFacts, card: str) -> list[CardSlot]:
        nodes, tolerance = self._ledger.nodes, Tolerance(facts.tolerations)
        if nodes.free.comparisons(tolerance) > MOST_COMPARED:
            return []
        by_node = self._by_card.get(card, {})
        choice = nodes.choice(facts.selector) if facts.selector else None
        picked: Iterable[str] = by_node if choice is None else choice.get(card, ())
        slots = [slot for node in picked for slot in by_node.get(node, ())]
        kinds = {slot.taints for slot in slots}
        tolerated = {taints for taints in kinds if tolerance.covers(taints)}
        return slots if kinds == tolerated else [s for s in slots if s.taints in tolerated]


def pack(kinds: Sequence[Kind], rooms: dict[CardSlot, int], *, now: bool = False) -> list[int]:
    """Give all pods a slot, as far as there is room, and return how many of each kind have none.

    `rooms`: what slots have, if another number than their own; brought up to date. `now`: their own
    is what is free at once. Exact for one kind, or for kinds that share no slot. Of others those
    with the fewest slots come first, then the largest; each fills nodes tightly.
    """
    left = [kind.number for kind in kinds]
    order = sorted(range(len(kinds)), key=lambda i: (kinds[i].choice, -kinds[i].amount))
    for index in order:
        amount, missing = kinds[index].amount, left[index]
        fitting: list[tuple[int, int]] = []
        slots = kinds[index].slots
        for place, slot in enumerate(slots):
            room = rooms.get(slot)
            if room is None:
                room = slot.free if now else slot.room
            if room >= amount:
                fitting.append((room, place))
        fitting.sort()
        for room, place in fitting:
            if not missing:
                break
            here = min(missing, room // amount)
            rooms[slots[place]] = room - here * amount
            missing -= here
        left[index] = missing
    return left
