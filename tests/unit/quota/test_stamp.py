"""What we write on pods and groups, and how it is read back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import H200
from cardquota.quota import (
    Reservation,
    allocated_text,
    canonical,
    read_allocated,
    read_reservation,
    reservation_text,
)

_NAMES = st.text(st.characters(exclude_characters="|"), min_size=1, max_size=20)
reserved_cards = st.dictionaries(_NAMES, st.integers(0, 2**62), max_size=4)


def test_the_cards_of_a_pod_are_a_json_object() -> None:
    assert allocated_text(((H200, 2),)) == '{"NVIDIA-H200": 2}'


names = st.text(st.characters(exclude_characters="|", exclude_categories=["Cs"]), min_size=1)


def test_e10_a_pod_holds_no_choice_of_cards() -> None:
    assert read_allocated('{"A|B": 1}') is None


@given(st.dictionaries(names, st.integers(0, 2**62), max_size=4))
def test_what_is_written_on_a_pod_is_read_back(amounts: dict[str, int]) -> None:
    charge = tuple(sorted(amounts.items()))
    assert read_allocated(allocated_text(charge)) == charge


NONE_OF_OURS = [
    *("", "{", "[]", "3", "null", '"A"', '{"A": -1}', '{"A": 1.5}', '{"A": true}', '{"A": "1"}'),
    *('{"A": null}', "[" * 100_000, f'{{"A": {2**63}}}', f'{{"A": 1{"0" * 400}}}'),
]


@pytest.mark.parametrize("text", NONE_OF_OURS)
def test_text_that_is_none_of_ours_reads_as_none(text: str) -> None:
    assert read_allocated(text) is None
    assert read_reservation(text) is None


def test_a_reservation_names_its_term_queue_and_amounts() -> None:
    reservation = Reservation(
        "queue", "host_1", canonical({H200: 4, "cpu": 1_500, "memory": 2**30})
    )
    assert json.loads(reservation_text(reservation)) == {
        "term": "host_1",
        "queue": "queue",
        "cards": {H200: 4},
        "cpu": "1500m",
        "memory": "1Gi",
    }
    assert reservation_text(reservation).startswith('{"term":"host_1",')


def test_t3_a_choice_that_an_earlier_release_reserved_counts_for_its_first_card() -> None:
    text = '{"term":"t","queue":"q","cards":{"A|B":3,"A":1,"B":2},"cpu":"0","memory":"0"}'
    assert read_reservation(text) == Reservation("q", "t", (("A", 4), ("B", 2)))


@given(reserved_cards, st.integers(0, 2**50), st.integers(0, 2**60), st.text(), st.text())
def test_a_reservation_is_read_back(
    amounts: dict[str, int], cpu: int, memory: int, queue: str, term: str
) -> None:
    reservation = Reservation(queue, term, canonical({**amounts, "cpu": cpu, "memory": memory}))
    assert read_reservation(reservation_text(reservation)) == reservation


@pytest.mark.parametrize(
    "change",
    [
        {"cards": None},
        {"cards": {H200: -1}},
        {"cards": {H200: 10**400}},
        {"queue": 3},
        {"term": None},
        {"cards": {H200: 2**63}},
        {"cpu": "much"},
        {"cpu": "-1"},
        {"memory": -1},
        {"memory": [1]},
        {"request": 3},
        {"request": "x" * 65},
    ],
)
def test_a_reservation_that_was_tampered_with_reads_as_none(change: dict[str, object]) -> None:
    whole = {"term": "t", "queue": "q", "cards": {H200: 1}, "cpu": "1", "memory": "1Gi"}
    assert read_reservation(json.dumps(whole)) is not None
    assert read_reservation(json.dumps({**whole, **change})) is None
