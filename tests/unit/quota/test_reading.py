"""Pods that are written alike are read once, and anew whenever what is known has changed."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from builders import GPU, H200, H800, SHARED, a_ledger, a_node, a_pod, a_queue, see
from builders.body import Body
from cardquota.quota.ledger import Ledger
from cardquota.quota.pod_facts import PodFacts
from cardquota.quota.reading import Reading, read
from cardquota.quota.selector import HOST_NAME

from ..steps import steps_of

A100 = "NVIDIA-A100"
STOCK = a_pod().in_queue("red").asking_for(1).facts()
PINNED = a_pod().in_queue("red").asking_for(1).on_nodes_labelled({"pool": "x"}).facts()
NAMED = a_pod().in_queue("red").naming(A100).asking_for(1).facts()
ON_ONE = a_pod().in_queue("red").asking_for(1).on_nodes_labelled({"kubernetes.io/hostname": "c"})


def a_cluster() -> Ledger:
    return a_ledger(
        a_node("a").with_cards(H200, 8).labelled("pool", "x"),
        a_node("b").with_cards(H800, 8).labelled("pool", "y"),
        a_queue("red").with_quota({H200: 3, H800: 2}),
    )


def now(ledger: Ledger, facts: PodFacts) -> Reading:
    account = ledger.account("red")
    assert account is not None
    kept = ledger.reading_of(facts, account)
    assert kept == read(facts, account.quota, ledger, free_cpu_memory=False)
    return kept


def test_alike_is_whoever_asks_alike() -> None:
    ledger = a_cluster()
    assert now(ledger, STOCK) is now(ledger, replace(STOCK, uid="other", name="other", revision=9))
    assert now(ledger, STOCK) is not now(ledger, replace(STOCK, cpu=1))


@pytest.mark.parametrize(
    ("news", "facts"),
    [
        (a_queue("red").with_quota({H800: 9}), STOCK),
        (a_queue("red").with_quota({H200: 2, H800: 3}), STOCK),
        (a_queue("blue").with_quota({A100: 1}), NAMED),
        (a_node("d").with_cards(A100, 8), NAMED),
        (a_node("b").with_cards(H800, 8).labelled("pool", "x"), PINNED),
        (a_node("a").with_cards(H200, 8).labelled("pool", "y"), PINNED),
        (a_node("c").labelled("kubernetes.io/hostname", "c").with_cards(H200, 8), ON_ONE.facts()),
    ],
    ids=[
        "other quota",
        "other amounts",
        "row elsewhere",
        "card shown",
        "node picked",
        "node left",
        "node named",
    ],
)
def test_read_anew_when_what_it_follows_from_has_changed(news: Body, facts: PodFacts) -> None:
    ledger = a_cluster()
    before = now(ledger, facts)
    see(ledger, news)
    assert now(ledger, facts) != before


def test_a_card_that_a_queues_status_remembers() -> None:
    ledger = a_ledger(a_queue("red").with_quota({"NVIDIA-H20": 2}))
    assert now(ledger, STOCK).request.cards == ()
    recorded = [{"name": "NVIDIA-H20", "quota": 2, "resource": "nvidia.com/gpu"}]
    see(ledger, a_queue("blue").put(recorded, "status", "cards"))
    assert now(ledger, STOCK).request.cards == ("NVIDIA-H20",)


def test_a_node_that_is_gone() -> None:
    ledger = a_cluster()
    before = now(ledger, ON_ONE.facts())
    see(ledger, a_node("c").labelled("kubernetes.io/hostname", "c").with_cards(H200, 8))
    assert now(ledger, ON_ONE.facts()) != before
    ledger.node_gone("c")
    assert now(ledger, ON_ONE.facts()) == before


def test_what_is_kept_has_a_bound() -> None:
    ledger = a_cluster()
    account = ledger.account("red")
    assert account is not None
    for cpu in range(1000):
        ledger.reading_of(replace(STOCK, cpu=cpu), account)
    assert 0 < len(account.readings._found) <= 256


PRODUCT, MEMORY = f"{GPU}.product", f"{GPU}.memory"
Asked = tuple[str, str, list[str]]
_ELSE: Sequence[Asked] = ((PRODUCT, "NotIn", ["A"]), (PRODUCT, "Exists", []))


@pytest.mark.parametrize("part", ["", "/mps-{}g*1/2"])
@pytest.mark.parametrize(
    "first", [(PRODUCT, "NotIn", ["B"]), (MEMORY, "NotIn", ["1"]), (HOST_NAME, "In", ["a"])]
)
def test_p8_what_a_pod_costs_with_all_alternatives_and_all_requirements(
    part: str, first: Asked
) -> None:
    """None of which is met, so that nothing of it is left out."""
    names = "|".join(f"X{number}{part.format(number)}" for number in range(256))
    terms = [[first, *_ELSE, (PRODUCT, "In", ["none"])] for _ in range(128)]
    pod = a_pod().in_queue("red").naming(names).requiring(*terms)
    facts = pod.asking_for(1, SHARED if part else GPU).facts()
    assert not facts.oversized
    ledger = a_cluster()
    assert steps_of(partial(ledger.reading_of, facts, ledger.account("red"))) < 50_000
    assert now(ledger, facts).request.cards == ()


def test_p8_a_pod_that_names_nodes_is_compared_with_all_cards_of_a_quota_at_once() -> None:
    cards = [f"NVIDIA-C{number}" for number in range(300)]
    nodes = [a_node(f"n{number}").with_cards(card, 8) for number, card in enumerate(cards)]
    ledger = a_ledger(*nodes, a_queue("red").with_quota(dict.fromkeys(cards, 1)))
    other = ("zone", "NotIn", ["A"])
    terms = [[(HOST_NAME, "In", ["gone"]), *[other] * 3] for _ in range(128)]
    facts = a_pod().in_queue("red").asking_for(1).requiring(*terms).facts()
    assert steps_of(partial(ledger.reading_of, facts, ledger.account("red"))) < 50_000
    assert len(now(ledger, facts).elsewhere or ()) == 300
