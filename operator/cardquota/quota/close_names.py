"""Which of the names that exist was probably meant by one that does not."""

from collections.abc import Collection
from difflib import get_close_matches
from heapq import nlargest
from operator import eq
from typing import Final

MOST_NAMES: Final = 1_000
"""Among more names none is looked for."""
LONGEST: Final = 63
"""Characters of the longest name that is compared."""
MOST_CLOSE: Final = 8
_COMPARED: Final = 32
"""Names that `difflib` compares: a millisecond each, if they are long and much alike."""
_ALIKE: Final = 0.75
"""More than the 0.6 of `difflib`: names often begin alike, as `team-a-train` and `team-a-web`."""
_SHORTEST_PART: Final = 3
"""Characters: what is shorter is a part of too much."""
_BREAKS: Final = str.maketrans("_./ ", "----")
_NO_DIGITS: Final = str.maketrans("", "", "0123456789")


def close_names(written: str, names: Collection[str], *, cards: bool = False) -> list[str]:
    """At most eight names that are close to what was written, the closest first; never itself.
    Letters' case does not count.

    `cards`: a part of a card's name is close too (`H200` of `NVIDIA-H200`). Other objects are often
    numbered: `train-7` is not close to `train-8`, but `train` is. Costs some 5 ms among 1,000
    names. Not guaranteed: that all are compared; those with the most characters at the same place,
    from the start and from the end, are.
    """
    text = written.casefold()
    if len(names) > MOST_NAMES or not 0 < len(text) <= LONGEST:
        return []
    known = {name.casefold(): name for name in names if name != written and len(name) <= LONGEST}
    likely = nlargest(_COMPARED, known, key=lambda name: _in_common(text, name))
    close = get_close_matches(text, likely, n=MOST_CLOSE, cutoff=_ALIKE)
    if cards:
        part = _as_parts(text)
        parts = (one for one in known if min(len(text), len(one)) >= _SHORTEST_PART)
        parts = (one for one in parts if part in _as_parts(one) or _as_parts(one) in part)
        close += sorted({*parts} - {*close}, key=lambda one: (len(one), one))
    else:
        close = [one for one in close if not _differ_in_number(text, one)]
    return [known[one] for one in close[:MOST_CLOSE]]


def _in_common(one: str, other: str) -> int:
    from_start, from_end = map(eq, one, other), map(eq, reversed(one), reversed(other))
    return [*from_start, *from_end].count(True)


def _as_parts(name: str) -> str:
    return f"-{name.translate(_BREAKS)}-"


def _differ_in_number(written: str, name: str) -> bool:
    """Whether they differ in their digits alone, and the written one has some."""
    bare = written.translate(_NO_DIGITS)
    return bare != written and bare == name.translate(_NO_DIGITS) and written != name
