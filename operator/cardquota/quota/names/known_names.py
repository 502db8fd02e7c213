"""The names that exist, so that the ones nearest to a wrong name are found in little time.

All names are compared while there are few. Among many, those next to what was written in the order
of the alphabet, read forwards and backwards: a typing error leaves the start or the end of a name
as it was. Then a name may be missed that has very many like it.
"""

from bisect import bisect_left, insort
from typing import Final

from ..sized_cache import SizedCache
from .nearest_name import LONGEST, Effort, Nearness, nearness, parts_of

_FEW: Final = 64
"""Names that are all compared."""
_NEIGHBOURS: Final = 12
"""Names on each side that are compared."""
MOST_NEAR: Final = 8
"""Names that are found at most, the nearest first."""
LONGEST_OBJECT: Final = 63
"""Characters of the longest name of an object that is compared. Longer ones are rare, and a tenant
may choose as many as he likes."""
MOST_STEPS: Final = 3_000
"""Steps that all comparisons of one question take together: below two milliseconds."""
_MOST_PARTS: Final = 4
_CACHE: Final = 64 * 1024
"""Bytes."""
_ENTRY: Final = 100
"""Bytes of what is remembered of one name, besides its text."""

_NO_DIGITS: Final = str.maketrans("", "", "0123456789")

_Entry = tuple[str, str]
"""A text by which a name is found, and the name."""


class KnownNames:
    """Names of one kind of object, or of cards.

    Each takes some 400 bytes. To add or drop one costs some ten microseconds among 10,000; to ask,
    at most 64 comparisons: a millisecond, for names much alike up to two, and nothing where that
    was asked before and no name has come or gone. Not guaranteed among long names that are much
    alike: that all are compared. Those of the most similar length come first.
    """

    __slots__ = ("_backwards", "_cards", "_forwards", "_found", "_longest", "_names")

    def __init__(self, *, cards: bool = False) -> None:
        """`cards`: they are also found by parts in their middle, as `H200`. Other objects are
        often numbered, `train-7` beside `train-8`: such names are not taken for each other. One
        that was written without a number may mean one with a number.
        """
        self._cards = cards
        self._longest = LONGEST if cards else LONGEST_OBJECT
        self._names: set[str] = set()
        self._forwards: list[_Entry] = []
        self._backwards: list[_Entry] = []
        self._found: SizedCache[str, tuple[Nearness, ...]] = SizedCache(_CACHE)

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str) -> None:
        """There is an object of this name. May be called again. What is too long is left out."""
        if name in self._names or len(name) > self._longest:
            return
        self._names.add(name)
        self._found.clear()
        for entry in self._entries(name):
            insort(self._forwards, entry)
        insort(self._backwards, _reversed(name))

    def discard(self, name: str) -> None:
        """There is none any more. May be called again."""
        if name not in self._names:
            return
        self._names.discard(name)
        self._found.clear()
        for entry in self._entries(name):
            del self._forwards[bisect_left(self._forwards, entry)]
        del self._backwards[bisect_left(self._backwards, _reversed(name))]

    def near(self, written: str, effort: Effort | None = None) -> tuple[Nearness, ...]:
        """The names that are near to what was written, the nearest first; never itself.

        `effort`: what several questions may take together. None: this one takes what one may.
        """
        if len(written) > self._longest:
            return ()
        found = self._found.get(written)
        if found is not None:
            return found
        own = effort or Effort(MOST_STEPS)
        found = self._near(written, own)
        if effort is None or not effort.spent:
            size = 2 * len(written) + sum(_ENTRY + len(one.name) for one in found)
            self._found.put(written, found, size)
        return found

    def _near(self, written: str, effort: Effort) -> tuple[Nearness, ...]:
        text = written.casefold()
        if len(self._names) <= _FEW:
            some = {*self._names}
        else:
            some = {name for _, name in _next_to(self._forwards, text)}
            some |= {name for _, name in _next_to(self._backwards, text[::-1])}
        some.discard(written)
        if not self._cards:
            some = {name for name in some if not _differ_in_number(text, name.casefold())}
        found = list[Nearness]()
        for name in sorted(some, key=lambda name: _order(text, name)):
            one = nearness(written, name, effort)
            if one is not None:
                found.append(one)
            if effort.spent:
                break
        return tuple(sorted(found)[:MOST_NEAR])

    def _entries(self, name: str) -> list[_Entry]:
        folded = name.casefold()
        text = name if folded == name else folded  # one text is kept, not two alike
        parts = parts_of(text, _MOST_PARTS) if self._cards else []
        return [(one, name) for one in {text, *parts}]


def _reversed(name: str) -> _Entry:
    return name.casefold()[::-1], name


def _next_to(entries: list[_Entry], text: str) -> list[_Entry]:
    at = bisect_left(entries, (text,))
    return entries[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]


def _order(text: str, name: str) -> tuple[bool, int, str]:
    """In which names are compared, so that the likeliest are if not all can be."""
    return name.casefold() != text, abs(len(name) - len(text)), name


def _differ_in_number(one: str, other: str) -> bool:
    """Whether two names differ in their digits alone, and the first one has some: who writes `team`
    for `team1` does not mean another object.
    """
    bare = one.translate(_NO_DIGITS)
    return one not in (other, bare) and bare == other.translate(_NO_DIGITS)
