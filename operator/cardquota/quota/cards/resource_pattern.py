"""Regular expressions for resource names, as a vendor row may have one (D6).

A small part of the syntax, which Python and RE2 (the API server's) read alike: literals, `.`,
classes, groups, alternatives, and `*`, `+`, `?`. Whether two expressions match a common name is
decided exactly, in steps bounded by the product of their lengths: their automata are walked side
by side. Neither is made deterministic, which could take for ever. The automaton also matches
names: Python's `re` backtracks, and `[a-z]*[a-z]*[a-z]*` has millions of ways for one name.
"""

import string
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

LONGEST: Final = 100
"""Characters of an expression."""
LONGEST_NAME: Final = 63
"""Characters of a resource name after the slash: Kubernetes allows no more."""

_ENDS: Final = frozenset(string.ascii_letters + string.digits)
"""A name begins and ends with one of these."""
_BETWEEN: Final = frozenset("-_.")
_CHARACTERS: Final = _ENDS | _BETWEEN
_OTHER: Final = ""
"""Stands for every character that no name has. A dot matches it, as in Python, except at the end of
a line."""
_ANY: Final = _CHARACTERS | {_OTHER}
_MOST_KNOWN: Final = 1024
"""Steps of an expression that are remembered, some 300 bytes each."""
_REPEATS: Final = frozenset("*+?")


class PatternError(ValueError):
    """An expression outside the syntax; the text says at which character, and what is wrong."""


@dataclass(slots=True)
class Pattern:
    """An automaton: states, and the steps between them."""

    steps: list[list[tuple[frozenset[str], int]]] = field(default_factory=list)
    """By state: which characters lead to which state."""
    skips: list[list[int]] = field(default_factory=list)
    """By state: the states that follow it without a character."""
    start: int = 0
    end: int = 0

    def add(self) -> int:
        """A new state."""
        self.steps.append([])
        self.skips.append([])
        return len(self.steps) - 1


def read_pattern(text: str) -> Pattern:
    """The automaton of an expression. Raises PatternError."""
    if len(text) > LONGEST:
        raise PatternError(f"it has more than {LONGEST} characters")
    return _Reader(text).read()


class Matcher:
    """One expression, prepared to be matched against many names.

    Agrees with `re.fullmatch` on every text. Each character of a name costs at most one step for
    each character of the expression.
    """

    def __init__(self, text: str) -> None:
        """Raises PatternError."""
        pattern = read_pattern(text)
        self._begin = _reached(pattern, pattern.start)
        self._end = 1 << pattern.end
        self.steps: dict[str, list[tuple[int, int]]] = {}
        """By character: the bit of a state, and the bits of all states that it leads to."""
        self._after: dict[tuple[int, str], int] = {}
        for state, steps in enumerate(pattern.steps):
            for characters, after in steps:
                step = 1 << state, _reached(pattern, after)
                for character in characters:
                    self.steps.setdefault(character, []).append(step)

    def matches(self, name: str) -> bool:
        """Whether the expression matches the whole name."""
        states = self._begin
        for character in name:
            known = character in _CHARACTERS or character == "\n"
            step = states, character if known else _OTHER
            after = self._after.get(step)
            states = self._followed(*step) if after is None else after
        return bool(states & self._end)

    def _followed(self, states: int, character: str) -> int:
        """The bits of all states that any of these lead to. The result is remembered."""
        after = 0
        for state, reached in self.steps.get(character, ()):
            if states & state:
                after |= reached
        if len(self._after) >= _MOST_KNOWN:
            self._after.clear()
        self._after[states, character] = after
        return after


def _reached(pattern: Pattern, state: int) -> int:
    """The bits of a state and of all that follow it without a character."""
    found, front = 1 << state, [state]
    while front:
        for after in pattern.skips[front.pop()]:
            if not found & 1 << after:
                found |= 1 << after
                front.append(after)
    return found


def common_name(one: Pattern, other: Pattern) -> str | None:
    """A shortest name that both match as a whole. None if no resource can have such a name."""
    begin = one.start, other.start, False
    seen = {begin}
    front = deque([(begin, "")])
    while front:
        (first, second, ends), name = front.popleft()
        if ends and (first, second) == (one.end, other.end):
            return name
        for left, right in _skipped(one, other, first, second):
            if (left, right, ends) not in seen:
                seen.add((left, right, ends))
                front.appendleft(((left, right, ends), name))
        if len(name) == LONGEST_NAME:
            continue
        for characters, left, right in _stepped(one, other, first, second):
            for allowed, last in ((_BETWEEN, False), (_ENDS, True)):
                found = characters & allowed
                reached = (left, right, last)
                if found and (name or last) and reached not in seen:
                    seen.add(reached)
                    front.append((reached, name + _first(found)))
    return None


def _first(characters: frozenset[str]) -> str:
    """One of them, for an example that looks like a name."""
    return "." if "." in characters else min(characters)


def _skipped(one: Pattern, other: Pattern, first: int, second: int) -> Iterator[tuple[int, int]]:
    for left in one.skips[first]:
        yield left, second
    for right in other.skips[second]:
        yield first, right


def _stepped(
    one: Pattern, other: Pattern, first: int, second: int
) -> Iterator[tuple[frozenset[str], int, int]]:
    for mine, left in one.steps[first]:
        for yours, right in other.steps[second]:
            yield mine & yours, left, right


class _Reader:
    """Reads one expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._pattern = Pattern()

    def read(self) -> Pattern:
        self._pattern.start, self._pattern.end = self._alternatives()
        if self._at < len(self._text):
            raise self._wrong("is unexpected")
        return self._pattern

    def _alternatives(self) -> tuple[int, int]:
        """`a|b`, up to the end of the text or of a group."""
        start, end = self._pattern.add(), self._pattern.add()
        while True:
            first, last = self._row()
            self._pattern.skips[start].append(first)
            self._pattern.skips[last].append(end)
            if not self._take("|"):
                return start, end

    def _row(self) -> tuple[int, int]:
        """A sequence of repeated elements."""
        start = end = self._pattern.add()
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            first, last = self._repeated()
            self._pattern.skips[end].append(first)
            end = last
        return start, end

    def _repeated(self) -> tuple[int, int]:
        group = self._text[self._at] == "("
        first, last = self._one()
        sign = self._peek()
        if sign not in _REPEATS:
            return first, last
        if group and sign != "?":
            raise self._wrong("repeats a group")
        self._at += 1
        # Own states on both sides, so that nothing enters or leaves the repeated part half way.
        start, end = self._pattern.add(), self._pattern.add()
        self._pattern.skips[start].append(first)
        self._pattern.skips[last].append(end)
        if sign in "*?":
            self._pattern.skips[start].append(end)
        if sign in "*+":
            self._pattern.skips[last].append(first)
        if self._peek() in _REPEATS:
            raise self._wrong("repeats what is repeated")
        return start, end

    def _one(self) -> tuple[int, int]:
        if self._take("("):
            found = self._alternatives()
            if not self._take(")"):
                raise self._wrong("is missing: )")
            return found
        character = self._next()
        if character == "[":
            return self._step(frozenset(self._class()))
        if character == ".":
            return self._step(_ANY)
        if character not in _CHARACTERS:
            self._at -= 1
            raise self._wrong("has no place here")
        return self._step(frozenset(character))

    def _class(self) -> Iterator[str]:
        """Up to the end of the class. Only the first or last character can be a plain hyphen."""
        begin = self._at
        while not self._take("]"):
            low = self._member()
            if self._peek() != "-" or self._peek(1) in ("]", ""):
                if low == "-" and self._at - 1 != begin and self._peek() != "]":
                    self._at -= 1
                    raise self._wrong("is neither the first nor the last of its class")
                yield low
                continue
            self._at += 1
            high = self._member()
            if not ({low, high} <= _ENDS and low <= high):
                self._at -= 1
                raise self._wrong("ends no range of letters or digits")
            yield from (chr(code) for code in range(ord(low), ord(high) + 1))
        if self._at == begin + 1:
            raise self._wrong("is an empty class")

    def _member(self) -> str:
        character = self._next()
        if character not in _CHARACTERS:
            self._at -= 1
            raise self._wrong("has no place in a class")
        return character

    def _step(self, characters: frozenset[str]) -> tuple[int, int]:
        start, end = self._pattern.add(), self._pattern.add()
        self._pattern.steps[start].append((characters, end))
        return start, end

    def _peek(self, ahead: int = 0) -> str:
        """The next character, or one behind it; empty at the end."""
        return self._text[self._at + ahead : self._at + ahead + 1]

    def _take(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self._at += 1
        return True

    def _next(self) -> str:
        if self._at == len(self._text):
            raise self._wrong("is missing: the end of a class")
        self._at += 1
        return self._text[self._at - 1]

    def _wrong(self, what: str) -> PatternError:
        there = self._peek()
        where = f"character {self._at + 1} <{there}>" if there else "the end"
        return PatternError(f"{where} {what}")
