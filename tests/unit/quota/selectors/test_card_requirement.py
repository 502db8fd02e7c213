"""P5: which cards a requirement leaves, by all values that their nodes can show."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.cards import Card, MemoryLabel, MemoryUnit, mib_of
from cardquota.quota.objects import Expression, Term
from cardquota.quota.selectors import CardRequirement, Selector, bound_of, whole_number

from ..asked_node import selects

PRODUCT, SIZE = "gpu.product", "gpu.memory"


def leaves(card: Card, key: str, operator: str, values: Sequence[str]) -> bool:
    """Whether some node with this card meets it, by all that such a node can show."""
    shown = dict(card.labels).get(key)
    memory = card.memory if card.memory is not None and card.memory.key == key else None
    if memory is not None:
        return _memory_can(memory, operator, values)
    if shown is None:
        barred = dict(card.barred).get(key)
        if barred and operator in ("Gt", "Lt"):
            return bound_of(values) is not None
        return operator != "In" or barred is None or any(value != barred for value in values)
    expression = Expression(key=key, operator=operator, values=tuple(values))
    return selects(Selector(terms=(Term(match_expressions=(expression,)),)), "n", {key: shown})


def _memory_can(memory: MemoryLabel, operator: str, values: Sequence[str]) -> bool:
    bound = bound_of(values)
    sizes = range(memory.least, memory.most + 1)
    mibs = {mib_of(value, memory.unit) for value in values}
    if memory.unit is MemoryUnit.MIB:
        numbers: list[int | None] = list(sizes)
    else:
        numbers = [whole_number(value) for value in memory.values]
    match operator:
        case "In":
            if memory.values:
                return any(value in memory.values for value in values)
            return any(mib in sizes for mib in mibs if mib is not None)
        case "NotIn":
            if memory.values:
                return any(value not in values for value in memory.values)
            return any(mib not in mibs for mib in sizes)
        case "DoesNotExist":
            return False
        case "Gt" | "Lt":
            if bound is None:
                return False
            if memory.unit is MemoryUnit.WRITTEN and not memory.values:
                return True
            known = [number for number in numbers if number is not None]
            return any(n > bound if operator == "Gt" else n < bound for n in known)
        case _:
            return True


def a_card(labels: dict[str, tuple[str, bool]], memory: MemoryLabel | None) -> Card:
    """`labels`: the value of each, and whether it is barred."""
    if memory is not None and labels.get(memory.key, ("", False))[1]:
        del labels[memory.key]
    shown = tuple(sorted((key, value) for key, (value, barred) in labels.items() if not barred))
    must_not = tuple(sorted((key, value) for key, (value, barred) in labels.items() if barred))
    return Card("card", "gpu", shown, memory, must_not)


_TEXTS = st.sampled_from(("A", "B", "1", "7", "007", "511", "512", "1535", "64G", "65536", "1_0"))
_MEMORY = st.one_of(
    st.integers(0, 2).map(lambda gib: MemoryLabel(SIZE, gib, MemoryUnit.MIB)),
    st.lists(st.sampled_from(("64G", "65536", "65536Mi")), unique=True).map(
        lambda values: MemoryLabel(SIZE, 64, MemoryUnit.WRITTEN, tuple(sorted(values)))
    ),
)
_CARDS = st.lists(
    st.builds(
        a_card,
        st.dictionaries(st.sampled_from((PRODUCT, SIZE)), st.tuples(_TEXTS, st.booleans())),
        st.none() | _MEMORY,
    ),
    max_size=6,
)
_ALL_OF_0_GIB = [str(mib) for mib in range(1, 512)]
_ASKED = st.lists(_TEXTS, max_size=3) | st.sampled_from((_ALL_OF_0_GIB, _ALL_OF_0_GIB[1:]))
_OPERATORS = st.sampled_from(("In", "NotIn", "Gt", "Lt", "Exists", "DoesNotExist", "Later"))


@given(_CARDS, st.sampled_from((PRODUCT, SIZE, "zone")), _OPERATORS, _ASKED)
def test_p5_the_cards_that_are_left_are_those_whose_nodes_can_meet_it(
    cards: list[Card], key: str, operator: str, values: list[str]
) -> None:
    wanted = [card for card in cards if leaves(card, key, operator, values)]
    assert CardRequirement(key, operator, values).allowed(cards) == wanted
