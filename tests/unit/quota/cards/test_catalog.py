"""D7, D8: which cards exist, and the one resource name behind each."""

from hypothesis import given
from hypothesis import strategies as st

from builders import a_ledger, a_node, a_pod, a_queue, see
from builders.node import NodeBody

ASCEND = "huawei.com/Ascend910"
OLD = "node.kubernetes.io/npu.chip.name"
NEW = "huawei.com/npu.chip.name"


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
