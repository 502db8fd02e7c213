"""D1-D9, Q3, Q4, P4: the list of cards is what the operator counts, and says what it does not."""

from typing import Any

from builders import GPU, H200, H200_MIG, H800, Body, a_node, a_queue
from builders.node import NodeBody
from cardquota.cli.commands.cards import CardCount, CardLine, CardList
from cardquota.cli.read_ledger import kinds_of
from cardquota.cluster.watch import Unreadable
from cardquota.settings import Settings

MIG = "nvidia.com/mig-1g.18gb"


def counted(*things: Body, settings: Settings | None = None) -> CardCount:
    count = CardCount(settings or Settings())
    for thing in things:
        body: Any = thing
        take(count, "nodes" if isinstance(thing, NodeBody) else "queues", body.wire())
    return count


def take(count: CardCount, kind: str, found: Any) -> None:
    count.read.take(kinds_of(count.read.ledger)[kind], found)


def listed(*things: Body) -> CardList:
    return counted(*things).listed()


def problems(found: CardList) -> list[tuple[str, str]]:
    return [(entry["node"], entry["problem"]) for entry in found.not_counted]


def line(name: str, resource: str | None, allocatable: int, nodes: int = 1) -> CardLine:
    """Of a cluster without quotas."""
    return CardLine(name, resource, allocatable, nodes, 0, 0, 0)


def test_cards_of_all_nodes_and_quotas_of_all_queues_are_added() -> None:
    """Q3: a quota of 0 is a row, but promises nothing."""
    found = listed(
        a_node("a").with_cards(H200, 8),
        a_node("b").with_cards(H200, 4),
        a_node("c").with_cards(H200, 0),
        a_node("cpu"),
        a_queue("x").with_quota({H200: 10}),
        a_queue("y").with_quota({H200: 5}),
        a_queue("z").with_quota({H200: 0}),
    )
    assert found.cards == [CardLine(H200, GPU, 12, 2, 15, 2, 3, queue_names=("x", "y"))]
    assert (found.nodes, found.queues) == (4, 3)


def test_d6_a_card_that_the_plain_rule_alone_knows_is_told() -> None:
    """Whether a node shows it or a queue's status recorded it; parts of it too."""
    xpu = "new.example/xpu"
    found = listed(
        a_node("a").with_cards(H200, 8).with_slices("1g.18gb", 1),
        a_node("b").with_cards("X1", 8, xpu).offering(1, "new.example/mig-1g.5gb"),
        a_queue("x").with_quota({"X2": 2, H800: 1, "Typo": 1}).having_reported("X2", 2, xpu),
    )
    told = [(entry["card"], entry["resource"]) for entry in found.without_row]
    assert told == [("X1", xpu), ("X1/mig-1g.5gb-mixed", "new.example/mig-1g.5gb"), ("X2", xpu)]
    problem = found.without_row[0]["problem"]
    assert problem.startswith(f"{xpu} is in no vendor row")
    assert "add a row to `vendors`" in problem
    assert "`cardquota manifests`" in problem


def test_p4_a_card_that_no_node_has_is_listed_by_its_quota() -> None:
    """Its resource is the one that a status recorded, if any."""
    found = listed(
        a_node().with_cards(H200, 8),
        a_queue().with_quota({H800: 2, "NVIDIA-H2000": 1}).having_reported(H800, 2, GPU),
    )
    assert found.cards == [
        line(H200, GPU, 8),
        CardLine("NVIDIA-H2000", None, 0, 0, 1, 1, 1, queue_names=("queue",)),
        CardLine(H800, GPU, 0, 0, 2, 1, 2, queue_names=("queue",)),
    ]


def test_a_card_that_its_nodes_show_and_do_not_offer_is_listed() -> None:
    found = listed(a_node().with_cards(H200, 0).with_slices("1g.18gb", 7))
    assert found.cards == [line(H200, GPU, 0, nodes=0), line(H200_MIG, MIG, 7)]


def test_objects_that_are_none_are_told_and_hurt_nobody_else() -> None:
    count = counted(
        a_node("odd").with_cards(H200, 8).put("x", "metadata", "resourceVersion"),
        a_queue("odd").with_quota({H200: 1}).put("x", "metadata", "resourceVersion"),
        a_node("good").with_cards(H200, 8),
        a_queue("good").with_quota({H200: 1}),
    )
    for kind in ("nodes", "queues"):
        take(count, kind, Unreadable(kind, "", "odder", "no object"))
    found = count.listed()
    assert found.cards == [CardLine(H200, GPU, 8, 1, 1, 1, 0, queue_names=("good",))]
    assert (found.nodes, found.queues) == (3, 3)
    assert [node for node, _ in problems(found)] == ["odd", "odder"]
    assert problems(found)[1][1] == "the node cannot be read: no object"
    assert [found["queue"] for found in found.unreadable_quotas] == ["odd", "odder"]
    assert found.unreadable_quotas[1]["problem"] == "the queue cannot be read: no object"
