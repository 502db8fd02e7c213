"""W1 as it is written: round after round, with fractions. Slow, and it knows of no level."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class PlainSharer:
    weight: int
    cap: int
    """The smaller of its quota and what it asks for."""
    guarantee: int = 0


def rounds(total: int, sharers: Mapping[str, PlainSharer]) -> dict[str, Fraction]:
    """What each gets, exactly. A guarantee that is more than the rounds give is set aside before,
    and the rounds begin anew for the others.
    """
    aside: dict[str, Fraction] = {}
    while True:
        left = max(Fraction(0), Fraction(total) - sum(aside.values()))
        others = {name: one for name, one in sharers.items() if name not in aside}
        found = aside | _shared(left, others)
        short = {
            name: Fraction(min(one.guarantee, one.cap))
            for name, one in others.items()
            if found[name] < min(one.guarantee, one.cap)
        }
        if not short:
            return found
        aside |= short


def _shared(total: Fraction, sharers: Mapping[str, PlainSharer]) -> dict[str, Fraction]:
    got = dict.fromkeys(sharers, Fraction(0))
    asking = {name for name, one in sharers.items() if one.cap}
    remaining = total
    while remaining and asking:
        weights = sum(sharers[name].weight for name in asking)
        share = {name: remaining * sharers[name].weight / weights for name in asking}
        for name, part in share.items():
            part = min(part, sharers[name].cap - got[name])
            got[name] += part
            remaining -= part
        asking = {name for name in asking if got[name] < sharers[name].cap}
    return got


def whole(exact: Mapping[str, Fraction], total: int) -> dict[str, int]:
    """In whole cards: by largest remainder, ties by name."""
    found = {name: int(amount) for name, amount in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (found[name] - exact[name], name))
    for name in by_remainder:
        if exact[name] > found[name] and sum(found.values()) < total:
            found[name] += 1
    return found
