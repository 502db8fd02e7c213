"""D7, D8: which cards exist, and the one resource name behind each."""

from builders import GPU, H200, H800, a_ledger, a_node
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


def test_p5_nodes_that_show_a_card_by_different_labels_are_all_led_to() -> None:
    """As while a maker's labeller is brought up to date, node by node."""
    old = Card("910B3", "huawei.com/Ascend910", (("node.kubernetes.io/npu.chip.name", "910B3"),))
    new = Card("910B3", "huawei.com/Ascend910", (("huawei.com/npu.chip.name", "910B3"),))
    found = []
    for order in ((old, new), (new, old, new)):
        catalog = Catalog()
        assert [catalog.learn(one) for one in order[:2]] == [(True, None)] * 2
        version = catalog.version
        assert [catalog.learn(one) for one in order] == [(False, None)] * len(order)
        assert catalog.version == version
        found.append(catalog.card("910B3"))
    assert found[0] == found[1]
    assert found[0] is not None
    assert set(found[0].ways) == {old.labels, new.labels}
    assert len(catalog.cards_of("huawei.com/Ascend910")) == 1


def test_d7_the_second_node_is_reported_and_not_counted() -> None:
    first = a_node("a").with_cards(H200, 8)
    second = a_node("b").with_cards(H200, 8, "amd.com/gpu")
    ledger = a_ledger(first, second)
    assert ledger.nodes.total(H200) == 8
    assert [node for node, _ in ledger.nodes.problems()] == ["b"]


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


def test_cards_of_a_resource_and_of_a_product() -> None:
    catalog = Catalog()
    for name in (H800, H200):
        catalog.learn(card(name))
    catalog.learn(card(f"{H200}/mig-1g.18gb-mixed", "nvidia.com/mig-1g.18gb"))
    assert [c.name for c in catalog.cards_of(GPU)] == [H800, H200]
    assert catalog.cards_of("amd.com/gpu") == ()
    assert catalog.shows_product(H200)
    assert not catalog.shows_product("NVIDIA-H2")
