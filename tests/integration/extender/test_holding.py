"""Who holds a card, as both replicas count it, while pods and nodes come and go."""

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ask

from .device_plugin import DevicePlugin
from .shared_cards import CARD, HOLDER, SharedCards, card_of, inspected

pytestmark = pytest.mark.slow
LISTS = "/api/v1/namespaces/kube-system/configmaps"


def agree(cards: SharedCards, used: list[int]) -> None:
    eventually(
        lambda: [cards.used(1, replica) for replica in (0, 1)] == [used, used],
        f"both replicas count {used}",
    )


def states(cards: SharedCards) -> dict[str, str]:
    row = inspected(cards.plane, 1, cards.node(1))
    assert row is not None
    return {pod["name"]: pod["state"] for card in row["cards"] for pod in card["pods"]}


def test_the_device_plugin_gives_cards(one_node: SharedCards) -> None:
    """In the order of the placements, also over its own crash; the count does not move."""
    for number in range(4):
        one_node.placed(f"p{number}", 1000 + number)
    agree(one_node, [4006, 0])
    assert DevicePlugin(one_node.plane, one_node.node(1)).give(2) == ["p0", "p1"]
    again = DevicePlugin(one_node.plane, one_node.node(1))
    # The next pod is placed while two others wait.
    one_node.placed("p4", 1004)
    assert again.give() == ["p2", "p3", "p4"]
    assert again.waiting() == []
    eventually(lambda: set(states(one_node).values()) == {"assigned"}, "all are given")
    agree(one_node, [5010, 0])
    assert one_node.agree(1)


def test_placements_of_a_node_have_an_order(one_node: SharedCards) -> None:
    """Bound all at once, no two have the same time, though the plugin rewrites some."""
    plugin = DevicePlugin(one_node.plane, one_node.node(1))
    for number in range(12):
        one_node.create(f"p{number}", 1500)
    pods = [one_node.bound(f"p{number}") for number in range(12)]
    times = {pod["metadata"]["annotations"][v.GPU_MEMORY_ASSUMED_AT] for pod in pods}
    assert len(times) == 12
    assert len(plugin.give()) == 12
    eventually(lambda: one_node.agree(1), "the replicas say what the pods say")
    assert max(one_node.used(1)) <= CARD
    assert sum(one_node.used(1)) == 12 * 1500


def test_a_terminating_pod_holds_its_card(one_node: SharedCards) -> None:
    """Its containers may run until it is gone."""
    card = one_node.placed("ending", 9000, held=True)
    assert ask(one_node.plane, "DELETE", one_node.path("ending")).ok
    eventually(lambda: states(one_node).get("ending") == "terminating", "it is seen ending")
    assert one_node.placed("next", 9000) != card
    one_node.create("third", 9000)
    one_node.told("Pod", "third", "FailedScheduling", "no single card has 9000 MiB free")
    agree(one_node, [9000, 9000])
    body = {"metadata": {"$deleteFromPrimitiveList/finalizers": [HOLDER]}}
    strategic = "application/strategic-merge-patch+json"
    path = one_node.path("ending")
    assert ask(one_node.plane, "PATCH", path, body, content_type=strategic).ok
    assert card_of(one_node.bound("third")) == card


def test_a_list_of_broken_cards(one_node: SharedCards) -> None:
    """A card on it gets no pod. A list that cannot be read changes nothing, and is reported."""
    node = one_node.node(1)
    name = f"{v.UNHEALTHY_CARDS_OF}{node}"
    written = {"metadata": {"name": name}, "data": {v.UNHEALTHY_CARDS_KEY: "0"}}

    def health() -> list[list[bool]]:
        rows = [inspected(one_node.plane, replica, node) for replica in (0, 1)]
        return [[card["healthy"] for card in row["cards"]] for row in rows if row]

    def rewrite(text: str) -> None:
        body = {"data": {v.UNHEALTHY_CARDS_KEY: text}}
        path = f"{LISTS}/{name}"
        assert ask(one_node.plane, "PATCH", path, body, content_type=MERGE).ok

    assert ask(one_node.plane, "POST", LISTS, written).ok
    try:
        eventually(lambda: health() == [[False, True]] * 2, "card 0 is out")
        assert one_node.placed("beside", 1000) == 1
        rewrite("1, 2")
        words = "<1, 2> is not a list of cards"
        one_node.told("Node", node, v.CARD_MEMORY_UNREADABLE, words)
        assert health() == [[False, True]] * 2
        assert one_node.placed("still-beside", 1000) == 1
    finally:
        assert ask(one_node.plane, "DELETE", f"{LISTS}/{name}").ok
    eventually(lambda: health() == [[True, True]] * 2, "card 0 is back")


def test_a_node_made_again_under_its_name(one_node: SharedCards) -> None:
    """The pods that are bound to it hold their cards; if they are gone nothing is held."""
    one_node.placed("stays", 9000, held=True)
    node = one_node.node(1)
    one_node.delete_node(node)

    def gone() -> bool:
        rows = [inspected(one_node.plane, replica, node) for replica in (0, 1)]
        return all(row is None or row["kind"] == "gone" for row in rows)

    eventually(gone, "the node is gone")
    one_node.add_node(1)
    agree(one_node, [9000, 0])
    assert one_node.placed("next", 9000) == 1
    body = {"metadata": {"finalizers": None}}
    path = one_node.path("stays")
    assert ask(one_node.plane, "PATCH", path, body, content_type=MERGE).ok
    one_node.delete("stays")
    agree(one_node, [0, 9000])
