"""What is remembered of those who were told has a bound (P8)."""

from typing import Any

from builders import H200, H800, a_pod, a_queue
from cardquota.control.refusals import Refusals
from cardquota.quota.release_pass import Refusal, openings

from .stage import a_world


class Topics:
    """An event recorder that keeps what the topics are."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def record(self, *_: object, topic: str = "", **__: Any) -> None:
        self.found.append(topic)


def topics(cards: str) -> list[str]:
    pod = a_pod().in_queue("queue").naming(cards).asking_for(1).gated()
    ledger = a_world(a_queue().with_quota({H200: 0, H800: 0}), pod)
    events = Topics()
    refusals = Refusals(ledger, events)  # type: ignore[arg-type]
    for found in openings(ledger, "queue"):
        assert isinstance(found, Refusal)
        refusals.tell(found)
    return events.found


def test_a_topic_is_what_is_asked() -> None:
    assert topics(H200) == [f"queue {H200}"]
    assert topics(f"{H200}|{H800}") == [f"queue {H200} {H800}"]


def test_a_long_one_is_told_apart_by_its_digest() -> None:
    long = [f"NVIDIA-{letter * 56}" for letter in "ABCD"]
    one, other = topics("|".join(long)), topics("|".join(reversed(long)))
    assert [len(topic) for topic in (*one, *other)] in ([32, 32], [5, 5])
