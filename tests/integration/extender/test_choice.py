"""Which node and which card a pod gets: worked examples, by the scheduler and the product."""

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ask

from .shared_cards import CARD, SharedCards, card_of

pytestmark = pytest.mark.slow
QUARTER = CARD // 4


def test_the_node_with_room_on_one_card(three_nodes: SharedCards) -> None:
    """The sum over a node's cards says nothing: what counts is one card."""
    cards = three_nodes
    cards.fill(1, [CARD, 3 * QUARTER])
    cards.fill(2, [3 * QUARTER, 3 * QUARTER])
    cards.fill(3, [CARD, 2 * QUARTER])
    assert cards.placed("half", 2 * QUARTER) == 1
    assert cards.bound("half")["spec"]["nodeName"] == cards.node(3)
    # The scheduler looks at the sum of each node itself, and asks us of those where it suffices.
    cards.create("second", 2 * QUARTER)
    ours, theirs = f"1 no single card has {2 * QUARTER} MiB free", f"Insufficient {v.GPU_MEMORY}"
    cards.told("Pod", "second", "FailedScheduling", ours, f"2 {theirs}")
    cards.create("impossible", 16_000)
    cards.told("Pod", "impossible", "FailedScheduling", f"3 {theirs}")


def test_replicas_share_one_card(three_nodes: SharedCards) -> None:
    """Bin-packing: ten of 1,024 MiB have room on one card, so they use one."""
    cards = three_nodes
    template = cards.document("unused", 1024)
    template["metadata"] = {"labels": {"app": "binpack"}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "binpack", "namespace": cards.namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "binpack"}},
            "template": {key: template[key] for key in ("metadata", "spec")},
        },
    }
    cards.plane.apply(yaml.safe_dump(deployment))
    path = f"/apis/apps/v1/namespaces/{cards.namespace}/deployments/binpack"
    ten = {"spec": {"replicas": 10}}
    assert ask(cards.plane, "PATCH", path, ten, content_type=MERGE).ok

    def places() -> set[tuple[str, int]] | None:
        pods = ask(cards.plane, "GET", cards.path()).body["items"]
        placed = [p for p in pods if p["spec"].get("nodeName")]
        if len(placed) < 10:
            return None
        return {(p["spec"]["nodeName"], card_of(p)) for p in placed}

    assert len(eventually(places, "ten pods are bound")) == 1
