"""The cards of this node as they are offered: in one unit, each as healthy as it is (K2, K3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from cardquota.quota.cards import SharedUnit

from .inventory import Mig, NodeCard
from .memory_units import UnitSetting, size_in, unit_of

_LEAST: Final = 1_024
"""MiB: the least card that can be offered in any unit."""


class NodeCards:
    """Changed by the agent alone; read by all resources."""

    def __init__(self, wanted: UnitSetting) -> None:
        self._wanted = wanted
        self.cards: tuple[NodeCard, ...] = ()
        """By index."""
        self.unit = SharedUnit.MIB
        """Of the memory that is offered."""
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Have it called whenever other cards are offered, or their health has changed."""
        self._listeners.append(listener)

    def see(self, cards: Sequence[NodeCard]) -> bool:
        """The cards as they are now. Returns whether anything that is offered has changed. Raises
        InventoryError if they cannot be offered in the unit that is asked for.
        """
        # A card that fell off the bus says neither its name nor its size: it is the one that stood
        # in its place, and has a problem.
        known = {card.index: card for card in self.cards}
        listed = {card.index: _offerable(card, known.get(card.index)) for card in cards}
        # Nor does a card go away: what is not listed is not, for a while. Pods have it.
        uuids = {card.uuid for card in listed.values()}
        for index, card in known.items():
            if index not in listed and card.uuid not in uuids:
                listed[index] = _sick(card, "it is not listed any more")
        found = tuple(listed[index] for index in sorted(listed))
        # Amounts of pods are in the unit, so it stays as long as the agent.
        unit = unit_of(found, UnitSetting(self.unit) if self.cards else self._wanted)
        changed = unit is not self.unit or _offered(found) != _offered(self.cards)
        self.cards, self.unit = found, unit
        if changed:
            self.tell()
        return changed

    def tell(self) -> None:
        """What is offered has changed, or the health of it."""
        for listener in self._listeners:
            listener()

    def size(self, card: NodeCard) -> int:
        """Its memory in the unit."""
        return size_in(self.unit, card)

    def of(self, index: int) -> NodeCard | None:
        """The card with this index."""
        return next((card for card in self.cards if card.index == index), None)


def _offerable(card: NodeCard, known: NodeCard | None) -> NodeCard:
    if not card.uuid:
        # One that nobody knew keeps its place, so that the others keep theirs.
        lost = replace(card, uuid=f"lost-{card.index}", memory=_LEAST)
        return _sick(lost if known is None else known, card.problem)
    if card.mig is Mig.ENABLED:
        return _sick(card, card.problem or "it is divided into slices (MIG)")
    return card


def _sick(card: NodeCard, problem: str) -> NodeCard:
    return replace(card, problem=problem, processes=(), used=0, utilization=None)


def _offered(cards: Sequence[NodeCard]) -> tuple[tuple[int, str, int, bool], ...]:
    return tuple((card.index, card.uuid, card.memory, card.healthy) for card in cards)
