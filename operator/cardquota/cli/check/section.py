"""What `cardquota check` has found, section by section, and how it is printed for people."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from rich.text import Text

from ...quota.words import counted, show
from ..printing import in_one_line, table

INSTALLATION: Final = "installation"
"""The section of which it is said that nothing is wrong."""
MOST_SHOWN: Final = 20
"""Findings with the same reason. The rest are counted."""
_MOST_NAMED: Final = 4
"""Objects of which one line says why. The rest are counted."""
_COLUMNS: Final = ("FINDING", "OBJECT", "QUEUE", "CARDS")
_NOTHING: Final = "-"
_SHORT: Final = 2
"""Lines of two sections that need no empty line between them."""


class FindingKind(StrEnum):
    """What is wrong."""

    REFUSED = "refused"
    """Somebody may not bind pods, or give them a group."""
    INSTALLATION = "installation"
    """A part of the product that is missing, or is not as it should be."""
    QUEUE = "queue"
    """A queue whose quota cannot be kept, or means something else than was meant."""
    NODE = "node"
    """Cards of a node that are not counted, or not recognised."""
    NAMESPACE = "namespace"
    """A namespace whose label means nothing."""
    PAST = "past"
    """Pods that are charged, and never passed the gate."""
    DRIFT = "drift"
    """Totals that are published and are not those that are counted."""
    RECLAIM = "reclaim"
    """Pods were ended to give cards back, and who they were ended for does not get them."""


_WHAT: Final = {
    FindingKind.REFUSED: "not installed correctly",
    FindingKind.INSTALLATION: "not installed correctly",
    FindingKind.QUEUE: "its quota cannot be read or kept, or is probably not what was meant",
    FindingKind.NODE: "cards are not counted, or not recognised",
    FindingKind.PAST: "pods got past the gate",
    FindingKind.RECLAIM: "pods were ended for others, and these do not start",
    FindingKind.DRIFT: "its published totals differ from what its pods on nodes hold",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, in words. Texts are safe to show, except names of objects."""

    finding: FindingKind
    kind: str
    """Of the object: `Pod`, `ReplicaSet`, ..."""
    namespace: str
    name: str
    reason: str
    """One word: the reason of the event that says so, or one of its own."""
    why: str
    advice: str
    what: str = ""
    """Empty: what all findings of this kind have in common."""
    queue: str | None = None
    """None if it is not known, or if there is none."""
    cards: Mapping[str, int] = field(default_factory=dict)
    """By card: what is held."""

    @property
    def why_and_advice(self) -> str:
        """Equal for all with the same reason. What to do is said once."""
        if self.advice in self.why:
            return self.why
        between = " " if self.why.endswith("?") else "; "
        return f"{self.why}{between}{self.advice}"

    def plain(self) -> dict[str, Any]:
        """As it is printed for programs: the names of these fields stay."""
        return {
            "finding": self.finding.value,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "queue": self.queue,
            "cards": dict(self.cards),
            "reason": self.reason,
            "message": f"{self.what or _WHAT[self.finding]}: {self.why}",
            "advice": self.advice,
        }


@dataclass(frozen=True, slots=True)
class CheckSection:
    """What was found, and what could not be looked for."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be found, or said of what was found, and why."""
    complete: bool = True
    """Whether it could look for everything."""

    def plain(self) -> dict[str, Any]:
        """As it is printed for programs: the names of these fields stay."""
        return {
            "section": self.name,
            "complete": self.complete,
            "findings": [finding.plain() for finding in self.findings],
            "notes": self.notes,
        }


def bounded_section(
    name: str, findings: Iterable[Finding], notes: Iterable[str] = (), *, complete: bool = True
) -> CheckSection:
    """The first of each reason, in their order. A note says how many of a reason are left out."""
    shown: list[Finding] = []
    number: dict[str, int] = {}
    for found in findings:
        number[found.reason] = number.get(found.reason, 0) + 1
        if number[found.reason] <= MOST_SHOWN:
            shown.append(found)
    more = (
        f"{counted(count - MOST_SHOWN, 'finding')} more of {reason}"
        for reason, count in number.items()
        if count > MOST_SHOWN
    )
    return CheckSection(name, shown, [*notes, *more], complete)


def section_of(
    name: str, findings: Iterable[Finding], lacking: list[str], missed: str, *notes: str
) -> CheckSection:
    """It is complete unless kinds are `lacking`: then a note says what is `missed` for that."""
    missing = [f"{' and '.join(lacking)} are not all known: {missed}"] if lacking else []
    return bounded_section(name, findings, [*missing, *notes], complete=not lacking)


def lines(sections: Iterable[CheckSection]) -> Iterator[Text]:
    """For people: of each section what could not be looked for, a table, and why, once for all with
    the same reason.
    """
    before: list[Text] = []
    for section in sections:
        printed = list(_of_section(section))
        if before and printed and len(before) + len(printed) > _SHORT:
            yield Text()
        yield from printed
        before = printed or before


def _of_section(section: CheckSection) -> Iterator[Text]:
    for note in section.notes:
        yield Text(f"note: {in_one_line(note)}", style="dim")
    if section.notes:
        yield Text()
    if section.findings:
        yield from table([_COLUMNS, *map(_row, section.findings)])
        yield Text()
        yield from _alike(section.findings)
    elif section.name == INSTALLATION:
        seen = "The installation is" if section.complete else "What could be seen of it is"
        yield Text(f"{seen} in order.")


def _row(found: Finding) -> tuple[str, ...]:
    cards = ", ".join(f"{show(card)} {amount}" for card, amount in found.cards.items())
    queue = show(found.queue or _NOTHING)
    return (found.finding.value, _name(found), queue, cards or _NOTHING)


def _name(found: Finding) -> str:
    name = f"{found.namespace}/{found.name}" if found.namespace else found.name
    return show(f"{found.kind} {name}", most=120)


def _alike(findings: Iterable[Finding]) -> Iterator[Text]:
    """One line for all with the same reason, in the order of the first of each. A reason that
    begins with its object names it.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for found in findings:
        key = found.finding.value, found.why_and_advice
        named = found.why.startswith(f"{found.kind} <")
        alike.setdefault(key, []).extend([] if named else [_name(found)])
    for (kind, why), names in alike.items():
        which = ", ".join(names)
        if len(names) > _MOST_NAMED:
            which = f"{counted(len(names), 'object')}, the first is {names[0]}"
        yield Text(f"{kind}: {which}: {why}" if names else f"{kind}: {why}")
