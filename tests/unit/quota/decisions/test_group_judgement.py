"""E5: whether a pod group could ever start."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import (
    CARDS,
    GPU,
    H200,
    H800,
    R4090,
    a_group,
    a_ledger,
    a_namespace,
    a_node,
    a_pod,
    a_queue,
)
from builders.body import Body
from builders.group import GroupBody
from cardquota.quota import Reason
from cardquota.quota.decisions import judge_group
from cardquota.quota.ledger import Ledger

from ..brute_force import can_be_served

SLICE = "NVIDIA-H200/mig-1g.18gb-mixed"
MIG_NODE = a_node("mig-a").showing(H200).with_slices("1g.18gb", 7)
GANG = a_group("gang").in_queue("red").of(2)


def a_world(quota: Mapping[str, int], *more: Body) -> Ledger:
    return a_ledger(*CARDS, a_queue("red").with_quota(quota), *more)


def asking(cards: Mapping[str, int] | str) -> GroupBody:
    return GANG.requesting(cards)


def test_t3_pods_with_a_choice_that_are_charged_are_in_the_total_once() -> None:
    free = a_pod("free").in_queue("red").naming(f"{H200}|{H800}").asking_for(1)
    ledger = a_world({H200: 2, H800: 2}, free)
    text = judge_group(ledger, asking({H800: 3}).facts()).text
    assert f"<{H800}> quota: requested <3>, total would be <3>, but capability is <2>" in text


_SMALL = st.integers(0, 3)
_ROWS = st.dictionaries(
    st.lists(st.sampled_from([H200, H800, R4090]), min_size=1, max_size=3, unique=True).map(tuple),
    st.integers(1, 3),
    min_size=1,
    max_size=4,
)


@settings(max_examples=200)
@given(st.fixed_dictionaries({H200: _SMALL, H800: _SMALL, R4090: _SMALL}), _ROWS)
def test_t3_as_by_trying_every_assignment(
    quota: dict[str, int], rows: dict[tuple[str, ...], int]
) -> None:
    asked = {"|".join(cards): number for cards, number in rows.items()}
    fits = judge_group(a_world(quota), asking(asked).facts()).fits
    wants = [(cards, 1) for cards, number in rows.items() for _ in range(number)]
    assert fits == can_be_served(quota, wants)


def test_p4_a_pool_at_zero_is_known_and_warned_of() -> None:
    """A row for which some node has one of its cards needs no warning."""
    ledger = a_world({H200: 3, "NVIDIA-B300": 2, "NVIDIA-B200": 1})
    cards = {"NVIDIA-B300": 1, f"NVIDIA-B200|{H200}": 1}
    verdict = judge_group(ledger, asking(cards).facts())
    assert verdict.fits
    told = "no node has card <NVIDIA-B300> at present: the group waits until one has"
    assert verdict.warnings == (told,)


def test_p4_in_audit_no_group_waits_for_such_a_card() -> None:
    facts = asking({"NVIDIA-B300": 1}).facts()
    ledger = a_world({"NVIDIA-B300": 2}, a_namespace(facts.namespace).in_mode("audit"))
    assert judge_group(ledger, facts).warnings == ("no node has card <NVIDIA-B300> at present",)


def test_p4_a_name_that_no_node_can_have() -> None:
    verdict = judge_group(a_world({"NVIDIA H200": 3}), asking({"NVIDIA H200": 1}).facts())
    assert "correct volcano.sh/card.request and the queue's quota" in verdict.text


@pytest.mark.parametrize(
    ("cards", "names"),
    [
        ({f"{H200}|{SLICE}": 1}, f"<{H200}> ({GPU}) and <{SLICE}> (nvidia.com/mig-1g.18gb)"),
        ({H200: 1, SLICE: 1}, f"<{H200}> ({GPU}) and <{SLICE}> (nvidia.com/mig-1g.18gb)"),
        ({H200: 1, "B300/mig-1g.34gb-mixed": 1}, f"<{H200}> ({GPU}) and <B300/mig-1g.34gb-mixed>"),
        ({"B300/mps-80g*1/2": 1, H200: 1}, f"<B300/mps-80g*1/2> and <{H200}> ({GPU})"),
        ({"B300": 1, "B300/mig-1g.34gb-mixed": 1}, "<B300> and <B300/mig-1g.34gb-mixed>"),
        ({"B300/mps-80g*1/2": 1, "B300": 1}, "<B300/mps-80g*1/2> and <B300>"),
        ({"B300/mps-80g*1/2": 1, "B300/slot": 1}, "<B300/mps-80g*1/2> and <B300/slot>"),
        ({"B300": 1, H200: 1, SLICE: 1}, f"<{H200}> ({GPU}) and <{SLICE}>"),
    ],
)
def test_p2_mixed_resource_types(cards: Mapping[str, int], names: str) -> None:
    """In one row or in two; of a pool at zero, as far as its form tells."""
    zero = dict.fromkeys(("B300", "B300/mig-1g.34gb-mixed", "B300/mps-80g*1/2", "B300/slot"), 9)
    ledger = a_world({H200: 9, SLICE: 9, **zero}, MIG_NODE)
    verdict = judge_group(ledger, asking(cards).facts())
    assert verdict.reason is Reason.INVALID_CARD
    assert f"mixed resource types: {names}" in verdict.text
    assert verdict.text.endswith("and create another PodGroup for the others")


def test_a_queue_that_is_not_seen_says_nothing_of_a_group_that_is_there() -> None:
    ledger = a_ledger(*CARDS)
    assert judge_group(ledger, asking({H200: 9}).facts(), enters=False).fits
    assert not judge_group(ledger, asking({"H2000": 9}).facts(), enters=False).fits


def test_without_a_queue_only_the_request_itself_is_judged() -> None:
    """Which queue its pods are charged to, they say themselves."""
    ledger, group = a_world({H200: 3}), GANG.in_queue(None)
    assert judge_group(ledger, group.requesting({H200: 9}).facts()).fits
    text = judge_group(ledger, group.requesting({"H2000": 9}).facts()).text
    assert text.startswith("the group requests <9> of <H2000>: card <H2000> is not known")


def test_p8_the_longest_request_is_told_in_a_few_sentences() -> None:
    rows = {f"C{n}": 5 for n in range(16)}
    one = a_world(dict.fromkeys(rows, 1))
    verdict = judge_group(one, asking({"|".join(rows): 17}).facts())
    assert "and 11 more cards" in verdict.text
    assert len(verdict.text) < 1_000
    assert len(judge_group(one, asking(dict.fromkeys(rows, 1)).facts()).warnings) == 5
