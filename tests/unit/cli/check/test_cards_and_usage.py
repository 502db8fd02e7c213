"""`check`, sections `queues`, `nodes`, `past` and `drift`."""

from collections.abc import Callable
from functools import partial

import pytest

from builders import H200, H800, Body, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.cli.check import (
    PAUSE,
    CheckedCluster,
    CheckSection,
    Difference,
    differences,
    lasting_differences,
)
from cardquota.cli.check.cluster_sections import nodes_section, queues_section
from cardquota.cli.check.usage_sections import drift_section, past_section
from cardquota.cli.reading import ClusterError
from cardquota.quota import vocabulary as v

ONE_NODE = a_node("n").with_cards(H200, 8)


def section_of(*things: Body) -> CheckSection:
    return queues_section(CheckedCluster(a_ledger(ONE_NODE, *things)))


def found(*things: Body) -> list[tuple[str, str, str]]:
    return [(one.kind, one.name, one.reason) for one in section_of(*things).findings]


def test_a_queue_that_is_in_order() -> None:
    nothing = section_of(a_queue("q").with_quota({H200: 8, H800: 0}))
    assert (nothing.findings, nothing.notes, nothing.complete) == ([], [], True)


def test_a_quota_or_a_limit_that_cannot_be_read() -> None:
    assert found(a_queue("q").with_quota_text("{")) == [("Queue", "q", "QuotaUnreadable")]
    assert found(a_queue("q").limited_to(cpu="x")) == [("Queue", "q", "LimitUnreadable")]


def test_more_is_held_than_the_quota() -> None:
    pod = a_pod("p").in_queue("q").naming(H200).asking_for(2).stamped("q", {H200: 2}).on_node("n")
    (one,) = section_of(a_queue("q").with_quota({H200: 1}), pod).findings
    assert (one.reason, one.queue) == ("OverQuota", "q")
    assert one.why.startswith(f"Queue <q> holds 2 of <{H200}>, its quota is 1")
    assert one.why_and_advice.count("raise the quota") == 1


def test_a_row_that_no_node_has() -> None:
    (one,) = section_of(a_queue("q").with_quota({"NVIDIA-H20O": 1})).findings
    assert one.reason == "NoSuchCard"
    assert one.why == f"no node has card <NVIDIA-H20O>; did you mean <{H200}>?"


def test_an_oversold_card_is_told_once() -> None:
    queues = [a_queue(name).with_quota({H200: 5}) for name in ("a", "b", "c")]
    (one,) = section_of(*queues).findings
    assert (one.kind, one.name, one.reason) == ("Card", H200, "Oversold")
    assert one.why == f"quotas for <{H200}> add up to 15; the cluster has 8"


def test_a_key_that_means_nothing() -> None:
    read = CheckedCluster(a_ledger(ONE_NODE))
    read.queue_keys["q"] = [("card.policy", v.POLICY), ("volcano.sh/card.colour", "")]
    one, other = queues_section(read).findings
    assert (one.name, one.reason) == ("q", "UnknownKey")
    assert one.why == f"annotation <card.policy> has no effect; did you mean {v.POLICY}?"
    assert other.why == "annotation <volcano.sh/card.colour> has no effect"


def test_nothing_is_wrong() -> None:
    section = nodes_section(CheckedCluster(a_ledger(a_node("n").with_cards(H200, 8))))
    assert (section.findings, section.notes, section.complete) == ([], [], True)


def test_a_node_without_the_label_of_its_card() -> None:
    section = nodes_section(CheckedCluster(a_ledger(a_node("bare").offering(4))))
    (one,) = section.findings
    assert (one.kind, one.name, one.reason) == ("Node", "bare", v.NOT_COUNTED)
    assert one.why.startswith("cards of node <bare> are not counted: ")
    assert one.why_and_advice == one.why


def test_a_card_in_no_vendor_row() -> None:
    node = a_node("odd").with_cards("ODD", 4, "odd.example.com/card")
    (one,) = nodes_section(CheckedCluster(a_ledger(node))).findings
    assert (one.kind, one.name, one.reason) == ("Card", "ODD", "NoVendorRow")
    assert one.why.startswith("odd.example.com/card is in no vendor row")


NODE, QUEUE = a_node("n").with_cards(H200, 8), a_queue("q").with_quota({H200: 8})


def past(name: str, namespace: str = "team") -> PodBody:
    pod = a_pod(name).with_uid(name).in_namespace(namespace).in_queue("q").naming(H200)
    return pod.asking_for(2).on_node("n")


OURS = past("c").stamped("q", {H200: 2}), past("outside").in_queue(None)
LEDGER = a_ledger(NODE, QUEUE, past("a"), past("b", "other"), *OURS)


def test_by_queue_how_many_and_what_they_hold() -> None:
    section = past_section(CheckedCluster(LEDGER))
    (one,) = section.findings
    assert (one.kind, one.name, one.queue, one.reason) == ("Queue", "q", "q", v.UNADMITTED)
    assert dict(one.cards) == {H200: 4}
    assert "charged for 2 pods that never passed its gate" in one.why
    assert section.complete


def test_in_a_namespace_only_its_pods() -> None:
    (one,) = past_section(CheckedCluster(LEDGER, namespace="other")).findings
    assert dict(one.cards) == {H200: 2}
    assert past_section(CheckedCluster(LEDGER, namespace="empty")).findings == []


def test_where_a_namespace_is_asked_for_its_pods_are_all() -> None:
    read = CheckedCluster(a_ledger(NODE, QUEUE), namespace="team")
    read.partly.add("pods")
    assert past_section(read).complete


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
    later.unread["pods"] = ClusterError("no")
    assert await DriftingCluster(later).differ(before) == []


@pytest.mark.parametrize(
    ("kind", "section", "note"),
    [
        ("nodes", queues_section, "faults of queues may be missed"),
        ("nodes", nodes_section, "cards that are not counted may be missed"),
        ("pods", past_section, "pods that got past the gate may be missed"),
        (
            "pods",
            partial(drift_section, found=[], nobody_publishes=False),
            "published totals are not compared",
        ),
    ],
)
def test_what_may_not_be_listed_is_noted_and_nothing_is_said_of_it(
    kind: str, section: Callable[[CheckedCluster], CheckSection], note: str
) -> None:
    read = CheckedCluster(a_ledger(a_queue("q").with_quota({H200: 1}).limited_to(cpu="x")))
    read.unread[kind] = ClusterError("no")
    told = section(read)
    assert (told.notes, told.complete) == ([f"{kind} are not all known: {note}"], False)
    wrong = ["LimitUnreadable"] if section is queues_section else []
    assert [one.reason for one in told.findings] == wrong


def test_nothing_is_compared_where_nobody_publishes() -> None:
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
