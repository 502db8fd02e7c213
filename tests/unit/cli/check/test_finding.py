"""What to do is said once, and as a sentence."""

import pytest

from cardquota.cli.check import Finding, FindingKind


def sentence(kind: FindingKind, why: str, advice: str) -> str:
    return Finding(
        finding=kind,
        kind="Queue",
        namespace="",
        name="q",
        queue="q",
        cards={},
        since=None,
        age=None,
        reason="",
        what="what",
        why=why,
        advice=advice,
    ).why_and_advice


@pytest.mark.parametrize(
    ("kind", "why", "said"),
    [
        (FindingKind.PAST, "it came past", "it came past; end it"),
        (FindingKind.QUEUE, "did you mean x?", "did you mean x? end it"),
        (FindingKind.NODE, "it is old: end it", "it is old: end it"),
    ],
)
def test_what_to_do(kind: FindingKind, why: str, said: str) -> None:
    assert sentence(kind, why, "end it") == said
