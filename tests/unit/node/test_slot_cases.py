"""Which card a container gets that asks for a slot: each case is a story on a few cards.

`G0/0` is slot 0 of card G0. Steps: `G0=50` the load of a card, `G0/0 p balance: G1 for G1/0` a
container of pod p asks with this slot, gets card G1, and the two slots change places (without `for`
none does); `free`, `healthy`, `prefers`: what is so now; `hold`: somebody has it; `admits`: the
same, and has not started; the rest as said.
"""

from dataclasses import replace

import pytest

from cardquota_node.slot_rule import (
    CardBind,
    Slot,
    SlotCard,
    SlotError,
    SlotHolder,
    Slots,
    by_preference,
    complete,
    placed,
    released,
    slots_of,
)

UNIT = 8
FOURTH = "G0=50 G1=10; G0/0 p1 balance: G1 for G1/0"
SEVENTH = "G0=10 G1=50; G1/1 p1 same-pod: G0 for G0/0"


def slot_card(index: int, memory: int) -> SlotCard:
    number = slots_of(memory, UNIT)
    return SlotCard(uuid=f"G{index}", index=index, slots=number, memory=memory // number, load=0.0)


class SlotCase:
    def __init__(self, *memory: int) -> None:
        self.cards = {f"G{n}": slot_card(n, m) for n, m in enumerate(memory)}
        self.slots: Slots = complete(self.all, {})
        self.admitted: set[str] = set()
        self.started = 0

    @property
    def all(self) -> list[SlotCard]:
        return list(self.cards.values())

    def tell(self, story: str) -> None:
        for step in story.split("; "):
            word, _, rest = step.partition(" ")
            if "=" in word:
                for card, load in _pairs(step):
                    self.cards[card] = replace(self.cards[card], load=float(load))
            elif "/" in word:
                self.ask(*step.split(": ", 1))
            else:
                getattr(self, word)(*rest.split())

    def sick(self, card: str) -> None:
        self.cards[card] = replace(self.cards[card], problem="XID 79")

    def ask(self, asked: str, expected: str) -> None:
        (names, pod, bind), before = asked.split(), self.slots
        self.started += 1
        holder, wanted = SlotHolder("ns", pod, f"c{self.started}", pod), _ids(names)
        try:
            others = self.admitted.difference(wanted)
            self.slots = placed(self.all, before, wanted, others, holder, CardBind(bind))
        except SlotError as error:
            found = f"refused, {error}"
            assert found == expected
            return
        cards, _, other = expected.partition(" for ")
        assert [self.slots[one].card for one in wanted] == cards.split(",")
        moved = {one for one in before if before[one].card != self.slots[one].card}
        assert moved == ({*wanted, *_ids(other)} if other else set())

    def hold(self, *names: str) -> None:
        for name in map(_id, names):
            self.slots = {**self.slots, name: Slot(self.slots[name].card, HOLDER)}

    def admits(self, *names: str) -> None:
        self.admitted |= set(map(_id, names))

    def gone(self, pod: str) -> None:
        held = ((name, slot.holder) for name, slot in self.slots.items())
        gone = {name for name, holder in held if holder is not None and holder.pod == pod}
        self.slots = released(self.slots, gone)

    def free(self, *pairs: str) -> None:
        for card, number in _pairs(" ".join(pairs)):
            free = [s for s in self.slots.values() if s.card == card and s.holder is None]
            assert len(free) == int(number), card

    def healthy(self, *names: str) -> None:
        found = {n for n, slot in self.slots.items() if not self.cards[slot.card].problem}
        assert found == set(map(_id, names))

    def prefers(self, *names: str) -> None:
        available = [name for name, slot in self.slots.items() if slot.holder is None]
        found = by_preference(self.all, self.slots, available)
        assert list(found)[: len(names)] == list(map(_id, names))


HOLDER = SlotHolder("ns", "other", "main", "other")


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(card, number) for card, _, number in (one.partition("=") for one in text.split())]


def _id(name: str) -> str:
    return name.replace("/", "_")


def _ids(names: str) -> list[str]:
    return [_id(name) for name in names.split(",")]


@pytest.mark.parametrize(
    ("memory", "story"),
    [
        # At least two slots for each card, by its memory.
        pytest.param((16, 16), "free G0=2 G1=2", id="1"),
        pytest.param((24, 6), "free G0=3 G1=2", id="2"),
        # The least loaded card with a free slot.
        pytest.param((16, 16), "G0=10 G1=50; G0/0 p1 balance: G0", id="3"),
        pytest.param((16, 16), f"{FOURTH}; free G0=2 G1=1", id="4"),
        pytest.param((16, 16), "G0=30 G1=30; G1/0 p1 balance: G1", id="5"),
        pytest.param(
            (16, 16, 16),
            "G0=80 G1=10 G2=20; hold G1/0 G1/1; G0/0 p1 balance: G2 for G2/0",
            id="6",
        ),
        # The cards of a pod.
        pytest.param((16, 16), SEVENTH, id="7"),
        pytest.param((16, 16), f"{SEVENTH}; G0=90; G1/0 p1 same-pod: G0 for G0/1", id="8"),
        pytest.param((16, 16), "G0/0 p1 same-pod: G0; G0=90; G0/1 p1 same-pod: G0", id="9"),
        pytest.param(
            (16, 16, 16),
            "G0/0 p1 same-pod: G0; G0/1 p1 same-pod: G0; G0=95 G1=50 G2=90; "
            "G1/0 p1 same-pod: G1; G1=95; G2/0 p1 same-pod: G1 for G1/1",
            id="10",
        ),
        pytest.param(
            (16, 16),
            "G0/0 p1 balance: G0; G0=60 G1=20; G0/1 p1 same-pod: G1 for G1/0",
            id="11",
        ),
        pytest.param(
            (16, 16), "G0/0 p1 same-pod: G0; G0=90; G1/0 p2 same-pod: G1", id="another-pod"
        ),
        # A slot that has moved is of the card where it is.
        pytest.param((16, 16), f"{FOURTH}; G1=70; G1/1 p2 balance: G0 for G0/1", id="12"),
        pytest.param((16, 16), "G0=90 G1=0; hold G1/0 G1/1; G0/0 p1 balance: G0", id="13"),
        # A container stays on its slot's card if no other is less loaded: the kubelet is told
        # which slots are better before it picks one.
        pytest.param((16, 16), "G0/0 p1 balance: G0; G0/1 p2 balance: G0", id="14-as-picked"),
        pytest.param(
            (16, 16),
            "prefers G0/0; G0/0 p1 balance: G0; prefers G1/0; G1/0 p2 balance: G1",
            id="14-as-preferred",
        ),
        pytest.param((16, 16), f"{FOURTH}; sick G0; healthy G0/0 G1/1", id="15"),
        pytest.param(
            (16, 16),
            f"{FOURTH}; gone p1; free G0=2 G1=2; G1=5; G0/0 p2 balance: G1",
            id="16",
        ),
        pytest.param(
            (16, 16),
            "G0=50 G1=10; hold G1/1; G0/0 p1 balance: G1 for G1/0; G0/1 p2 balance: G0",
            id="17",
        ),
        # Slots of unequal size never change places.
        pytest.param(
            (24, 6),
            "G0=50 G1=10; G0/0 p1 balance: G0; sick G0; G0/1 p2 balance: refused, card <0> is "
            "sick: XID 79, and no other card has a free slot of <8> MiB",
            id="18",
        ),
        # Several slots of one container stay where they are.
        pytest.param(
            (16, 16, 16),
            f"G2=20; {FOURTH}; gone p1; G0=0; G0/0,G0/1 p2 balance: G1,G0; sick G2; "
            "G2/0,G2/1 p3 balance: refused, card <2> is sick: XID 79",
            id="19",
        ),
        pytest.param(
            (24, 24, 24),
            "G0/0 p1 same-pod: G0; G0=90; hold G0/1 G0/2 G2/0 G2/1 G2/2; "
            "G1/0 p1 same-pod: G1; gone other; G0=90 G1=80; G2/0 p1 same-pod: G1 for G1/1; "
            "hold G1/2; G2/1 p1 same-pod: G0 for G0/1",
            id="20-lower-load",
        ),
        pytest.param(
            (24, 24, 24),
            "G0/0 p1 same-pod: G0; hold G0/1 G0/2 G2/0 G2/1 G2/2; "
            "G1/0 p1 same-pod: G1; gone other; G2/0 p1 same-pod: G0 for G0/1; "
            "G2/1 p1 same-pod: G1 for G1/1",
            id="20-fewer-taken-then-the-index",
        ),
        # Beyond the cases: only a healthy card, and the one that fewer have among equal ones.
        pytest.param((16, 16), "G1=90; sick G0; G0/0 p1 balance: G1 for G1/0", id="sick-original"),
        pytest.param(
            (16, 16, 16),
            "G0/0 p1 same-pod: G0; sick G0; G1=9; G2=5; G1/0 p1 same-pod: G2 for G2/0",
            id="sick-card-of-the-pod",
        ),
        pytest.param(
            (16, 16, 16),
            "G0=9; hold G1/0; G0/0 p1 balance: G2 for G2/0",
            id="fewer-taken",
        ),
        # What the kubelet has given to others stays, though they have not started.
        pytest.param(
            (16, 16, 16),
            "G0=50 G1=10 G2=20; admits G0/0 G1/0 G1/1 G2/0; G0/0 p1 balance: G2 for G2/1; "
            "G1/0,G1/1 p2 balance: G1,G1",
            id="admitted",
        ),
        pytest.param((16, 16), "G0=9; sick G1; prefers G0/0 G0/1 G1/0 G1/1", id="prefers-healthy"),
        pytest.param(
            (16,), "G7/0 p1 balance: refused, <G7_0> is no slot of this node's cards", id="no-slot"
        ),
    ],
)
def test_slots(memory: tuple[int, ...], story: str) -> None:
    SlotCase(*memory).tell(story)


def test_who_starts_again_keeps_the_card_while_it_is_healthy() -> None:
    story, holder = SlotCase(16, 16), SlotHolder("ns", "p", "main", "uid")
    story.tell("G0=50 G1=10")
    story.slots = placed(story.all, story.slots, ["G0_0"], (), holder, CardBind.BALANCE)
    story.tell("G0=0 G1=99")
    again = placed(story.all, story.slots, ["G0_0"], (), holder, CardBind.SAME_POD)
    assert again == story.slots
    story.tell("sick G1")
    with pytest.raises(SlotError, match=r"^card <1> is sick: XID 79$"):
        placed(story.all, story.slots, ["G0_0"], (), holder, CardBind.BALANCE)
    # A pod of the same name is another one, with no claim to the card of the former.
    other = placed(story.all, story.slots, ["G0_0"], (), holder._replace(uid="2"), CardBind.BALANCE)
    assert other["G0_0"].card == "G0"


def test_slots_that_are_known_stay_and_others_are_on_their_own_card_where_it_has_room() -> None:
    cards = SlotCase(16, 16, 6).all
    held = Slot("G1", HOLDER, for_pod=True)
    found = complete(cards, {"G0_0": held, "G9_0": Slot("G0"), "G0_1": Slot("G9")})
    where = {"G0_1": "G0", "G1_0": "G1", "G1_1": "G0", "G2_0": "G2", "G2_1": "G2"}
    assert found == {"G0_0": held, **{name: Slot(card) for name, card in where.items()}}
    too_many = {f"G{n}_{m}": Slot("G1") for n in (0, 1) for m in (0, 1)}
    assert [s.card for s in complete(cards, too_many).values()] == [
        "G1",
        "G1",
        "G0",
        "G0",
        "G2",
        "G2",
    ]
    unequal = complete(cards, {"G0_0": Slot("G2")})
    assert unequal["G0_0"].card == "G0"
