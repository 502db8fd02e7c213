"""`check`, section `drift`: a status that says something else than is counted, and goes on so."""

from builders import H200, H800, Body, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.cli.check import PAUSE, CheckedCluster, Difference, differences, lasting_differences
from cardquota.cli.check.usage_sections import drift_section


def saying(allocated: int, card: str = H200) -> QueueBody:
    rows = [{"name": card, "allocated": allocated}]
    status = {"cards": rows, "observedGeneration": 1}
    return a_queue("q").with_quota({H200: 8}).put(status, "status")


def holding(name: str, cards: int) -> PodBody:
    pod = a_pod(name).with_uid(name).in_queue("q").naming(H200).asking_for(cards)
    return pod.stamped("q", {H200: cards}).on_node("n")


def seen(*things: Body) -> CheckedCluster:
    return CheckedCluster(a_ledger(a_node("n").with_cards(H200, 8), *things))


class DriftingCluster:
    """Read again and again: what is there then. It says how long was waited for that."""

    def __init__(self, *then: CheckedCluster) -> None:
        self.then, self.waited = list(then), 0.0

    async def again(self) -> CheckedCluster:
        return self.then.pop(0)

    async def sleep(self, seconds: float) -> None:
        self.waited += seconds

    async def differ(self, now: CheckedCluster) -> list[Difference]:
        return await lasting_differences(now, self.again, self.sleep)


def test_what_differs() -> None:
    assert differences(seen(saying(5), holding("a", 4)).ledger) == {Difference("q", H200, 5, 4)}
    assert differences(seen(saying(0), holding("a", 4)).ledger) == {Difference("q", H200, 0, 4)}
    assert differences(seen(saying(3, H800)).ledger) == {Difference("q", H800, 3, 0)}
    assert differences(seen(saying(4), holding("a", 4)).ledger) == set()


def test_a_queue_of_which_nothing_is_published_does_not_differ() -> None:
    assert differences(seen(a_queue("q").with_quota({H200: 8}), holding("a", 4)).ledger) == set()


async def test_it_is_read_once_where_nothing_differs() -> None:
    cluster = DriftingCluster()
    assert await cluster.differ(seen(saying(4), holding("a", 4))) == []
    assert cluster.waited == 0


async def test_a_difference_that_is_still_there() -> None:
    cluster = DriftingCluster(seen(saying(5), holding("a", 4)))
    lasting = await cluster.differ(seen(saying(5), holding("a", 4)))
    assert lasting == [Difference("q", H200, 5, 4)]
    assert cluster.waited == PAUSE
    section = drift_section(seen(), lasting, nobody_publishes=False)
    (one,) = section.findings
    assert (one.kind, one.name, one.reason) == ("Queue", "q", "TotalsDiffer")
    assert one.why == f"status says allocated 5 of <{H200}>, its pods on nodes hold 4"
    assert section.complete
    assert ["--config" in note for note in section.notes] == [True]


async def test_a_difference_that_has_gone_or_changed_is_none() -> None:
    before = seen(saying(5), holding("a", 4))
    assert await DriftingCluster(seen(saying(4), holding("a", 4))).differ(before) == []
    moved = seen(saying(4), holding("a", 4), holding("b", 1))
    assert await DriftingCluster(moved).differ(before) == []


async def test_what_cannot_be_read_again_says_nothing() -> None:
    before, later = (seen(saying(5), holding("a", 4)) for _ in range(2))
    later.unread["pods"] = "403 Forbidden: no"
    assert await DriftingCluster(later).differ(before) == []


def test_why_nothing_is_compared() -> None:
    read = seen()
    read.unread["pods"] = "403 Forbidden: no"
    section = drift_section(read, [], nobody_publishes=False)
    assert not section.complete
    assert section.notes == ["pods are not all known: published totals are not compared"]
    (note,) = drift_section(seen(), [], nobody_publishes=True).notes
    assert note.startswith("no replica leads")


def test_numbers_that_volcano_lets_nobody_write_are_old() -> None:
    closing = saying(5).put("Closing", "status", "state")
    found = differences(seen(closing, holding("a", 4)).ledger)
    assert found == {Difference("q", H200, 5, 4, closing=True)}
    read = seen(closing, holding("a", 4))
    (one,) = drift_section(read, sorted(found), nobody_publishes=False).findings
    assert one.reason == "NumbersOld"
    assert "Volcano's webhook refuses every update of a queue that is Closing" in one.advice
