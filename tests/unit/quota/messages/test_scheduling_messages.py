"""B2, B3: what an administrator is told of card memory that cannot be read."""

from cardquota.quota.messages import card_memory_unreadable


def test_b2_everything_that_is_wrong_with_a_node_is_in_one_sentence() -> None:
    text = card_memory_unreadable("n", ["<x> is no list"], ["team/a", "team/b"], mixed=True)
    assert text == (
        "card memory of node <n>: <x> is no list; the card of 2 pods is not known (team/a, "
        "team/b), so their memory is taken from every card; it has pods that ask for whole cards "
        "and pods that ask for card memory, so it takes no others; `kubectl cardquota inspect` "
        "shows its cards and pods"
    )


def test_b3_and_only_what_is() -> None:
    assert "the card of" not in card_memory_unreadable("n", [], [], mixed=True)
    assert "pods by card" not in card_memory_unreadable("n", ["x"], ["team/a"], mixed=False)
