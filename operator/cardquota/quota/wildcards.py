"""Names by patterns with wildcards, by the rules of `fnmatch` with case.

Not by a regular expression: to compile one takes a hundred times as long as to compare, and what
is compared here is written by users.
"""

from collections.abc import Mapping


def is_pattern(text: str) -> bool:
    """Whether it stands for other names than itself."""
    return any(wildcard in text for wildcard in "*?[")


def fits(name: str, pattern: str) -> bool:
    """Whether a name is one that a pattern stands for: `*`, `?`, `[a-c]` and `[!a-c]`.

    Costs one step for each character of the pattern, and of a set `[a-c]` one for each of the
    name: nothing is tried twice.
    """
    places: dict[str, int] = {}
    """By character: a bit for each place in the name where it stands."""
    for place, char in enumerate(name):
        places[char] = places.get(char, 0) | 1 << place
    everywhere = (1 << len(name)) - 1
    # How much of the name the pattern may have taken so far: a bit for each length.
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
    """Where the bracket stands that closes a set; -1: nowhere, so that it is none."""
    at += pattern.startswith("!", at)
    # Right behind the opening bracket it stands for itself.
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
