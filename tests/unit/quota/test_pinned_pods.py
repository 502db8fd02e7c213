"""P3: pods that wait are read anew when the nodes change that their selector picks."""

import pytest

from builders import GPU, H200, H800, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody

QUEUE = a_queue("red").with_quota({H200: 4, H800: 2})
BIG = a_node("big").with_cards(H200, 8).labelled("pool", "h200")
SMALL = a_node("small").with_cards(H800, 8).labelled("pool", "h800")
SPARE = a_node("spare").with_cards(H800, 8)
POOL = a_pod("p").in_queue("red").asking_for(1).on_nodes_labelled({"pool": "h800"})
FIELDS = [{"key": "metadata.name", "operator": "In", "values": ["small"]}]
REQUIRED = {"nodeSelectorTerms": [{"matchFields": FIELDS}]}
NAMED = POOL.with_spec(
    nodeSelector={},
    affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": REQUIRED}},
)


@pytest.mark.parametrize("pod", [POOL, NAMED, POOL.gated(), NAMED.gated()])
def test_p3_a_waiting_pod_follows_the_nodes_that_are_there(pod: PodBody) -> None:
    ledger = a_ledger(BIG, SPARE, QUEUE, pod)
    assert dict(ledger.pods[pod.uid].charge) == {H200: 1}
    see(ledger, SMALL)
    assert dict(ledger.pods[pod.uid].charge) == {H800: 1}
    ledger.node_gone("small")
    assert dict(ledger.pods[pod.uid].charge) == {H200: 1}
    see(ledger, SMALL)
    assert dict(ledger.pods[pod.uid].charge) == {H800: 1}
    see(ledger, SMALL.labelled(f"{GPU}.product", H200))
    assert dict(ledger.pods[pod.uid].charge) == {H200: 1}


def test_p3_a_pod_that_is_bound_or_gone_depends_on_no_node() -> None:
    ledger = a_ledger(BIG, SMALL, QUEUE, POOL.gated(), NAMED.with_uid("q").gated())
    see(ledger, POOL.on_node("small").at_revision(2))
    ledger.pod_gone("q")
    see(ledger, SMALL.labelled("pool", "other"))
    assert dict(ledger.pods[POOL.uid].charge) == {H800: 1}
    assert ledger.nodes.take_moved() == []
