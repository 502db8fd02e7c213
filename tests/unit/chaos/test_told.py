"""Who waits has an event that is young enough and true; whoever has none, or another, is named."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chaos.clients.objects import A, B
from chaos.judging.told import LATE, RENEWED, untold
from chaos.replay import replay

from .story import Story

NOW = 1_800_000_000.0


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3, B: 1})


def lacks(card: str = A, asked: int = 4, most: int = 3, queue: str = "q") -> str:
    return (
        f"Queue <{queue}> has insufficient <{card}> quota: requested <{asked}>, total would be "
        f"<{asked}>, but capability is <{most}>; wait"
    )


def event(uid: str, text: str, ago: float = 1.0, **more: Any) -> dict[str, Any]:
    at = datetime.fromtimestamp(NOW - ago, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "metadata": {},
        "involvedObject": {"uid": uid},
        "type": "Warning",
        "reportingComponent": "cardquota",
        "lastTimestamp": at,
        "message": text,
        **more,
    }


def wrong(story: Story, *events: dict[str, Any]) -> list[str]:
    return untold(replay(story.file).recount, events, NOW)


def uid(story: Story, pod: str) -> str:
    return replay(story.file).recount.pods[pod].uid


def test_a_pod_without_an_event_of_ours(story: Story) -> None:
    story.waits("a", 4)
    found = ["a waits in q and has no event"]
    assert wrong(story) == found
    its = uid(story, "a")
    assert wrong(story, event("other", lacks())) == found
    assert wrong(story, event(its, lacks(), reportingComponent="kubelet")) == found
    assert wrong(story, event(its, "its gate is open", type="Normal")) == found
    assert wrong(story, event(its, lacks())) == []


def test_an_event_that_was_not_renewed(story: Story) -> None:
    story.waits("a", 4)
    its = uid(story, "a")
    late = RENEWED + LATE
    assert wrong(story, event(its, lacks(), ago=late - 1)) == []
    assert wrong(story, event(its, lacks(), ago=late + 5)) == [
        "a waits in q and its event was not written for 20 s"
    ]
    assert wrong(story, event(its, lacks(), ago=late + 5), event(its, lacks(), ago=2)) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (lacks(most=5), f"says that the quota of {A} is 5, not 3"),
        (lacks(card=B), f"says that the quota of {B} is 3, not 1"),
        (lacks(queue="p"), "names Queue p"),
        (lacks(asked=2), "says that it asks for 2, not 4"),
        (f"{lacks(card=B, most=1)}; {lacks(most=4)}", f"says that the quota of {A} is 4, not 3"),
    ],
)
def test_an_event_that_is_not_true_now(story: Story, text: str, why: str) -> None:
    story.waits("a", 4)
    assert wrong(story, event(uid(story, "a"), text)) == [f"a waits in q and its event {why}"]


def test_a_card_outside_the_quota_has_none(story: Story) -> None:
    story.waits("a", 4, cards="NVIDIA-T9")
    its = uid(story, "a")
    assert wrong(story, event(its, lacks("NVIDIA-T9", most=0))) == []
    assert len(wrong(story, event(its, lacks("NVIDIA-T9", most=1)))) == 1


def test_a_gang_is_told_on_its_group(story: Story) -> None:
    story.group("g", 2).waits("a", 2, group="g").waits("b", 2, group="g")
    assert len(wrong(story)) == 2
    assert wrong(story, event("g", lacks(asked=4))) == []
    assert len(wrong(story, event("g", lacks(most=9)))) == 2


def test_who_waits_no_more_needs_no_event(story: Story) -> None:
    story.waits("a").opens("a")
    assert wrong(story) == []


def test_of_a_queue_that_lends_only_the_age_is_judged(story: Story) -> None:
    story.queue("q", {A: 3, B: 1}, lent=2).waits("a", 4)
    its = uid(story, "a")
    assert wrong(story, event(its, lacks(most=5))) == []
    assert len(wrong(story, event(its, lacks(), ago=60))) == 1


def test_an_event_that_names_who_is_gone(story: Story) -> None:
    """It is written again before long, so in the end that is wrong."""
    story.waits("held", 2).opens("held").waits("a", 2)
    its = uid(story, "a")
    text = f"{lacks(asked=2)} until some of it is free"
    assert wrong(story, event(its, f"{text}; held by held 2")) == []
    assert wrong(story, event(its, text)) == []
    assert wrong(story, event(its, f"{text}; held by held 2, gone 1")) == [
        f"a waits in q and is told that 3 of ('q', '{A}') is held, the recount says 2"
    ]


def test_what_its_own_group_reserves_holds_up_nobody_of_it(story: Story) -> None:
    story.group("g", 3, reserving=3).waits("a", 1, group="g").waits("b", 1, group="g").opens("b")
    its = uid(story, "a")
    assert wrong(story, event(its, f"{lacks(asked=1)} until; held by b 1")) == []
    assert len(wrong(story, event(its, f"{lacks(asked=1)} until; held by b 2"))) == 1
