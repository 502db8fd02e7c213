"""Who waits has an event; whoever has none, or one of something else, is named."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chaos.clients.objects import A, B
from chaos.judging.answered import pending_notices
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
    return pending_notices(replay(story.file).recount, events)


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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (lacks(queue="p"), "names Queue p"),
        (lacks(asked=2), "says that it asks for 2, not 4"),
        (f"{lacks()}; {lacks(card=B, asked=3)}", "says that it asks for 3, not 4"),
    ],
)
def test_an_event_of_something_else(story: Story, text: str, why: str) -> None:
    story.waits("a", 4)
    assert wrong(story, event(uid(story, "a"), text)) == [f"a waits in q and its event {why}"]


def test_a_gang_is_told_on_its_group(story: Story) -> None:
    story.group("g", 2).waits("a", 2, group="g").waits("b", 2, group="g")
    assert len(wrong(story)) == 2
    assert wrong(story, event("g", lacks(asked=4))) == []
    assert len(wrong(story, event("g", lacks(queue="p")))) == 2


def test_who_waits_no_more_needs_no_event(story: Story) -> None:
    story.waits("a").opens("a")
    assert wrong(story) == []
