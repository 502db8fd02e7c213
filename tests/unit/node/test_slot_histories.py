"""Slots through any history: containers that start, start again and go, sick cards, loads, and an
agent that starts again (K6).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cardquota_node.slot_rule import (
    CardBind,
    SlotError,
    SlotHolder,
    Slots,
    by_preference,
    complete,
    placed,
    released,
)

from .test_slot_cases import slot_card

NUMBERS = st.integers(0, 1_000)


class SlotHistory(RuleBasedStateMachine):
    @initialize(memory=st.lists(st.sampled_from((16, 24, 6)), min_size=1, max_size=4))
    def begin(self, memory: list[int]) -> None:
        self.cards = [slot_card(n, m) for n, m in enumerate(memory)]
        self.size = {card.uuid: card.memory for card in self.cards}
        self.slots: Slots = complete(self.cards, {})
        self.held: dict[str, SlotHolder] = {}
        """By slot: who has it by the kubelet's word."""
        self.started: dict[SlotHolder, list[str]] = {}
        self.pods = self.containers = 0

    def _sick(self) -> set[str]:
        return {card.uuid for card in self.cards if card.problem}

    def _change(self, change: Callable[[], Slots], starts: Sequence[str] = ()) -> None:
        """Who has a slot keeps its card, and the order in which slots are told makes no matter."""
        before = self.slots
        after = change()
        self.slots = dict(reversed(list(before.items())))
        assert change() == after
        self.slots = after
        for name, slot in before.items():
            if slot.holder is not None and after[name].holder == slot.holder:
                assert after[name] == slot
        for name in set(self.held).difference(starts):
            assert after[name].card == before[name].card
        for name in after:
            assert self.size[after[name].card] == self.size[before[name].card]
        assert sum(after[one].card != before[one].card for one in after) in (0, 2)

    @rule(pick=NUMBERS, number=st.integers(1, 2), old=st.booleans(), by=st.sampled_from(CardBind))
    def start(self, pick: int, number: int, old: bool, by: CardBind) -> None:
        """The kubelet picks any free slots, sick ones too: their cards may have been well then."""
        free = sorted(set(self.slots) - set(self.held))
        names = [free[(pick + n) % len(free)] for n in range(min(number, len(free)))]
        if not names:
            return
        self.pods += not old
        self.containers += 1
        pod = f"p{self.pods}"
        holder = SlotHolder("ns", pod, f"c{self.containers}", pod)
        self.held |= dict.fromkeys(names, holder)
        self.started[holder] = names
        self._try(names, holder, by)

    def _try(self, names: list[str], holder: SlotHolder, by: CardBind) -> None:
        sick, before = self._sick(), self.slots
        well = {c.uuid for c in self.cards if c.uuid not in sick}
        others = set(self.held).difference(names)
        spare = {s.card for n, s in before.items() if s.holder is None and n not in others} & well
        try:
            self._change(lambda: placed(self.cards, self.slots, names, others, holder, by), names)
        except SlotError:
            self.slots = before
            size = self.size[before[names[0]].card]
            where = {before[name].card for name in names}
            first = before[names[0]].holder is None and len(names) == 1
            assert where & sick
            assert not (first and any(self.size[card] == size for card in spare))
            return
        assert {self.slots[name].card for name in names} <= well
        assert all(self.slots[name].holder == holder for name in names)

    @rule(pick=NUMBERS, by=st.sampled_from(CardBind))
    def start_again(self, pick: int, by: CardBind) -> None:
        if self.started:
            holder = sorted(self.started)[pick % len(self.started)]
            self._try(self.started[holder], holder, by)

    @rule(pick=NUMBERS)
    def go(self, pick: int) -> None:
        if self.started:
            holder = sorted(self.started)[pick % len(self.started)]
            names = self.started.pop(holder)
            for name in names:
                del self.held[name]
            self._change(lambda: released(self.slots, names))
            assert all(slot.holder != holder for slot in self.slots.values())

    @rule(pick=NUMBERS, load=st.sampled_from((0.0, 10.0, 50.0, 90.0)), sick=st.booleans())
    def look(self, pick: int, load: float, sick: bool) -> None:
        place = pick % len(self.cards)
        card, problem = self.cards[place], "XID 79" if sick else ""
        self.cards[place] = replace(card, load=load, problem=problem)

    @rule()
    def agent_starts_again(self) -> None:
        self._change(lambda: complete(self.cards, self.slots))
        assert complete(self.cards, self.slots) == self.slots

    @rule()
    def kubelet_asks_which_are_better(self) -> None:
        free = sorted(set(self.slots) - set(self.held))
        found = by_preference(self.cards, self.slots, free)
        assert sorted(found) == free
        ranks = [(self.slots[name].card in self._sick(), self._load(name)) for name in found]
        assert ranks == sorted(ranks)

    def _load(self, name: str) -> float:
        return next(card.load for card in self.cards if card.uuid == self.slots[name].card)

    @invariant()
    def each_card_keeps_its_number_of_slots(self) -> None:
        if hasattr(self, "slots"):
            found = Counter(slot.card for slot in self.slots.values())
            assert found == {card.uuid: card.slots for card in self.cards}
            assert len(self.slots) == sum(card.slots for card in self.cards)


TestSlotHistory = SlotHistory.TestCase
TestSlotHistory.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
