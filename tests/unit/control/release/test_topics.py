"""What is remembered of those who were told has a bound (P8)."""

from builders import H200, H800, a_pod, a_queue

from .test_wait_reports import ToldWaits


def topics(cards: str) -> list[str]:
    pod = a_pod().in_queue("queue").naming(cards).asking_for(1).gated()
    line = ToldWaits(a_queue().with_quota({H200: 0, H800: 0}), pod)
    line.look()
    line.go_on()
    told = line.ledger.pods[pod.uid].told
    return [told[1]] if told else []


def test_a_topic_is_what_is_asked() -> None:
    assert topics(H200) == [f"queue {H200}"]
    assert topics(f"{H200}|{H800}") == [f"queue {H200} {H800}"]


def test_a_long_one_is_told_apart_by_its_digest() -> None:
    long = [f"NVIDIA-{letter * 56}" for letter in "ABCD"]
    one, other = topics("|".join(long)), topics("|".join(reversed(long)))
    assert [len(topic) for topic in (*one, *other)] in ([32, 32], [5, 5])
