"""Which node is best: always the same one, and the others stay whole."""

import random
from collections.abc import Sequence

from builders import GPU, H200, H200_MIG, H800, Body, a_ledger, a_node, a_pod, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.extender import BEST, KEPT, NodeRanking

CARD = 16276
NAMES = ("n1", "n2", "n3")


def sharing(name: str, cards: int = 2, size: int = CARD) -> NodeBody:
    return a_node(name).sharing_memory(cards * size, cards)


def on(name: str, node: str, card: int, amount: int) -> PodBody:
    return a_pod(name).on_card(node, card, amount)


def holding(name: str, node: str, cards: int) -> PodBody:
    return a_pod(name).asking_for(cards).on_node(node)


def scores(ranking: NodeRanking, pod: PodBody, names: Sequence[str]) -> list[int]:
    found = ranking.rank(pod.facts(), names)
    assert [one.host for one in found] == list(names)
    return [one.score for one in found]


def rank(
    pod: PodBody, *things: Body, names: tuple[str, ...] = NAMES, spread: bool = False
) -> list[int]:
    return scores(NodeRanking(a_ledger(*things), spread=spread), pod, names)


def memory(amount: int) -> PodBody:
    return a_pod("new").asking_for_memory(amount)


THREE = sharing("n1"), sharing("n2"), sharing("n3")


def test_b6_the_fullest_card_that_fits() -> None:
    holders = on("a", "n2", 0, 4000), on("b", "n3", 1, 8000)
    assert rank(memory(1024), *THREE, *holders) == [0, 1, BEST]
    assert rank(memory(12000), *THREE, *holders) == [0, BEST, 2]


def test_b6_empty_nodes_stay_empty() -> None:
    """Though less would be left of the small empty card."""
    small = sharing("n1", 1, 2000)
    found = rank(memory(1024), small, sharing("n2"), on("a", "n2", 0, 1), names=("n1", "n2"))
    assert found == [0, BEST]


def test_b6_equal_nodes_by_name() -> None:
    assert rank(memory(1), *THREE, names=("n3", "n2", "n1")) == [0, 0, BEST]


def test_b6_spread_takes_the_emptiest() -> None:
    holders = on("a", "n1", 0, 4000), on("b", "n3", 1, 8000)
    assert rank(memory(1024), *THREE, *holders, spread=True) == [8, BEST, 7]


def test_b6_nodes_that_do_not_fit_or_are_not_known() -> None:
    assert rank(memory(CARD + 1), *THREE) == [0, 0, 0]
    assert rank(memory(1), sharing("n2"), names=("n1", "n2")) == [0, BEST]
    assert rank(a_pod().asking_for(1), a_node("n1").with_cards(H200, 8), names=("x",)) == [0]
    assert rank(a_pod(), *THREE) == [0, 0, 0]


def cards(name: str, number: int = 8, product: str = H200) -> NodeBody:
    return a_node(name).with_cards(product, number)


def test_b6_whole_cards_go_to_the_fullest_node_that_fits() -> None:
    nodes = cards("n1"), cards("n2"), cards("n3")
    holders = holding("a", "n2", 4), holding("b", "n3", 7)
    assert rank(a_pod().asking_for(1), *nodes, *holders) == [0, 4, BEST]
    assert rank(a_pod().asking_for(2), *nodes, *holders) == [0, BEST, 0]
    assert rank(a_pod().asking_for(2), *nodes, *holders, spread=True) == [BEST, 5, 0]


def test_b6_nodes_with_slices_are_kept_for_those_who_need_them() -> None:
    nodes = cards("n1").with_slices("1g.18gb", 7), cards("n2")
    assert rank(a_pod().asking_for(1), *nodes, names=("n1", "n2")) == [0, BEST]
    slice_ = a_pod().asking_for(1, "nvidia.com/mig-1g.18gb").naming(H200_MIG)
    assert rank(slice_, *nodes, names=("n1", "n2")) == [BEST, 0]


def test_b6_the_users_order_comes_before_packing() -> None:
    nodes = cards("n1"), cards("n2", product=H800)
    pod = a_pod().asking_for(1).naming(f"{H200}|{H800}")
    assert rank(pod, *nodes, holding("a", "n2", 7), names=("n1", "n2")) == [BEST, 2]
    assert rank(pod.naming("A||B"), *nodes, holding("a", "n2", 7), names=("n1", "n2")) == [0, BEST]


def test_b6_a_node_that_offers_none_at_present() -> None:
    nodes = cards("n1", 0), cards("n2", 0)
    assert rank(a_pod().asking_for(1), *nodes, names=("n1", "n2")) == [0, 0]
    assert rank(a_pod().asking_for(1, GPU), cards("n1"), names=("n1",)) == [BEST]


BY_CARD = a_pod("new").asking_for(1), a_pod("new").asking_for(2).naming(f"{H800}|{H200}")
REQUESTS = memory(4069), memory(8138), *BY_CARD


def test_b6_what_is_kept_of_nodes_follows_every_event() -> None:
    """A ranking that is asked again and again says what a new one says."""
    rng = random.Random(5)
    nodes = [f"n{i}" for i in range(6)]
    shapes = (
        lambda name: sharing(name, rng.randint(1, 3)),
        lambda name: a_node(name).with_cards(rng.choice((H200, H800)), rng.randint(1, 4)),
        lambda name: a_node(name).with_cards(H200, 4).with_slices("1g.18gb", rng.randint(0, 2)),
        lambda name: a_node(name).with_cards(H800, 2).put(True, "spec", "unschedulable"),
    )
    ledger = a_ledger()
    for spread in (False, True):
        kept, pods, best = NodeRanking(ledger, spread=spread), list[str](), set[int]()
        for number in range(400):
            name, uid = rng.choice(nodes), f"p{spread}{number}"
            match rng.randrange(5):
                case 0:
                    see(ledger, rng.choice(shapes)(name).at_revision(number + 1000 * spread))
                case 1 if pods:
                    ledger.pod_gone(f"uid-{pods.pop(rng.randrange(len(pods)))}")
                case 2 if rng.random() < 0.3:
                    ledger.node_gone(name)
                case 3 if len(pods) < 6:
                    see(ledger, on(uid, name, rng.randrange(3), 4069))
                    pods.append(uid)
                case 4 if len(pods) < 6:
                    see(ledger, holding(uid, name, rng.randint(1, 2)))
                    pods.append(uid)
            names = rng.sample(nodes, rng.randint(1, 6))
            for pod in REQUESTS:
                found = scores(kept, pod, names)
                assert found == scores(NodeRanking(ledger, spread=spread), pod, names)
                best.add(found.index(BEST) if BEST in found else -1)
        assert len(best) > 4


def test_b6_of_many_requests_the_last_are_kept() -> None:
    ledger = a_ledger(*THREE)
    ranking = NodeRanking(ledger)
    for amount in range(1, 5 * KEPT):
        assert scores(ranking, memory(amount), NAMES) == [BEST, 0, 0]
    assert len(ledger.card_memory.kept) == KEPT
    assert scores(ranking, memory(1), NAMES) == [BEST, 0, 0]
