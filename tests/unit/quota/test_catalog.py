"""D7, D8: which cards exist, and the one resource name behind each."""

from builders import GPU, H200, H800, a_ledger, a_node, see
from cardquota.quota.card import Card
from cardquota.quota.catalog import Catalog


def card(name: str, resource: str = GPU) -> Card:
    return Card(name, resource, ((f"{resource}.product", name),))


def test_d7_a_card_has_one_resource_name_the_first_stays() -> None:
    catalog = Catalog()
    assert catalog.learn(card(H200)) == (True, None)
    assert catalog.learn(card(H200)) == (False, None)
    new, problem = catalog.learn(card(H200, "amd.com/gpu"))
    assert not new
    assert problem == f"card <{H200}> is counted as {GPU} elsewhere, but as amd.com/gpu here"
    assert catalog.resource(H200) == GPU
    assert not catalog.counts("amd.com/gpu")


def test_d7_the_second_node_is_reported_and_not_counted() -> None:
    first = a_node("a").with_cards(H200, 8)
    second = a_node("b").with_cards(H200, 8, "amd.com/gpu")
    ledger = a_ledger(first, second)
    assert ledger.nodes.total(H200) == 8
    assert [node for node, _ in ledger.nodes.problems()] == ["b"]


def test_p5_a_node_that_shows_a_card_by_another_label_is_reported_and_not_counted() -> None:
    """Pods that ask for the card are led by the label that was there first."""
    new = "huawei.com/npu.chip.name"
    old = "node.kubernetes.io/npu.chip.name"
    a, b, c = (a_node(name).offering(8, "huawei.com/Ascend910") for name in "abc")
    ledger = a_ledger(a.labelled(old, "910B3"), b.labelled(old, "910B3").labelled(new, "910B3"))
    assert ledger.nodes.total("910B3") == 16
    see(ledger, c.labelled(new, "910B3"))
    assert ledger.nodes.total("910B3") == 16
    ((node, problem),) = ledger.nodes.problems()
    assert node == "c"
    assert problem.startswith(f"card <910B3> is shown by the label {old} elsewhere")


def test_d8_a_card_outlives_its_nodes() -> None:
    ledger = a_ledger(a_node("a").with_cards(H200, 8))
    ledger.node_gone("a")
    assert ledger.catalog.resource(H200) == GPU
    assert ledger.nodes.totals() == {}


def test_p4_a_queues_status_keeps_the_resource_name_over_a_restart() -> None:
    catalog = Catalog()
    assert catalog.record(H200, GPU)
    assert not catalog.record(H200, GPU)
    assert catalog.resource(H200) == GPU
    assert catalog.counts(GPU)
    assert catalog.card(H200) is None


def test_d7_of_two_records_the_first_stays() -> None:
    catalog = Catalog()
    catalog.record(H200, GPU)
    assert not catalog.record(H200, "amd.com/gpu")
    assert catalog.resource(H200) == GPU


def test_a_node_beats_a_record() -> None:
    catalog = Catalog()
    catalog.record(H200, "old.example/gpu")
    catalog.learn(card(H200))
    assert catalog.resource(H200) == GPU
    assert not catalog.record(H200, "old.example/gpu")


def test_d7_what_was_recorded_decides_between_what_nodes_show() -> None:
    catalog = Catalog()
    assert catalog.learn(card(H200, "amd.com/gpu")) == (True, None)
    assert catalog.learn(card(H800, "amd.com/gpu")) == (True, None)
    assert catalog.learn(card(H200))[1] is not None
    before = catalog.version
    assert catalog.record(H200, GPU)
    assert catalog.version != before
    assert catalog.card(H200) == card(H200)
    assert [c.name for c in catalog.cards_of("amd.com/gpu")] == [H800]
    assert [c.name for c in catalog.cards_of(GPU)] == [H200]
    assert catalog.learn(card(H200)) == (False, None)
    assert catalog.learn(card(H200, "amd.com/gpu"))[1] is not None


def test_d7_a_resource_name_that_counts_nothing_any_more_is_none() -> None:
    catalog = Catalog()
    assert catalog.record(H200, GPU)
    assert catalog.learn(card(H200, "other.example/gpu")) == (True, None)
    assert not catalog.counts(GPU)
    assert catalog.learn(card(H200)) == (True, None)
    assert catalog.counts(GPU)
    assert not catalog.counts("other.example/gpu")


def test_cards_of_a_resource_and_of_a_product() -> None:
    catalog = Catalog()
    for name in (H800, H200):
        catalog.learn(card(name))
    catalog.learn(card(f"{H200}/mig-1g.18gb-mixed", "nvidia.com/mig-1g.18gb"))
    assert [c.name for c in catalog.cards_of(GPU)] == [H800, H200]
    assert catalog.cards_of("amd.com/gpu") == ()
    assert catalog.shows_product(H200)
    assert not catalog.shows_product("NVIDIA-H2")
