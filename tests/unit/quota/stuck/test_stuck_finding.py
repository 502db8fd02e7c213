"""What to do is said once, and as a sentence."""

import pytest

from cardquota.quota.stuck.stuck_finding import StuckFinding, StuckKind


def sentence(kind: StuckKind, why: str, advice: str) -> str:
    return StuckFinding(
        finding=kind,
        kind="Queue",
        namespace="",
        name="q",
        queue="q",
        cards={},
        since=None,
        age=None,
        node="",
        reason="",
        what="what",
        why=why,
        advice=advice,
    ).sentence


@pytest.mark.parametrize(
    ("kind", "why", "said"),
    [
        (StuckKind.TERMINATING, "its node is gone", "what: its node is gone; end it"),
        (StuckKind.QUEUE, "did you mean x?", "what: did you mean x? end it"),
        (StuckKind.NODE, "it is old: end it", "what: it is old: end it"),
        (StuckKind.GATED, "wait, or ask for less", "what: wait, or ask for less"),
    ],
)
def test_what_to_do(kind: StuckKind, why: str, said: str) -> None:
    assert sentence(kind, why, "end it") == said
