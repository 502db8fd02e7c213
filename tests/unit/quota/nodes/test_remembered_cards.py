"""What is remembered of nodes' cards."""

from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.nodes import RememberedCards

NODES, RESOURCES, CARDS = ("n1", "n2", "n3"), ("a/gpu", "b/gpu"), ("A", "B")
STEPS = st.tuples(
    st.sampled_from(("put", "put", "forget", "forget_node")),
    st.sampled_from(NODES),
    st.sampled_from(RESOURCES),
    st.sampled_from(CARDS),
)


@given(st.lists(STEPS, max_size=30))
def test_d8_it_equals_a_plain_table(steps: list[tuple[str, str, str, str]]) -> None:
    found, plain = RememberedCards(), dict[tuple[str, str], str]()
    for step, node, resource, card in steps:
        if step == "put":
            found.put(node, resource, card)
            plain[node, resource] = card
        elif step == "forget":
            found.forget(node, resource)
            plain.pop((node, resource), None)
        else:
            found.forget_node(node)
            plain = {key: name for key, name in plain.items() if key[0] != node}
        for one in NODES:
            here = {r: c for (n, r), c in plain.items() if n == one}
            assert found.on(one) == here


def test_d8_nothing_is_left_of_what_is_forgotten() -> None:
    found, empty = RememberedCards(), RememberedCards()
    for node in NODES:
        found.put(node, "a/gpu", "A")
        found.put(node, "b/gpu", "B")
    for node in NODES:
        found.forget(node, "a/gpu")
        found.forget_node(node)
    found.forget("n9", "a/gpu")
    assert vars(found) == vars(empty)
