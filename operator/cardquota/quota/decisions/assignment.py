"""Which card each member of a gang gets, where members may use several (T3, E7).

In: the room of each card, and members by kind: those that ask for the same. Out: how many of each
kind get which card. Knows neither pods nor queues, and changes nothing.

Guarantees
- What is given out is within the room of every card.
- A *no* is exact if all members with a choice ask for the same amount: then members that were
  given a card move to another one of theirs as long as that helps. Those without a choice may ask
  for any amount.
- Else the kinds with the fewest cards come first, of these the largest amounts, and nobody moves:
  members may be left without a card although there is a way to serve them all (*decided*: that is
  a packing problem). `never_fits` then goes by sums, and does not say so of them.

Costs by the number of kinds and their cards (P8), not by the number of members.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..amounts import NO_AMOUNTS, Amounts, MutableAmounts


class MemberKind(NamedTuple):
    """Members that ask for the same: each for `amount` of one of the cards."""

    cards: tuple[str, ...]
    """Best first."""
    amount: int
    """Above 0."""
    number: int
    """How many members there are."""


Given = Counter[str]
"""Of one kind: how many of its members get each card."""
IsFree = Callable[[int, str, Counter[int]], bool]
"""Whether nodes have a card free for all members of a kind, by its place. The third: what other
members of the gang take of that card, as the number of those that ask for each amount."""


def decided(
    room: Amounts,
    kinds: Sequence[MemberKind],
    is_free: IsFree,
    *,
    never_split_in: Amounts = NO_AMOUNTS,
) -> list[Given] | None:
    """The cards of each kind; None if no way was found to serve all.

    One card for all of a kind, if there is room on one card each. If not, all are assigned anew:
    but not where that much room alone would do for one card each (`never_split_in`, V7).
    """
    found = on_one_card_each(room, kinds, is_free)
    if found is not None or on_one_card_each(never_split_in, kinds):
        return found
    return assigned(room, kinds)


def on_one_card_each(
    room: Amounts, kinds: Sequence[MemberKind], is_free: IsFree = lambda *_: True
) -> list[Given] | None:
    """One card for all of a kind: the first that nodes have free for all of them, else the first
    with room. Those with the fewest cards come first, of these the largest. None: some kind finds
    no such card.
    """
    left, found = dict(room), [Given() for _ in kinds]
    going: dict[str, Counter[int]] = {}

    def order(place: int) -> tuple[int, int]:
        kind = kinds[place]
        return len(kind.cards), -kind.amount * kind.number

    for place in sorted(range(len(kinds)), key=order):
        kind = kinds[place]
        asked = kind.amount * kind.number
        able = [card for card in kind.cards if left.get(card, 0) >= asked]
        if not able:
            return None
        free = (card for card in able if is_free(place, card, going.get(card, Counter())))
        # Nodes are looked at for a choice alone.
        card = next(free, able[0]) if len(able) > 1 else able[0]
        left[card] -= asked
        going.setdefault(card, Counter())[kind.amount] += kind.number
        found[place][card] = kind.number
    return found


def assigned(room: Amounts, kinds: Sequence[MemberKind]) -> list[Given] | None:
    """The cards of each kind; None if no way was found to serve all."""
    found = most_assigned(room, kinds)
    served = (given.total() == kind.number for given, kind in zip(found, kinds, strict=True))
    return found if all(served) else None


def most_assigned(room: Amounts, kinds: Sequence[MemberKind]) -> list[Given]:
    """The cards of each kind, for as many members as were served."""
    left = dict(room)
    found = [Given() for _ in kinds]
    moves = _is_even(kinds)
    for place in sorted(range(len(kinds)), key=lambda n: (len(kinds[n].cards), -kinds[n].amount)):
        kind = kinds[place]
        found[place] = _first_left(left, kind)
        missing = kind.number - found[place].total()
        while missing and moves:
            card, number = _move_others(left, kind, missing, kinds, found)
            if not number:
                break
            found[place][card] += number
            missing -= number
    return found


def in_turn(room: Amounts, kinds: Sequence[MemberKind]) -> list[Given]:
    """The cards of each kind if every member takes the first of its cards that is left."""
    left = dict(room)
    return [_first_left(left, kind) for kind in kinds]


def never_fits(quota: Amounts, kinds: Sequence[MemberKind]) -> bool:
    """Whether it is proven that an empty queue has no room for all of them (E5)."""
    if _is_even(kinds):
        return assigned(quota, kinds) is None
    for kind in kinds:
        if all(quota.get(card, 0) < kind.amount for card in kind.cards):
            return True
    choices = {frozenset(kind.cards) for kind in kinds}
    # The cards of each kind, and of all of them together.
    for cards in (*choices, frozenset[str]().union(*choices)):
        asked = sum(kind.amount * kind.number for kind in kinds if cards.issuperset(kind.cards))
        if asked > sum(quota.get(card, 0) for card in cards):
            return True
    return False


def _is_even(kinds: Sequence[MemberKind]) -> bool:
    """Whether all members with a choice ask for the same amount: each may take another's place."""
    return len({kind.amount for kind in kinds if len(kind.cards) > 1}) < 2


def _first_left(left: MutableAmounts, kind: MemberKind) -> Given:
    """Take the first cards that are left, for as many members as there is room."""
    found, missing = Given(), kind.number
    for card in kind.cards:
        number = min(missing, max(0, left.get(card, 0)) // kind.amount)
        if number:
            left[card] -= number * kind.amount
            found[card] += number
            missing -= number
    return found


def _move_others(
    left: MutableAmounts,
    kind: MemberKind,
    most: int,
    kinds: Sequence[MemberKind],
    found: Sequence[Given],
) -> tuple[str, int]:
    """Make room on one of the kind's cards, by moving others to other cards of theirs. Returns the
    card, and for how many members there is room now, at most `most`; 0 if there is no way.
    """
    came: dict[str, tuple[str, int]] = {}
    """By card: the card from which members move there, and the place of their kind."""
    met, to_see = set(kind.cards), deque(kind.cards)
    while to_see:
        card = to_see.popleft()
        if left.get(card, 0) >= kind.amount:
            break
        for place, given in enumerate(found):
            for other in kinds[place].cards if given[card] else ():
                if other not in met:
                    met.add(other)
                    came[other] = card, place
                    to_see.append(other)
    else:
        return "", 0
    end, path = card, list[tuple[str, str, int]]()
    while card in came:
        start, place = came[card]
        path.append((start, card, place))
        card = start
    number = min(most, left[end] // kind.amount, *(found[n][start] for start, _, n in path))
    for start, target, place in path:
        found[place][start] -= number
        found[place][target] += number
    left[end] -= number * kind.amount
    return card, number
