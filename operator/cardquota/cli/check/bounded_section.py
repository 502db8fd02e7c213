"""A section that shows so many findings of each reason, and counts the others."""

from collections.abc import Iterable
from typing import Final

from .. import sentences
from .finding import Finding
from .section import CheckSection

MOST_SHOWN: Final = 20
"""Findings with the same reason. The rest are counted."""


def bounded_section(
    name: str,
    findings: Iterable[Finding],
    notes: Iterable[str] = (),
    *,
    complete: bool = True,
) -> CheckSection:
    """The first of each reason, in their order. A note says how many of a reason are left out."""
    shown: list[Finding] = []
    number: dict[str, int] = {}
    for found in findings:
        number[found.reason] = number.get(found.reason, 0) + 1
        if number[found.reason] <= MOST_SHOWN:
            shown.append(found)
    more = (
        sentences.more_findings(count - MOST_SHOWN, reason)
        for reason, count in number.items()
        if count > MOST_SHOWN
    )
    return CheckSection(name, shown, [*notes, *more], complete)
