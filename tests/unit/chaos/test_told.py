"""I4: who waits has an event; whoever has none, or one of something else, is named."""

from pathlib import Path
from typing import Any

import pytest

from chaos.judging.answered import pending_notices
from chaos.replay import replay

from .story import Story, with_cards

POD = "waits a 4"
GANG = "group g 2; waits a 2 group=g; waits b 2 group=g"


def lacks(card: str = "A", asked: int = 4, queue: str = "q") -> str:
    capability = f"total would be <{asked}>, but capability is <3>; wait"
    text = f"Queue <{queue}> has insufficient <{card}> quota: requested <{asked}>, {capability}"
    return with_cards(text)


def wrong(story: Story, about: str, text: str = "", **more: Any) -> list[str]:
    """Of those who wait, with that event; `about`: a uid, or a pod by its name."""
    recount = replay(story.file).recount
    pod = recount.pods.get(about)
    uid = pod.uid if pod is not None else about
    event = {"metadata": {}, "involvedObject": {"uid": uid}, "type": "Warning"}
    event |= {"reportingComponent": "cardquota", "lastTimestamp": "2027-01-15T08:00:00Z"}
    event |= {"message": text or lacks(), **more}
    return pending_notices(recount, [event])


@pytest.mark.parametrize(
    ("about", "more"),
    [("other", {}), ("a", {"reportingComponent": "kubelet"}), ("a", {"type": "Normal"})],
)
def test_a_pod_without_an_event_of_ours(tmp_path: Path, about: str, more: dict[str, Any]) -> None:
    story = Story(tmp_path).tell(f"queue q A:3,B:1; {POD}")
    assert wrong(story, about, **more) == ["a waits in q and has no event"]


@pytest.mark.parametrize(
    ("steps", "about", "text", "found"),
    [
        (POD, "a", lacks(), []),
        (POD, "a", lacks(queue="p"), ["a waits in q and its event names Queue p"]),
        *(
            (POD, "a", text, [f"a waits in q and its event says that it asks for {said}, not 4"])
            for text, said in ((lacks(asked=2), 2), (f"{lacks()}; {lacks('B', asked=3)}", 3))
        ),
        # A gang is told on its group.
        (GANG, "g", lacks(asked=4), []),
        (
            GANG,
            "g",
            lacks(queue="p"),
            [f"{n} waits in q and its event names Queue p" for n in "ab"],
        ),
        (GANG, "other", "", [f"{n} waits in q and has no event" for n in "ab"]),
        ("waits a; opens a", "other", "", []),
    ],
)
def test_an_event_of_what_it_waits_for(
    tmp_path: Path, steps: str, about: str, text: str, found: list[str]
) -> None:
    assert wrong(Story(tmp_path).tell(f"queue q A:3,B:1; {steps}"), about, text) == found
