"""However much is wrong, a section stays short."""

from cardquota.cli.check import MOST_SHOWN, Finding, FindingKind, timeless
from cardquota.cli.check.bounded_section import bounded_section


def wrong(name: str, reason: str) -> Finding:
    return timeless(FindingKind.NODE, ("Node", "", name), reason, "why", "do", what="wrong")


def test_so_many_of_each_reason() -> None:
    many = [wrong(str(number), "A") for number in range(1_000)]
    section = bounded_section("nodes", [*many, wrong("x", "B")], ["first"])
    assert [one.reason for one in section.findings] == ["A"] * MOST_SHOWN + ["B"]
    assert section.notes == ["first", f"{1_000 - MOST_SHOWN} findings more of A"]
    assert section.complete


def test_what_to_do_is_said_once() -> None:
    assert wrong("x", "A").why_and_advice == "why; do"
    about = ("Node", "", "x")
    said = timeless(FindingKind.NODE, about, "A", "no; do it", "do it", what="wrong")
    assert said.why_and_advice == "no; do it"
    asked = timeless(FindingKind.NODE, about, "A", "did you mean b?", "correct it", what="wrong")
    assert asked.why_and_advice == "did you mean b? correct it"
