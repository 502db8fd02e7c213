"""F3, F5: why pods wait at their gate."""

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.answers import why_waits
from cardquota.quota.answers.waiting import WaitReason
from cardquota.quota.ledger import Ledger


def waiting(
    name: str = "train", cards: int = 2, *, created: str = "2026-01-02T10:00:00Z"
) -> PodBody:
    """A pod of a Job at its gate."""
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(cards).gated()
    return pod.owned_by("Job").put(created, "metadata", "creationTimestamp")


def a_cluster(*things: Body, quota: int = 1) -> Ledger:
    return a_ledger(*CARDS, a_queue().with_quota({H200: quota}), *things)


def found(ledger: Ledger) -> dict[str, WaitReason]:
    return {one.facts.name: why_waits(ledger, one) for one in ledger.pods.values() if one.gated}


def test_a_gang_that_lacks_members_or_is_about_to_start() -> None:
    gang = a_group("gang").in_queue("queue").of(2)
    ledger = a_cluster(gang, waiting("a", 1).in_group("gang"), quota=2)
    assert found(ledger)["a"].reason == v.Reason.GANG_INCOMPLETE
    see(ledger, waiting("b", 1).in_group("gang"))
    ledger.groups["team/gang"].backed_off = True
    assert found(ledger)["a"].reason == v.GATE_REFUSED
    ledger.groups["team/gang"].backed_off = False
    ledger.decisions.reserve("team/gang", "queue", "term-1", ((H200, 2),))
    assert found(ledger)["a"].text.startswith("it is about to be released")


def test_where_nothing_is_enforced() -> None:
    """There every gate is opened, whatever the quota."""
    ledger = a_cluster(waiting("audited", 1), quota=0)
    assert found(ledger)["audited"].reason == v.Reason.INSUFFICIENT_CARD
    for mode in ("off", "audit"):
        see(ledger, a_namespace("team").in_mode(mode))
        told = found(ledger)
        assert told["audited"].reason == ""
        assert told["audited"].text.startswith("no quota is enforced in its namespace")
    ledger.decisions.back_off("audited")
    assert found(ledger)["audited"].reason == v.GATE_REFUSED


def test_who_exceeds_a_limit_waits_where_nothing_is_enforced_too() -> None:
    ledger = a_cluster(waiting("large", 1).naming("x" * 20_000))
    see(ledger, a_namespace("team").in_mode("off"))
    one = found(ledger)["large"]
    assert "volcano.sh/card.name" in one.text
    assert not one.text.startswith("no quota is enforced")
