"""Pods that are written alike are read once, and anew whenever what is known has changed."""

import gc
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from builders import GPU, H200, H800, SHARED, a_ledger, a_node, a_pod, a_queue
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts, Reading, Readings, read
from cardquota.quota.selectors import HOST_NAME

from ...steps import steps_of

A100 = "NVIDIA-A100"
STOCK = a_pod().in_queue("red").asking_for(1).facts()
NAMED = a_pod().in_queue("red").naming(A100).asking_for(1).facts()


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
    assert kept == read(facts, account.quota, ledger, exempt_cpu_memory=False)
    return kept


KEPT = 128 * 1024
MANY = 100


def readings_of(
    count: int, make: Callable[[int], PodFacts], most: int = KEPT
) -> tuple[Readings, int]:
    """Of so many pods of one queue, and the bytes that are held afterwards."""
    ledger, readings = a_cluster(), Readings(most)
    tracemalloc.start()
    try:
        for number in range(count):
            readings.of(make(number), {H200: 3}, 0, ledger, 1, exempt_cpu_memory=False)
        gc.collect()
        return readings, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def of_short_names(number: int) -> PodFacts:
    pairs = [one + other for one in LETTERS for other in LETTERS]
    return replace(
        NAMED, card_text="|".join(pairs[(7 * number + n) % len(pairs)] for n in range(256))
    )


def of_many_devices(number: int) -> PodFacts:
    return replace(STOCK, devices=tuple((f"d.e/{number}-{n}", 1000 + n) for n in range(64)))


def of_wide_letters(number: int) -> PodFacts:
    return replace(NAMED, card_text="|".join(f"{chr(120_000 + n)}{number}" for n in range(256)))


def of_many_amounts(number: int) -> PodFacts:
    return replace(STOCK, cpu=10_000 + number, memory=2**40 + number)


@pytest.mark.parametrize(
    "make", [of_short_names, of_many_devices, of_wide_letters, of_many_amounts]
)
def test_what_is_kept_has_a_bound_in_the_bytes_that_it_really_takes(
    make: Callable[[int], PodFacts],
) -> None:
    many, held = readings_of(MANY, make)
    none, beside = readings_of(MANY, make, most=0)
    assert len(none) == 0
    assert 0 < len(many) < MANY
    assert held - beside <= KEPT


def test_the_largest_pod_that_is_read_is_remembered() -> None:
    values = [f"{'v' * 25}{number:06}" for number in range(490)]
    names = "|".join(f"{'N' * 59}{number:04}" for number in range(16))
    pod = a_pod().in_queue("red").asking_for(1).naming(names).requiring([("zone", "In", values)])
    facts = pod.facts()
    assert not facts.oversized
    assert len(facts.selector) + len(facts.card_text or "") > 15_000
    ledger = a_cluster()
    assert now(ledger, facts) is now(ledger, replace(facts, uid="other", name="other"))


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
    names = "|".join(f"X{number}{part.format(number)}" for number in range(16))
    terms = [[first, *_ELSE, (PRODUCT, "In", ["none"])] for _ in range(32)]
    pod = a_pod().in_queue("red").naming(names).requiring(*terms)
    facts = pod.asking_for(1, SHARED if part else GPU).facts()
    assert not facts.oversized
    ledger = a_cluster()
    assert steps_of(partial(ledger.reading_of, facts, ledger.account("red"))) < 100_000
    assert now(ledger, facts).request.cards == ()


def test_p8_a_pod_that_names_nodes_is_compared_with_all_cards_of_a_quota_at_once() -> None:
    cards = [f"NVIDIA-C{number}" for number in range(300)]
    nodes = [a_node(f"n{number}").with_cards(card, 8) for number, card in enumerate(cards)]
    ledger = a_ledger(*nodes, a_queue("red").with_quota(dict.fromkeys(cards, 1)))
    other = ("zone", "NotIn", ["A"])
    terms = [[(HOST_NAME, "In", ["gone"]), *[other] * 3] for _ in range(32)]
    facts = a_pod().in_queue("red").asking_for(1).requiring(*terms).facts()
    assert steps_of(partial(ledger.reading_of, facts, ledger.account("red"))) < 100_000
    assert len(now(ledger, facts).elsewhere or ()) == 300
