"""`check`, section `past`: pods that are charged and never passed their gate (I3)."""

from builders import H200, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cli.check import CheckedCluster
from cardquota.cli.check.usage_sections import past_section
from cardquota.quota import vocabulary as v

NODE, QUEUE = a_node("n").with_cards(H200, 8), a_queue("q").with_quota({H200: 8})


def past(name: str, namespace: str = "team") -> PodBody:
    pod = a_pod(name).with_uid(name).in_namespace(namespace).in_queue("q").naming(H200)
    return pod.asking_for(2).on_node("n")


LEDGER = a_ledger(
    NODE,
    QUEUE,
    past("a"),
    past("b", "other"),
    past("c").stamped("q", {H200: 2}),
    past("outside").in_queue(None),
)


def test_by_queue_how_many_and_what_they_hold() -> None:
    section = past_section(CheckedCluster(LEDGER))
    (one,) = section.findings
    assert (one.kind, one.name, one.queue, one.reason) == ("Queue", "q", "q", v.UNADMITTED)
    assert dict(one.cards) == {H200: 4}
    assert "charged for 2 pods that never passed its gate" in one.why
    assert section.complete


def test_in_a_namespace_only_its_pods() -> None:
    (one,) = past_section(CheckedCluster(LEDGER, "other")).findings
    assert dict(one.cards) == {H200: 2}
    assert past_section(CheckedCluster(LEDGER, "empty")).findings == []


def test_pods_that_may_not_be_listed() -> None:
    read = CheckedCluster(a_ledger(NODE, QUEUE))
    read.unread["pods"] = "403 Forbidden: no"
    section = past_section(read)
    assert not section.complete
    assert section.notes == ["pods are not all known: pods that got past the gate may be missed"]


def test_where_a_namespace_is_asked_for_its_pods_are_all() -> None:
    read = CheckedCluster(a_ledger(NODE, QUEUE), "team")
    read.partly.add("pods")
    assert past_section(read).complete
