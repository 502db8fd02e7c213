"""P4, P5: a card whose pool is scaled to zero is charged, and led to, as what its name says."""

import pytest

from builders import GPU, H200, H800, a_ledger, a_node, a_pod, a_queue
from builders.node import NodeBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.control.release import gate_patch
from cardquota.quota import Reason, Stamp
from cardquota.quota.cards import counts_form
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.vocabulary import SLOT

SLICE = "NVIDIA-B300/mig-1g.18gb-mixed"
PRODUCT = f"{GPU}.product"
NODE = a_node("h200-a").with_cards(H200, 8)
REPORTED = (
    a_queue("red")
    .with_quota({H200: 4, H800: 2})
    .having_reported(H200, 4, GPU)
    .having_reported(H800, 2, GPU)
)
STOCK = a_pod().in_queue("red").asking_for(1)


def charged(ledger: Ledger, pod: PodBody) -> tuple[tuple[str, int], ...]:
    verdict = judge_create(ledger, pod.facts())
    assert verdict.fits, verdict.text
    return verdict.cards


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
        ("nvidia.com/gpu", "B300/slot", False),
        (SLOT, "B300/slot", True),
        (SLOT, "B300", False),
        (SLOT, "B300/mps-80g*1/2", False),
        (SLOT, "B300/gpu-mem", False),
    ],
)
def test_p4_a_resource_counts_only_cards_of_its_form(resource: str, card: str, can: bool) -> None:
    assert counts_form(resource, card) is can


@pytest.mark.parametrize("nodes", [(), (NODE,)])
@pytest.mark.parametrize("affinity", [False, True])
def test_p3_a_stock_pod_that_selects_a_product_at_zero_is_released_for_it(
    nodes: tuple[NodeBody, ...], *, affinity: bool
) -> None:
    """Or no autoscaler would ever bring its node: whatever other nodes are there."""
    ledger = a_ledger(*nodes, REPORTED)
    pod = STOCK.on_nodes_labelled({PRODUCT: H800})
    if affinity:
        pod = STOCK.requiring([(PRODUCT, "In", [H800])])
    assert charged(ledger, pod) == ((H800, 1),)


def test_p3_products_of_nodes_and_of_status_are_taken_in_the_selectors_order() -> None:
    ledger = a_ledger(NODE, REPORTED)
    pod = STOCK.requiring([(PRODUCT, "In", [H800, H200])])
    assert ledger.request_of(pod.facts(), "red").cards == (H800, H200)
    assert ledger.request_of(
        STOCK.requiring([(PRODUCT, "NotIn", [H200])]).facts(), "red"
    ).cards == (H800,)


@pytest.mark.parametrize("queue", [REPORTED, a_queue("red").with_quota({H200: 4, H800: 2})])
def test_p5_a_named_card_at_zero_must_agree_with_the_selector(queue: QueueBody) -> None:
    ledger = a_ledger(NODE, queue)
    pod = STOCK.on_nodes_labelled({PRODUCT: H200})
    refused = judge_create(ledger, pod.naming(H800).facts())
    assert refused.reason is Reason.INVALID_CARD
    assert f"{PRODUCT} {H200}" in refused.text
    assert charged(ledger, pod.naming(f"{H800}|{H200}")) == ((H200, 1),)


@pytest.mark.parametrize("share", ["mps-48g*1/2", "shared-48g*1/2"])
def test_p5_a_share_at_zero_is_led_to_nodes_of_its_strategy_alone(share: str) -> None:
    name, shared = f"L20/{share}", f"{GPU}.shared"
    ledger = a_ledger(a_queue("red").with_quota({name: 8}))
    pod = a_pod().in_queue("red").naming(name).asking_for(1, shared)
    strategy = f"{GPU}.sharing-strategy"
    assert charged(ledger, pod) == ((name, 1),)
    other = "time-slicing" if share.startswith("mps") else "mps"
    refused = judge_create(ledger, pod.on_nodes_labelled({strategy: other}).facts())
    assert refused.reason is Reason.INVALID_CARD


def test_p4_a_device_that_is_no_card_is_not_charged_as_one() -> None:
    ledger = a_ledger(NODE, a_queue("red").with_quota({"X9": 2}))
    pod = a_pod().in_queue("red").naming("X9")
    refused = judge_create(ledger, pod.asking_for(1, "rdma/hca").facts())
    assert refused.reason is Reason.INVALID_CARD
    assert "no container asks for a card resource" in refused.text
    assert "requested" not in refused.text
    assert charged(ledger, pod.asking_for(1, "new.example/xpu")) == (("X9", 1),)
    both = pod.asking_for(1, "rdma/hca").asking_for(2, "new.example/xpu")
    assert charged(ledger, both) == (("X9", 2),)


def test_q4_a_status_of_an_earlier_release_makes_no_card_of_cpu() -> None:
    queue = a_queue("red").with_quota_text("{").having_reported("cpu", 3, GPU)
    ledger = a_ledger(NODE, queue)
    assert ledger.request_of(STOCK.facts(), "red").cards == ()
