"""Matching names against patterns with wildcards, by the case-sensitive rules of `fnmatch`.

Not by a regular expression: compiling one takes a hundred times as long as matching, and users
write these patterns.
"""

from collections.abc import Mapping


def is_pattern(text: str) -> bool:
    """Whether it may match other names than itself."""
    return any(wildcard in text for wildcard in "*?[")


def fits(name: str, pattern: str) -> bool:
    """Whether a pattern matches a name: `*`, `?`, `[a-c]` and `[!a-c]`.

    Costs one step for each character of the pattern; a set `[a-c]` costs one for each character of
    the name. It never backtracks.
    """
    places: dict[str, int] = {}
    """By character: a bit for each place in the name that has it."""
    for place, char in enumerate(name):
        places[char] = places.get(char, 0) | 1 << place
    everywhere = (1 << len(name)) - 1
    # The possible lengths of the part of the name that is matched so far, one bit for each.
    taken, at = 1, 0
    while at < len(pattern) and taken:
        char = pattern[at]
        at += 1
        if char == "*":
            shortest = taken & -taken
            taken = -shortest & (everywhere << 1 | 1)
            continue
        if char == "?":
            found = everywhere
        elif char == "[" and (end := _end_of_set(pattern, at)) >= 0:
            found = _places_of_set(pattern[at:end], places, everywhere)
            at = end + 1
        else:
            found = places.get(char, 0)
        taken = (taken & found) << 1
    return bool(taken >> len(name))


def _end_of_set(pattern: str, at: int) -> int:
    """The place of the bracket that closes a set; -1 if there is none, so it is no set."""
    at += pattern.startswith("!", at)
    # A closing bracket directly after the opening one is an ordinary character.
    return pattern.find("]", at + 1)


def _places_of_set(text: str, places: Mapping[str, int], everywhere: int) -> int:
    negated = text.startswith("!")
    found, at = 0, int(negated)
    while at < len(text):
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            for char, where in places.items():
                if text[at] <= char <= text[at + 2]:
                    found |= where
            at += 3
        else:
            found |= places.get(text[at], 0)
            at += 1
    return everywhere & ~found if negated else found
