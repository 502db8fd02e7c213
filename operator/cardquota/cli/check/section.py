"""One part of what `cardquota check` looks at, with what it has found."""

from dataclasses import dataclass, field
from typing import Any

from ...quota.words import time_text
from .finding import Finding


@dataclass(frozen=True, slots=True)
class CheckSection:
    """What was found, and what could not be looked for."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    """The oldest first, in the order of their kinds."""
    notes: list[str] = field(default_factory=list)
    """What could not be found, or said of what was found, and why."""
    complete: bool = True
    """Whether it could look for everything."""

    def plain(self) -> dict[str, Any]:
        """As it is printed for programs: the names of these fields stay."""
        return {
            "section": self.name,
            "complete": self.complete,
            "findings": [_plain(finding) for finding in self.findings],
            "notes": self.notes,
        }


def _plain(found: Finding) -> dict[str, Any]:
    return {
        "finding": found.finding.value,
        "kind": found.kind,
        "namespace": found.namespace,
        "name": found.name,
        "queue": found.queue,
        "cards": dict(found.cards),
        "since": None if found.since is None else time_text(found.since),
        "ageSeconds": found.age,
        "reason": found.reason or None,
        "message": found.message,
        "advice": found.advice,
    }
