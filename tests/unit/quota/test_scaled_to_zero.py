"""P4, P5: a card whose pool is scaled to zero is charged, and led to, as what its name says."""

import pytest

from builders import a_ledger, a_pod, a_queue
from cardquota.control.gate import gate_patch
from cardquota.quota.judgement import judge_create
from cardquota.quota.stamp import Stamp
from cardquota.quota.vendor import counts_form
from cardquota.quota.vocabulary import Reason

SLICE = "NVIDIA-B300/mig-1g.18gb-mixed"


def test_p5_a_card_of_a_vendor_without_a_row_gets_affinity_too() -> None:
    ledger = a_ledger(
        a_queue("red").with_quota({"MXC500": 8}),
        a_pod("p").in_queue("red").naming("MXC500").asking_for(2, "metax-tech.com/gpu").gated(),
    )
    facts = ledger.pods["uid-p"].facts
    stamp = Stamp("red", (("MXC500", 2),), "t")
    required = gate_patch(ledger, facts, stamp, "metax-tech.com/gpu")["spec"]["affinity"]
    terms = required["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = terms["nodeSelectorTerms"]
    (asked,) = term.match_expressions
    assert (asked.key, asked.values) == ("metax-tech.com/gpu.product", ("MXC500",))


def test_p4_whole_cards_are_never_charged_as_slices() -> None:
    ledger = a_ledger(a_queue("red").with_quota({SLICE: 8}))
    pod = a_pod("p").in_queue("red").naming(SLICE)
    whole = judge_create(ledger, pod.asking_for(8, "nvidia.com/gpu").gated().facts())
    assert whole.reason is Reason.INVALID_CARD
    assert judge_create(ledger, pod.asking_for(8, "nvidia.com/mig-1g.18gb").gated().facts()).fits


@pytest.mark.parametrize(
    ("resource", "card", "can"),
    [
        ("nvidia.com/gpu", "B300", True),
        ("nvidia.com/gpu.shared", "B300", False),
        ("nvidia.com/mig-1g.18gb", "B300", False),
        ("nvidia.com/mig-1g.18gb", SLICE, True),
        ("nvidia.com/mig-3g.71gb", SLICE, False),
        ("nvidia.com/gpu", "B300/mps-80g*1/2", False),
        ("nvidia.com/gpu.shared", "B300/mps-80g*1/2", True),
        ("nvidia.com/gpu.shared", "B300/shared-80g*1/4", True),
    ],
)
def test_p4_a_resource_counts_only_cards_of_its_form(resource: str, card: str, can: bool) -> None:
    assert counts_form(resource, card) is can
