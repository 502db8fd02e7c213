"""`check`, section `queues`: quotas that cannot be kept, or mean something else than was meant."""

from builders import H200, H800, Body, a_ledger, a_node, a_pod, a_queue
from cardquota.cli.check import CheckedCluster, CheckSection
from cardquota.cli.check.cards_sections import queues_section
from cardquota.quota import vocabulary as v

NODE = a_node("n").with_cards(H200, 8)


def section(*things: Body) -> CheckSection:
    return queues_section(CheckedCluster(a_ledger(NODE, *things)))


def found(*things: Body) -> list[tuple[str, str, str]]:
    return [(one.kind, one.name, one.reason) for one in section(*things).findings]


def test_a_queue_that_is_in_order() -> None:
    nothing = section(a_queue("q").with_quota({H200: 8, H800: 0}))
    assert (nothing.findings, nothing.notes, nothing.complete) == ([], [], True)


def test_a_quota_or_a_limit_that_cannot_be_read() -> None:
    assert found(a_queue("q").with_quota_text("{")) == [("Queue", "q", "QuotaUnreadable")]
    assert found(a_queue("q").limited_to(cpu="x")) == [("Queue", "q", "LimitUnreadable")]


def test_more_is_held_than_the_quota() -> None:
    pod = a_pod("p").in_queue("q").naming(H200).asking_for(2).stamped("q", {H200: 2}).on_node("n")
    (one,) = section(a_queue("q").with_quota({H200: 1}), pod).findings
    assert (one.reason, one.queue) == ("OverQuota", "q")
    assert one.why.startswith(f"Queue <q> holds 2 of <{H200}>, its quota is 1")
    assert one.why_and_advice.count("raise the quota") == 1


def test_a_row_that_no_node_has() -> None:
    (one,) = section(a_queue("q").with_quota({"NVIDIA-H20O": 1})).findings
    assert one.reason == "NoSuchCard"
    assert one.why == f"no node has card <NVIDIA-H20O>; did you mean <{H200}>?"


def test_an_oversold_card_is_told_once() -> None:
    queues = [a_queue(name).with_quota({H200: 5}) for name in ("a", "b", "c")]
    (one,) = section(*queues).findings
    assert (one.kind, one.name, one.reason) == ("Card", H200, "Oversold")
    assert one.why == f"quotas for <{H200}> add up to 15; the cluster has 8"


def test_a_key_that_means_nothing() -> None:
    read = CheckedCluster(a_ledger(NODE))
    read.queue_keys["q"] = [("card.policy", v.POLICY), ("volcano.sh/card.colour", "")]
    one, other = queues_section(read).findings
    assert (one.name, one.reason) == ("q", "UnknownKey")
    assert one.why == f"annotation <card.policy> has no effect; did you mean {v.POLICY}?"
    assert other.why == "annotation <volcano.sh/card.colour> has no effect"


def test_without_all_nodes_nothing_is_said_of_what_they_have() -> None:
    read = CheckedCluster(a_ledger(a_queue("q").with_quota({H200: 1}).limited_to(cpu="x")))
    read.unread["nodes"] = "403 Forbidden: no"
    lacking = queues_section(read)
    assert [one.reason for one in lacking.findings] == ["LimitUnreadable"]
    assert not lacking.complete
    assert lacking.notes == ["nodes are not all known: faults of queues may be missed"]
