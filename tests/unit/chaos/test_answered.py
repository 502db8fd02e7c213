"""Who waits and who holds, as it is said, against a recount."""

from pathlib import Path
from typing import Any

import pytest

from chaos.clients.objects import A, B
from chaos.judging.answered import (
    answer_wrong,
    gated_pods,
    held_by,
    refusal_wrong,
    status_wrong,
    waiting_pods,
    waiting_wrong,
)
from chaos.judging.recount import Recount
from chaos.replay import replay

from .story import Story

PAGE = """# TYPE cardquota_gated_pods gauge
cardquota_gated_pods{queue="q"} 2.0
cardquota_gated_pods{queue="<unknown>"} 1.0
cardquota_waiting_pods{queue="q",reason="InsufficientCardQuota"} 1.0
cardquota_waiting_pods{queue="q",reason="<undecided>"} 1.0
"""


@pytest.fixture
def recount(tmp_path: Path) -> Recount:
    """Two wait; one of two cards is released."""
    story = Story(tmp_path).queue("q", {A: 3, B: 1})
    story.waits("held", 2).opens("held").waits("a", 2).waits("b", 3)
    return replay(story.file).recount


def test_how_many_wait_by_the_metrics(recount: Recount) -> None:
    assert gated_pods(PAGE) == {"q": 2, "<unknown>": 1}
    assert waiting_pods(PAGE) == {"q": 2}
    assert waiting_wrong("replica 0", gated_pods(PAGE), recount) == []
    assert waiting_wrong("replica 0", {"q": 3}, recount) == [
        "replica 0: 3 pods wait in q, the recount says 2"
    ]
    assert len(waiting_wrong("replica 0", {}, recount)) == 1


def queue_saying(**waiting: Any) -> dict[str, Any]:
    return {"metadata": {"name": "q"}, "status": {"waiting": waiting}}


def test_how_many_wait_and_since_when_by_the_status(recount: Recount) -> None:
    for pod, second in (("a", 7), ("b", 5)):
        recount.pods[pod].created = f"2026-01-01T00:00:0{second}Z"
    right = "2026-01-01T00:00:05Z"
    assert status_wrong([queue_saying(pods=2, oldest=right)], recount) == []
    assert len(status_wrong([queue_saying(pods=3, oldest=right)], recount)) == 1
    assert status_wrong([queue_saying(pods=2, oldest="2026-01-01T00:00:07Z")], recount) == [
        f"Queue status: 2026-01-01T00:00:07Z waits longest in q, not {right}"
    ]
    assert len(status_wrong([queue_saying()], recount)) == 2


def an_answer(**more: Any) -> dict[str, Any]:
    holder = {"name": "held", "cards": [{"name": A, "amount": 2}]}
    cards = [{"name": A, "allocated": 0, "inqueue": 2}, {"name": B, "allocated": 0, "inqueue": 0}]
    who = {"waitingPods": 2, "heldPods": 1, "holders": [holder], "moreHolders": 0}
    return {**who, "cards": cards, **more}


def test_an_answer_about_a_queue(recount: Recount) -> None:
    assert answer_wrong("q", an_answer(), recount) == []


@pytest.mark.parametrize(
    "more",
    [
        {"waitingPods": 1},
        {"heldPods": 2},
        {"holders": []},
        {"cards": [{"name": A, "allocated": 1, "inqueue": 1}]},
        {"cards": [{"name": B, "allocated": 0, "inqueue": 1}], "moreHolders": 1},
    ],
)
def test_an_answer_that_is_wrong(recount: Recount, more: dict[str, Any]) -> None:
    assert len(answer_wrong("q", an_answer(**more), recount)) == 1


def test_who_is_left_out_of_an_answer_holds_something_too(recount: Recount) -> None:
    assert answer_wrong("q", an_answer(holders=[], moreHolders=1), recount) == []


@pytest.mark.parametrize(
    ("said", "cards"),
    [
        ("; held by a 3", 3),
        ("; held by a 3, b 2, c 1, 2 more workloads 4, and 1 reserved for pod groups", 11),
        ("; held by a 3, 5 in other namespaces, and 1 reserved for pod groups", 9),
        ("; held by a 3, and 2 in other namespaces", 5),
        ("; held by 3 workloads 6, and 2 in other namespaces", 8),
        ("; held: 2 in other namespaces and 3 reserved for pod groups", 5),
        ("; held by a 3, and 1 of pods that may use this or another card", None),
        ("", 0),
    ],
)
def test_what_those_hold_whom_a_refusal_names(said: str, cards: int | None) -> None:
    assert held_by(f"Queue <q> has insufficient <{A}> quota: ...; wait{said}") == cards


def test_a_refusal_that_names_who_is_gone(recount: Recount) -> None:
    text = f"Queue <q> has insufficient <{A}> quota: ...; wait; held by held 2"
    assert refusal_wrong(("q", A), text, recount) == ""
    assert refusal_wrong(("q", A), f"{text}, gone 1", recount) == (
        f"is told that 3 of ('q', '{A}') is held, the recount says 2"
    )
    assert refusal_wrong(("q", A), "no answer", recount) == ""
