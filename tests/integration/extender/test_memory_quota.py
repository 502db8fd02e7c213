"""B10: queues with a row for the memory of shared cards, and clusters where none has one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from builders import a_node, a_queue
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import Object, ask
from integration.own_node import a_node_of
from integration.team import Team, gates, notes, of_a_job

pytestmark = pytest.mark.slow
PART = 8_138
"""MiB: half of a card."""
PODS, HELD = "cardquota_unlimited_memory_pods", "cardquota_unlimited_memory"


@dataclass(frozen=True)
class OneCard:
    """A node of the test's own with one card of two such parts, of a model of its own."""

    team: Team
    product: str

    @property
    def row(self) -> str:
        return f"{self.product}/gpu-mem"

    def asking(self, name: str, *, queue: bool = True) -> PodBody:
        pod = self.team.a_pod(name, card=self.row if queue else None).asking_for_memory(PART)
        if queue:
            return pod
        # Nothing of ours but what it asks for: it goes to its node by its own selector.
        return pod.in_queue(None).on_nodes_labelled({v.GPU_PRODUCT: self.product})

    def bound(self, name: str) -> Object:
        """A bound pod: it has a card of its node."""
        self.team.until_bound(name)
        pod = self.team.pod(name)
        assert pod["spec"]["nodeName"] == self.product.lower()
        assert notes(pod)[v.GPU_MEMORY_CARD] == "0"
        return pod


@pytest.fixture
def card(extender_plane: Cluster, namespace: str, unique: str) -> Iterator[OneCard]:
    team = Team(extender_plane, namespace, unique)
    product = f"{unique}-a10"
    node = a_node(product).labelled(v.GPU_PRODUCT, product).sharing_memory(2 * PART, 1)

    def ready() -> bool:
        node: Object = ask(extender_plane, "GET", f"/api/v1/nodes/{product}").body
        found = [c for c in node["status"].get("conditions", ()) if c["type"] == "Ready"]
        return bool(found) and found[0]["status"] == "True" and not node["spec"].get("taints")

    with a_node_of(team, node):
        team.until(ready, f"{product} ready")
        yield OneCard(team, product)
        for pod in team.pods():
            ask(extender_plane, "DELETE", pod["metadata"].get("selfLink") or _path(pod))
        # Not while a replica still counts the pods (Q8), and a queue that is left has its row: card
        # memory would stay limited for all tests that come after.
        for queue in map(team.queue_name, ("q", "other")):
            team.until(lambda q=queue: team.delete(a_queue(q)).code in (200, 404), f"{queue} gone")


def _path(pod: Object) -> str:
    meta = pod["metadata"]
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}?gracePeriodSeconds=0"


def test_b10_pods_wait_for_the_memory_of_their_queue(card: OneCard) -> None:
    """Two of three get it; the third waits at its gate, and goes when one of them is gone."""
    team = card.team
    team.has_queue({card.row: 2 * PART})
    for name in ("a", "b", "c"):
        assert (reply := team.create(of_a_job(card.asking(name)))).ok, reply
        if name != "c":
            pod = card.bound(name)
            assert json.loads(notes(pod)[v.ALLOCATED]) == {card.row: PART}

    team.until_row(card.row, requested=3 * PART, allocated=2 * PART, quota=2 * PART)
    assert gates(team.pod("c")) == [v.GATE]
    assert team.delete(card.asking("a")).ok
    card.bound("c")


def test_b9_in_audit_mode_none_is_needed(card: OneCard) -> None:
    """Neither gated nor refused; it is told."""
    team = card.team
    team.set_mode(v.NAMESPACE_AUDIT)
    team.until(lambda: team.create(card.asking("free", queue=False)).ok, "audit is known")
    assert v.TERM in notes(card.bound("free"))  # the extender's own


def test_b10_who_has_no_memory_is_refused_and_told_why(card: OneCard) -> None:
    """A service over its quota, one in a queue without a row, one that names the product alone; and
    where no queue has a row all of them (B9).
    """
    team = card.team
    queue = team.has_queue({})
    _, text = team.refused(card.asking("free", queue=False))
    assert "has no queue: name one whose quota has card memory" in text, text
    _, text = team.refused(card.asking("other").naming(None))
    assert v.GPU_MEMORY in text, text
    team.has_queue({}, "other")
    team.set_quota({card.row: PART})
    team.until(lambda: team.create(card.asking("a")).ok, "the row is seen")
    card.bound("a")
    reason, text = team.refused(card.asking("b"))
    assert text.startswith(
        f"Queue <{queue}> has insufficient <{card.row}> quota: requested <{PART}>, "
        f"total would be <{2 * PART}>, but capability is <{PART}>"
    ), (reason, text)
    _, text = team.refused(card.asking("b").in_queue(team.queue_name("other")))
    assert card.row in text, text
    _, text = team.refused(card.asking("b").naming(card.product))
    assert f"write <{card.row}>" in text, text
