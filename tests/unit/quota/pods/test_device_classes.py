"""P7: devices of a DeviceClass, asked for as a resource, are as those of `spec.resourceClaims`."""

import pytest

from builders import CARDS, GPU, H200, Body, a_ledger, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger

IMPLICIT = "deviceclass.resource.kubernetes.io/npu"
GIVEN = "example.com/npu"
RED = a_queue("red").with_quota({H200: 4})


def a_cluster(*things: Body, **classes: str) -> Ledger:
    """With an enforced namespace `team`, and DeviceClasses by name and extended resource name."""
    ledger = a_ledger(*CARDS, RED, a_namespace("team").in_mode("enforced"), *things)
    for name, resource in classes.items():
        ledger.device_class_seen(name, resource)
    return ledger


def asking(resource: str, amount: int | str = 1) -> PodBody:
    return a_pod("a").asking_for(amount, resource)


def refused(ledger: Ledger, pod: PodBody) -> bool:
    return judge_create(ledger, pod.facts()).reason is Reason.DEVICE_CLAIMED


def test_admitted_elsewhere_and_known_for_what_it_is() -> None:
    ledger = a_ledger(*CARDS, RED)
    ledger.device_class_seen("npu", GIVEN)
    for resource in (IMPLICIT, GIVEN):
        facts = asking(resource).in_queue("red").facts()
        assert judge_create(ledger, facts).fits
        assert ledger.claims_devices(facts)
    assert not ledger.claims_devices(asking("other.example/device").facts())


def test_every_container_counts_and_limits_as_requests() -> None:
    ledger = a_cluster()
    plain = {"name": "main"}
    asks = {"name": "c", "resources": {"requests": {IMPLICIT: "1"}}}
    assert refused(ledger, a_pod().with_spec(containers=[plain, asks]))
    assert refused(ledger, a_pod().with_spec(containers=[plain], initContainers=[asks]))


@pytest.mark.parametrize(
    ("amount", "claims"), [(0, False), ("0", False), ("1m", True), ("some", True)]
)
def test_nothing_of_it_is_no_claim_and_what_cannot_be_read_may_be(
    amount: int | str, claims: bool
) -> None:
    assert refused(a_cluster(), asking(IMPLICIT, amount)) is claims


def test_what_a_vendor_row_or_a_node_counts_is_a_card_whatever_class_gives_it() -> None:
    """A device plugin and a driver may have the same name for it: the card's quota holds."""
    node = a_node("xpu").with_cards("X9", 8, "new.example/xpu")
    ledger = a_cluster(node, a_queue("blue").with_quota({"X9": 1}), one=GPU, two="new.example/xpu")
    assert judge_create(ledger, asking(GPU).naming(H200).in_queue("red").facts()).fits
    assert judge_create(ledger, asking("new.example/xpu").in_queue("blue").facts()).fits
    many = judge_create(ledger, asking("new.example/xpu", 2).in_queue("blue").facts())
    assert many.reason is Reason.INSUFFICIENT_CARD


def test_what_a_pod_names_as_a_card_is_charged_as_one() -> None:
    """P4: its gate opens to nodes with that card's label alone, so it gets no other device."""
    ledger = a_cluster(a_queue("blue").with_quota({"X9": 1}), npu=GIVEN)
    pod = asking(GIVEN).naming("X9").in_queue("blue")
    assert judge_create(ledger, pod.facts()).cards == (("X9", 1),)


def test_classes_come_and_change_and_go() -> None:
    ledger = a_cluster(a=GIVEN, b=GIVEN, c="")
    ledger.device_class_gone("a")
    assert refused(ledger, asking(GIVEN))
    ledger.device_class_seen("b", "example.com/other")
    assert not refused(ledger, asking(GIVEN))
    assert refused(ledger, asking("example.com/other"))
    ledger.device_class_seen("b", "")
    ledger.device_class_gone("b")
    ledger.device_class_gone("never-seen")
    assert not refused(ledger, asking("example.com/other"))
    assert not ledger.device_classes
