"""D7-D9: the cluster's cards, what a node had, and who waits for a node."""

from builders import GPU, H200, H800, a_node
from cardquota.quota.cards import Catalog
from cardquota.quota.nodes import NodeCache


def a_cache() -> NodeCache:
    return NodeCache(Catalog())


def test_a_card_is_on_as_many_nodes_as_offer_it() -> None:
    """One that is shown and not offered is there, on no node; one that contradicts (D7) is not."""
    cache = a_cache()
    cache.see(a_node("a").with_cards(H200, 8).facts())
    cache.see(a_node("b").with_cards(H200, 1).facts())
    cache.see(a_node("c").with_cards(H200, 0).facts())
    cache.see(a_node("d").with_cards(H800, 0).facts())
    cache.see(a_node("e").with_cards(H200, 8, resource="other.example/gpu").facts())
    assert cache.nodes_with() == {H200: 2, H800: 0}


def test_d9_whether_other_cards_of_a_node_count_is_told_and_told_again_when_it_changes() -> None:
    def told() -> list[bool]:
        return [others for _, _, others in iter(cache.take_report, None)]

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
    assert list(cache.problems) == []


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
