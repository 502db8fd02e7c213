"""D7-D9: the cluster's cards, what a node had, and who waits for a node."""

from builders import GPU, H200, H800, a_ledger, a_node, a_pod, a_queue, see
from cardquota.quota.cards import Catalog
from cardquota.quota.nodes import NodeCache


def a_cache() -> NodeCache:
    return NodeCache(Catalog())


def test_the_cluster_has_the_sum_of_what_nodes_offer() -> None:
    cache = a_cache()
    cache.see(a_node("a").with_cards(H200, 8).facts())
    cache.see(a_node("b").with_cards(H200, 4).facts())
    assert (cache.total(H200), cache.totals()) == (12, {H200: 12})
    cache.see(a_node("a").with_cards(H200, 7).facts())
    cache.drop("b")
    assert cache.total(H200) == 7
    cache.drop("a")
    assert cache.totals() == {}


def test_a_card_is_on_as_many_nodes_as_offer_it() -> None:
    """One that is shown and not offered is there, on no node; one that contradicts (D7) is not."""
    cache = a_cache()
    cache.see(a_node("a").with_cards(H200, 8).facts())
    cache.see(a_node("b").with_cards(H200, 1).facts())
    cache.see(a_node("c").with_cards(H200, 0).facts())
    cache.see(a_node("d").with_cards(H800, 0).facts())
    cache.see(a_node("e").with_cards(H200, 8, resource="other.example/gpu").facts())
    assert cache.nodes_with() == {H200: 2, H800: 0}


def test_d9_the_sum_is_exact_however_large() -> None:
    """Beyond what a float holds, and beyond 64 bits."""
    cache = a_cache()
    cache.see(a_node("a").with_cards(H200, 2**53 + 1).facts())
    cache.see(a_node("b").with_cards(H200, 2**63 - 1).facts())
    cache.see(a_node("c").with_cards(H200, 2**63 - 1).facts())
    assert cache.total(H200) == 2**64 + 2**53 - 1
    cache.drop("b")
    cache.drop("c")
    assert cache.total(H200) == 2**53 + 1


def test_a_card_never_seen_before_is_told_once() -> None:
    cache, node = a_cache(), a_node("a").with_cards(H200, 8)
    assert cache.see(node.facts()) == [GPU]
    assert cache.see(node.facts()) == []
    assert cache.see(a_node("b").with_cards(H200, 8).facts()) == []


def test_a_card_that_was_recorded_elsewhere_tells_both_resource_names() -> None:
    catalog = Catalog()
    catalog.record(H200, "old.example/gpu")
    cache = NodeCache(catalog)
    assert sorted(cache.see(a_node("a").with_cards(H200, 8).facts())) == [GPU, "old.example/gpu"]


def test_d8_a_node_that_loses_its_allocatable_keeps_its_card() -> None:
    cache, node = a_cache(), a_node("a").with_cards(H200, 8)
    cache.see(node.facts())
    cache.see(node.without_allocatable().facts())
    assert cache.total(H200) == 0
    assert cache.card_of("a", GPU) == H200


def test_d8_a_new_node_of_the_same_name_is_another() -> None:
    cache, node = a_cache(), a_node("a").with_cards(H200, 8)
    cache.see(node.facts())
    cache.see(node.without_allocatable().with_uid("another").facts())
    assert cache.card_of("a", GPU) is None


def test_a_node_that_was_relabelled_offers_its_new_card() -> None:
    cache = a_cache()
    cache.see(a_node("a").with_cards(H200, 8).facts())
    cache.see(a_node("a").with_cards(H800, 8).facts())
    assert (cache.card_of("a", GPU), cache.totals()) == (H800, {H800: 8})


def test_d9_problems_are_told_until_they_are_corrected() -> None:
    cache, bad = a_cache(), a_node("a").with_cards(H200, "many")
    cache.see(bad.facts())
    assert list(cache.problems()) == [("a", "allocatable nvidia.com/gpu: <many> is not a quantity")]
    cache.see(bad.offering(8).facts())
    assert list(cache.problems()) == []


def test_d9_whether_other_cards_of_a_node_count_is_told_and_told_again_when_it_changes() -> None:
    def told() -> list[bool]:
        return [cache.counts_others(facts.name) for facts, _ in iter(cache.take_report, None)]

    cache = a_cache()
    bad = a_node("a").sharing(H800, 8, "81559", replicas="0")
    cache.see(bad.offering(0).facts())
    assert told() == [False]
    cache.see(bad.offering(4).facts())
    assert told() == [True]
    cache.see(bad.offering(5).facts())
    assert told() == []
    cache.see(bad.offering(0).facts())
    assert told() == [False]
    cache.see(bad.offering(4).labelled(f"{GPU}.replicas", "2").facts())
    assert told() == [False]
    assert list(cache.problems()) == []


def test_totals_that_changed_are_told_once_with_what_they_were() -> None:
    cache, node = a_cache(), a_node("a").with_cards(H200, 8)
    cache.see(node.facts())
    assert cache.take_totals() == {H200: 0}
    assert cache.take_totals() == {}
    cache.see(node.labelled("zone", "a").facts())
    assert cache.take_totals() == {}
    cache.see(node.offering(7).facts())
    cache.see(node.offering(6).facts())
    assert cache.take_totals() == {H200: 8}
    cache.see(node.offering(5).facts())
    cache.see(node.offering(6).facts())
    assert cache.take_totals() == {}


def test_d8_a_pod_bound_before_its_node_is_seen_gets_its_card_then() -> None:
    pod = a_pod("p").in_queue("queue").asking_for(1).on_node("a")
    ledger = a_ledger(a_queue().with_quota({H800: 1, H200: 1}), pod)
    account = ledger.account("queue")
    assert account is not None
    see(ledger, a_node("b").with_cards(H200, 8), a_node("a").with_cards(H800, 8))
    assert (account.row(H800).allocated, account.row(H200).allocated) == (1, 0)
    assert ledger.nodes.take_unresolved("a") == []


def test_a_selector_picks_nodes_that_offer_one_of_the_cards() -> None:
    """Or any, if no card is asked for."""
    cache = NodeCache(Catalog())
    for node in (
        a_node("a").with_cards(H200, 8).labelled("pool", "one"),
        a_node("b").with_cards(H200, 8),
        a_node("c").with_cards(H800, 8).labelled("pool", "one"),
        a_node("d").labelled("pool", "one"),
    ):
        cache.see(node.facts())
    pool = a_pod().on_nodes_labelled({"pool": "one"}).facts().selector
    assert cache.count_selected(pool, (H200,)) == 1
    assert cache.count_selected(pool, (H200, H800)) == 2
    assert cache.count_selected(pool, ()) == 3
    assert cache.count_selected(b"", (H200,)) == 2
