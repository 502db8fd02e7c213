"""How near a name that somebody wrote is to one that exists: what was probably meant.

Letters' case does not count. Near is, best first: the same but for case; one edit away; one name a
part of the other (`H200` of `NVIDIA-H200`); more edits, at most a third of what was written and
never more than three. An edit inserts, drops or replaces one character, or swaps two
neighbours.

Own code, since `difflib.get_close_matches` compares by shares of the length: it knows neither parts
nor a bound of edits, and does not find `NVIDIA-H200` for `H200`. Here a comparison costs some ten
microseconds and stops at the bound; at most some 250 for the longest names. Who compares many names
gives all of them one `Effort`.
"""

from typing import Final, NamedTuple

LONGEST: Final = 100
"""Characters of the longest name that is compared, a label's value and a share of a card with it.
A longer one is near to none."""
MOST_EDITS: Final = 3
_UNBOUNDED: Final = 2**62
_AT_ONCE: Final = 4
"""Characters of common starts and ends that cost as much as a step."""
_SHORTEST_PART: Final = 3
"""Characters: what is shorter is a part of too much."""
_BREAKS: Final = frozenset("-_./ ")
"""What stands between the parts of a name."""


class Nearness(NamedTuple):
    """How near two names are: the less, the nearer. Ends with the name, so it is never a tie."""

    kind: int
    edits: int
    difference: int
    """Of their lengths."""
    name: str


_SAME, _ONE_EDIT, _PART, _EDITS = range(4)


class Effort:
    """How many steps comparisons may still take together: a step is half a microsecond or less."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    @property
    def spent(self) -> bool:
        """Whether none is left."""
        return self.left <= 0


def nearness(written: str, name: str, effort: Effort | None = None) -> Nearness | None:
    """How near `name` is to what was written; None if it is not near, or too long.

    `effort`: None: as much as it takes. Once it is spent, only the same name but for case is near.
    """
    if len(written) > LONGEST or len(name) > LONGEST:
        return None
    one, other = written.casefold(), name.casefold()
    difference = abs(len(one) - len(other))
    if one == other:
        return Nearness(_SAME, 0, difference, name)
    effort = effort or Effort(_UNBOUNDED)
    edits = edits_between(one, other, min(MOST_EDITS, len(one) // 3), effort)
    if edits == 1:
        return Nearness(_ONE_EDIT, edits, difference, name)
    if _has_part(one, other, effort) or _has_part(other, one, effort):
        return Nearness(_PART, 0, difference, name)
    return None if edits is None else Nearness(_EDITS, edits, difference, name)


def edits_between(one: str, other: str, most: int, effort: Effort | None = None) -> int | None:
    """The least number of edits that make one text the other; None if above `most`, or if that is
    not known when the effort is spent.

    Costs at most `2 * most + 1` steps for each character, and less the sooner they differ.
    """
    if abs(len(one) - len(other)) > most:
        return None
    effort = effort or Effort(_UNBOUNDED)
    effort.left -= 1 + len(one) // _AT_ONCE
    one, other = _without_common_ends(one, other)
    if not one or not other:
        left = len(one) + len(other)
        return left if left <= most else None
    beyond = most + 1
    if len({*one} ^ {*other}) > 2 * most:
        return None  # an edit adds at most one character and takes away one
    above = [min(n, beyond) for n in range(len(other) + 1)]
    before = above
    for row, char in enumerate(one, 1):
        first, last = max(1, row - most), min(len(other), row + most)
        effort.left -= last - first + 2
        if effort.left <= 0:
            return None
        here = [beyond] * (len(other) + 1)
        here[first - 1] = row if first == 1 else beyond
        for at in range(first, last + 1):
            kept = above[at - 1] + (char != other[at - 1])
            here[at] = min(kept, above[at] + 1, here[at - 1] + 1)
            if row > 1 and at > 1 and char == other[at - 2] and one[row - 2] == other[at - 1]:
                here[at] = min(here[at], before[at - 2] + 1)
        if min(here[first - 1 : last + 1]) > most:
            return None
        before, above = above, here
    return above[-1] if above[-1] <= most else None


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _has_part(whole: str, part: str, effort: Effort) -> bool:
    """Whether `part` stands in it where its own parts begin and end."""
    if not _SHORTEST_PART <= len(part) < len(whole):
        return False
    at = whole.find(part)
    while at >= 0 and effort.left > 0:
        effort.left -= 1
        end = at + len(part)
        if (at == 0 or whole[at - 1] in _BREAKS) and (end == len(whole) or whole[end] in _BREAKS):
            return True
        at = whole.find(part, at + 1)
    return False


def parts_of(name: str, most: int) -> list[str]:
    """The ends of a name that begin with one of its parts, but for the whole: `h200-sxm` and `sxm`
    of `nvidia-h200-sxm`. At most the first `most`.
    """
    starts = [at + 1 for at, char in enumerate(name) if char in _BREAKS]
    return [name[at:] for at in starts[:most] if at < len(name)]
