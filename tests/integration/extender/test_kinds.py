"""Pods by card and by memory on one node, and pods that only we can wake."""

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ask

from .shared_cards import CARD, SharedCards, inspected

pytestmark = pytest.mark.slow
GPU = "nvidia.com/gpu"
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


def test_b3_pods_by_card_and_by_memory_never_meet(one_node: SharedCards) -> None:
    """The node offers both. The first pod decides, until the last of its kind is gone."""
    cards, node = one_node, one_node.node(1)
    offers = {"status": {"capacity": {GPU: "2"}, "allocatable": {GPU: "2"}}}
    path = f"/api/v1/nodes/{node}/status"
    assert ask(cards.plane, "PATCH", path, offers, content_type=MERGE).ok

    def undecided() -> bool:
        rows = [inspected(cards.plane, replica, node) for replica in (0, 1)]
        return all(row is not None and row["kind"] == "undecided" for row in rows)

    eventually(undecided, "it offers both")
    cards.placed("shared", 1024)
    whole = cards.document("whole", 0)
    whole["spec"]["containers"][0]["resources"] = {"limits": {GPU: "1"}}
    assert ask(cards.plane, "POST", cards.path(), whole).ok
    cards.told("Pod", "whole", "FailedScheduling", "1 node gives out card memory")
    cards.delete("shared")
    notes = cards.bound("whole")["metadata"]["annotations"]
    assert v.TERM in notes
    assert v.GPU_MEMORY_CARD not in notes
    cards.create("late", 1024)
    cards.told("Pod", "late", "FailedScheduling", "1 node gives out whole cards")
    cards.delete("whole")
    cards.bound("late")


def test_b4_a_pod_is_woken_when_a_card_is_whole_again(one_node: SharedCards) -> None:
    """kube-scheduler does not know the list: it would try again after five minutes."""
    cards, node = one_node, one_node.node(1)
    name = f"unhealthy-gpu-{node}"
    body = {"metadata": {"name": name}, "data": {"gpus": "0,1"}}
    assert ask(cards.plane, "POST", CONFIG_MAPS, body).ok
    try:

        def broken() -> bool:
            rows = [inspected(cards.plane, replica, node) for replica in (0, 1)]
            return all(row and not any(c["healthy"] for c in row["cards"]) for row in rows)

        eventually(broken, "both cards are broken")
        cards.create("p", CARD)
        cards.told("Pod", "p", "FailedScheduling", f"1 no healthy card has {CARD} MiB")
    finally:
        assert ask(cards.plane, "DELETE", f"{CONFIG_MAPS}/{name}").ok
    cards.bound("p")
