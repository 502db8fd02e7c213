"""D7, D8: which cards exist, and the one resource name behind each."""

from hypothesis import given
from hypothesis import strategies as st

from builders import GPU, H200, H800, a_ledger, a_node, a_pod, a_queue, see
from builders.node import NodeBody
from cardquota.quota.cards import Card, Catalog

ASCEND = "huawei.com/Ascend910"
OLD = "node.kubernetes.io/npu.chip.name"
NEW = "huawei.com/npu.chip.name"


def card(name: str, resource: str = GPU) -> Card:
    return Card(name, resource, ((f"{resource}.product", name),))


def test_d7_a_card_has_one_resource_name_the_first_stays() -> None:
    catalog = Catalog()
    assert catalog.learn(card(H200)) == (True, None)
    assert catalog.learn(card(H200)) == (False, None)
    new, problem = catalog.learn(card(H200, "amd.com/gpu"))
    assert not new
    assert problem == f"card <{H200}> is counted as {GPU} on other nodes, but as amd.com/gpu here"
    assert catalog.resource(H200) == GPU
    assert not catalog.counts("amd.com/gpu")


def test_p5_a_card_is_known_by_its_new_label_once_the_old_one_is_gone_everywhere() -> None:
    """As nodes are relabelled one by one: the last that leaves the old label takes all along."""
    a, b, c = (a_node(name).offering(8, ASCEND) for name in "abc")
    ledger = a_ledger(*(node.labelled(OLD, "910B3") for node in (a, b, c)))
    see(ledger, a.labelled(NEW, "910B3"), b.labelled(NEW, "910B3"))
    assert ledger.nodes.total("910B3") == 8
    assert {node for node, _ in ledger.nodes.problems} == {"a", "b"}
    see(ledger, c.labelled(NEW, "910B3"))
    assert ledger.nodes.total("910B3") == 24
    assert list(ledger.nodes.problems) == []
    assert not any(problems for _, problems, _ in iter(ledger.nodes.take_report, None))
    assert ledger.known_card("910B3", ASCEND).labels == ((NEW, "910B3"),)
    see(ledger, a.labelled(OLD, "910B3"))  # now this is the one that differs
    assert [node for node, _ in ledger.nodes.problems] == ["a"]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["gone", "bare", "old", "new", "both"])),
        max_size=12,
    )
)
def test_p5_all_nodes_are_counted_that_carry_the_label_of_a_card_and_never_none(
    history: list[tuple[str, str]],
) -> None:
    keys = {"bare": (), "old": (OLD,), "new": (NEW,), "both": (OLD, NEW)}
    ledger, now = a_ledger(), dict[str, tuple[str, ...]]()
    for name, state in history:
        if state == "gone":
            ledger.node_gone(name)
            now.pop(name, None)
        else:
            node = a_node(name).offering(1, ASCEND)
            for key in keys[state]:
                node = node.labelled(key, "910B3")
            see(ledger, node)
            now[name] = keys[state]
        card = ledger.catalog.card("910B3")
        known = card.labels[0][0] if card else ""
        carry = [name for name, carried in now.items() if known in carried]
        assert ledger.nodes.total("910B3") == len(carry)
        assert bool(carry) == any(now.values())


def test_pods_are_read_anew_once_a_card_is_known_by_another_label() -> None:
    """One that waits by a selector of its own, and one that is bound there, are counted then."""
    old, new = (a_node(name).offering(8, ASCEND) for name in ("old", "new"))
    waits = a_pod("w").in_queue("q").asking_for(1, ASCEND).on_nodes_labelled({NEW: "910B3"})
    bound = a_pod("b").in_queue("q").asking_for(2, ASCEND).on_node("new")
    other = a_node("other").offering(8, ASCEND).labelled(NEW, "910B2")
    queue = a_queue("q").with_quota({"910B3": 4, "910B2": 8})
    ledger = a_ledger(old.labelled(OLD, "910B3"), other, queue, waits.gated(), bound)
    see(ledger, new.labelled(NEW, "910B3"))
    assert dict(ledger.pods[bound.uid].charge) == {"910B2": 2}  # most quota: its node says nothing
    ledger.node_gone("old")
    assert dict(ledger.pods[bound.uid].charge) == {"910B3": 2}
    assert dict(ledger.pods[waits.uid].charge) == {"910B3": 1}


def test_p5_nodes_may_write_the_memory_of_the_same_share_in_several_ways() -> None:
    """A label with a unit is asked for by its values: pods are led to all nodes that have them."""
    hygon = "hygon.com/dcu"

    def node(name: str, memory: str) -> NodeBody:
        shares = a_node(name).labelled(f"{hygon}.name", "K100").labelled(f"{hygon}.vram", memory)
        shares = shares.labelled(f"{hygon}.replicas", "2").offering(1, hygon)
        return shares.offering(4, f"{hygon}.shared")

    share = "K100/mps-64g*1/2"
    waits = a_pod("p").in_queue("q").asking_for(1, f"{hygon}.shared")
    waits = waits.on_nodes_labelled({f"{hygon}.vram": "65536MiB"}).gated()
    ledger = a_ledger(node("a", "64G"), a_queue("q").with_quota({share: 1}), waits)
    assert dict(ledger.pods[waits.uid].charge) == {}
    see(ledger, node("b", "65536MiB"), node("c", "64G"), node("d", "32G"))
    memory = ledger.known_card(share, f"{hygon}.shared").memory
    assert memory is not None
    assert memory.values == ("64G", "65536MiB")
    assert ledger.nodes.total(share) == 12
    assert dict(ledger.pods[waits.uid].charge) == {share: 1}


def test_p4_a_queues_status_keeps_the_resource_name_over_a_restart() -> None:
    catalog = Catalog()
    assert catalog.record(H200, GPU)
    assert not catalog.record(H200, GPU)
    assert catalog.resource(H200) == GPU
    assert catalog.counts(GPU)
    assert catalog.card(H200) is None


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


def test_what_is_recorded_of_a_card_can_be_forgotten_until_a_node_shows_it() -> None:
    catalog = Catalog()
    catalog.record(H200, "amd.com/gpu")
    assert catalog.forget(H200)
    assert not catalog.forget(H200)
    assert not catalog.counts("amd.com/gpu")
    catalog.record(H200, "amd.com/gpu")
    catalog.learn(card(H200))
    assert not catalog.forget(H200)
    assert catalog.resource(H200) == GPU
    catalog.record(H800, "amd.com/gpu")
    assert catalog.counts("amd.com/gpu")
