"""Odd values: what a field may hold that nobody meant."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from builders.names import GPU, H200, H200_MIG, H800, H800_MPS

LONGEST: Final = 3_000_000
"""Characters: an API server takes no more than 3 MiB in one request."""

NUMBERS: Final[tuple[Any, ...]] = (
    *(0, 1, -1, 2, 7, 1.5, -0.0, 1e308, -1e308, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64),
    *(10**30, 10**400, float("inf"), float("nan"), True, False),
)
QUANTITIES: Final = (
    *("0", "1", "-1", "1500m", "0.5", ".5", "5.", "1e3", "1E3", "1e-3", "1e400", "1e-400", "9e99"),
    *("1Ki", "1KI", "16Ei", "16384Pi", "1u", "1n", "0.0000001n", "+1", "--1", "1 ", " 1", "", "m"),
    *("Infinity", "NaN", "0x10", "1_000", "\u0661\u0662", "\u00b2", "1,5", "1" * 5_000),
)
_PLAIN: Final = (
    'a - . .. / a/b a/b/c null true [] {} %s {0} ${x} <script> \\ " team queue other default Gate '
    "Deny Open Closed Closing root Job fifo In NotIn Gt Lt metadata.name kubernetes.io/hostname "
    "Running Succeeded Failed Pending 2026-01-01T00:00:00Z 9999-99-99 volcano.sh/card-quota "
    f"nvidia.com/ cpu memory {GPU}"
)
WORDS: Final = (
    *_PLAIN.split(),
    *("", " ", "A" * 64, "a" * 254, "a b", "a\nb", "\x00", "\t", "'; --", "\u202e", "\U0001f4a9"),
    *("\u0000x", "\ud800", "e\u0301" * 9, "\ufeff"),
)
CARDS: Final = (H200, H800, H200_MIG, H800_MPS, "NVIDIA-NONE", "cpu", "memory", "", " ", "A|B")


def word(chance: Random) -> str:
    """Something where a text is expected."""
    pick = chance.randrange(8)
    if pick == 0:
        return "".join(chr(chance.randrange(1, 0x3000)) for _ in range(chance.randrange(40)))
    if pick == 1:
        return chance.choice(WORDS) * chance.choice((2, 10, 300))
    return chance.choice(WORDS)


def card_text(chance: Random) -> str:
    """Something like `A|B|C`."""
    cards = [chance.choice(CARDS) for _ in range(chance.choice((1, 1, 2, 3, 8, 40, 600)))]
    return chance.choice(("|", "|", " | ", "||", ",", "*")).join(cards)


def object_text(chance: Random) -> str:
    """Something like a JSON object of cards and amounts; names may repeat."""
    rows = []
    for _ in range(chance.choice((0, 1, 2, 3, 20, 1_500))):
        name = chance.choice(CARDS) if chance.random() < 0.8 else f"CARD-{chance.randrange(3_000)}"
        value = chance.choice(("1", "3", "0", "-1", "1.5", '"3"', "null", "1e5", "9" * 5_000, "{}"))
        rows.append(f'"{name}": {value}')
    text = "{" + ", ".join(rows) + chance.choice(("}", "}", "}", "", ",}", "}}"))
    return "[" * chance.choice((1, 30, 90_000)) if chance.random() < 0.02 else text


def request_text(chance: Random) -> str:
    """Something like a JSON object of cards, or choices of them, and whole numbers."""
    if chance.random() < 0.3:
        return object_text(chance)
    rows = []
    for _ in range(chance.choice((0, 1, 1, 2, 3, 40, 900))):
        name = card_text(chance) if chance.random() < 0.3 else chance.choice((H200, H800))
        value = chance.choice(("1", "2", "4", "0", "-1", "2.0", "9" * 30, "true", '"1"', "[1]"))
        if chance.random() < 0.5:
            name, value = f"{H200}|{H800}", "1"
        rows.append(f'"{name}": {value}')
    return "{" + ", ".join(rows) + chance.choice(("}", "}", "}", "} ", ""))


def namespaces_text(chance: Random) -> str:
    """Something like a JSON list of patterns."""
    patterns = ("team", "team-*", "*", "**", "[a-", "[!a]", "?" * 50, "*a" * 25 + "b", 7, None, "")
    parts = [chance.choice(patterns) for _ in range(chance.choice((0, 1, 2, 30, 400)))]
    quoted = [f'"{p}"' if isinstance(p, str) else str(p) for p in parts]
    return "[" + ",".join(quoted) + chance.choice(("]", "]", "]", ""))


def deep(chance: Random) -> Any:
    """Nested further than anything is."""
    found: Any = []
    for _ in range(chance.choice((3, 60, 400))):
        found = [found] if chance.random() < 0.5 else {"a": found}
    return found


ANYTHING: Final[tuple[Callable[[Random], Any], ...]] = (
    lambda chance: chance.choice(NUMBERS),
    lambda chance: chance.choice(QUANTITIES),
    word,
    card_text,
    object_text,
    deep,
    lambda _: None,
    lambda _: [],
    lambda _: {},
    lambda chance: [word(chance) for _ in range(chance.choice((1, 3, 200)))],
    lambda chance: {word(chance): word(chance) for _ in range(chance.choice((1, 3, 200)))},
)


def anything(chance: Random) -> Any:
    """Of whatever type."""
    return chance.choice(ANYTHING)(chance)


def large(chance: Random, size: int) -> Any:
    """Of so many characters, in one of the shapes in which users can send them."""
    name = chance.choice(("a", "x-", "NVIDIA-H200|", "\u00e4", "0", "*"))
    size //= 6 if name == "\u00e4" else 1  # as long as it is when it is written as JSON
    match chance.randrange(4):
        case 0:
            return (name * (size // len(name) + 1))[:size]
        case 1:
            return [f"{name}{number}" for number in range(size // 10)]
        case 2:
            return {f"{name}{number}": str(number) for number in range(size // 16)}
    return [{"key": f"k{n}", "operator": "In", "values": [name]} for n in range(size // 45)]
