"""What it costs to find the name that was probably meant, among few and among very many.

Each question is about another wrong name, so nothing is remembered of it. Names as people give
them, in which what differs is at their end; and the worst: all of a kind, and hardly any differs.
"""

import random
import time
from collections.abc import Sequence
from typing import Final

from cardquota.quota.names.known_names import KnownNames

from ..figure import Report, median

ASKED: Final = 200
_ROUNDS: Final = 5
_FEW: Final = 64
"""Up to so many all are compared."""
_BOUND: Final = 5_000.0
"""Microseconds: the product says two milliseconds at most, and the machine is shared."""
_MAKERS: Final = ("NVIDIA", "AMD-Instinct", "Intel-Gaudi", "Huawei-Ascend")


def run(report: Report) -> None:
    """1,000 cards, 10,000 queues; ratios to 64 of them."""
    chance = random.Random(1)
    cards = [
        f"{_MAKERS[n % 4]}-{chr(65 + n % 26)}{100 + n}{'-80GB' if n % 3 else ''}"
        for n in range(1_000)
    ]
    queues = [f"{_word(chance)}-{_word(chance)}" for _ in range(10_000)]
    alike = [f"team-{'research' * 5}-{_word(chance)}" for _ in range(10_000)]
    _compare(report, "cards", cards, cards=True)
    _compare(report, "queues", queues)
    _compare(report, "queues with long names that are much alike", alike)


def _compare(report: Report, what: str, names: Sequence[str], *, cards: bool = False) -> None:
    few, many = (_known(some, cards=cards) for some in (names[:_FEW], names))
    times = {len(known): list[float]() for known in (few, many)}
    for turn in range(_ROUNDS):
        for known in (few, many):
            chance = random.Random(turn)
            some = names[: len(known)]
            written = [_mistyped(chance, chance.choice(some)) for _ in range(ASKED)]
            begun = time.thread_time()
            for name in written:
                known.near(name)
            times[len(known)].append((time.thread_time() - begun) * 1e6 / ASKED)
    for number, found in times.items():
        report(median(f"a wrong name among {number:,} {what}", found, "us", _BOUND))
    ratios = [b / a for a, b in zip(times[len(few)], times[len(many)], strict=True)]
    report(median(f"{what}: {len(many):,} against {len(few)}", ratios, "", 3.0))
    changed = list[float]()
    for turn in range(_ROUNDS):
        begun = time.thread_time()
        for number in range(ASKED):
            many.add(f"new-{turn}-{number}")
            many.discard(f"new-{turn}-{number}")
        changed.append((time.thread_time() - begun) * 1e6 / ASKED)
    report(median(f"a name comes and goes among {len(many):,} {what}", changed, "us"))


def _known(names: Sequence[str], *, cards: bool) -> KnownNames:
    known = KnownNames(cards=cards)
    for name in names:
        known.add(name)
    return known


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(8))


def _mistyped(chance: random.Random, name: str) -> str:
    at = chance.randrange(1, len(name))
    return f"{name[:at]}x{name[at + 1 :]}"
