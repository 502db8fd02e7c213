"""What a pod group says that its minimum will ask for (E1)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota import REQUEST_CARDS, REQUEST_TEXT
from cardquota.quota.ledger.groups import NO_REQUEST, AskedCards
from cardquota.quota.ledger.groups.group_facts import group_request
from cardquota.quota.objects import ResourceList

H200, H800 = "NVIDIA-H200", "NVIDIA-H800"


def test_e1_it_names_cards_and_how_many_of_each() -> None:
    found = group_request(json.dumps({H200: 3, f"{H200} | {H800}": 2}), None)
    assert found.cards == (AskedCards((H200,), 3), AskedCards((H200, H800), 2))
    assert not found.problem
    assert found


def test_e1_min_resources_says_cpu_and_memory_and_no_card() -> None:
    asked: ResourceList = {"cpu": "1500m", "memory": "2Gi", "nvidia.com/gpu": "4", "pods": 3}
    found = group_request(None, asked)
    assert dict(found.cpu_memory) == {"cpu": 1500, "memory": 2 * 2**30}
    assert found.cards == ()
    assert group_request(None, {"cpu": 0}) == NO_REQUEST
    assert not group_request(None, None)


@pytest.mark.parametrize(
    ("text", "resources", "why"),
    [
        ("3", None, "a number"),
        ("{}", None, "names no card"),
        ('{"NVIDIA-H200": 1.5}', None, "not a whole number"),
        ('{"": 1}', None, "empty"),
        (None, {"cpu": "four"}, "spec.minResources: <four> is not a quantity"),
        (None, {"memory": "-1Gi"}, "spec.minResources: <memory> is negative"),
        (json.dumps({"|".join(f"C{n}" for n in range(17)): 1}), None, "17 cards, at most 16"),
        (json.dumps({"C" * 5_120: 1}), None, "at most 5120 are read"),
    ],
)
def test_p8_what_cannot_be_read_asks_for_nothing_and_says_why(
    text: str | None, resources: dict[str, Any] | None, why: str
) -> None:
    for _ in range(2):  # the second answer may be remembered
        found = group_request(text, resources)
        assert why in found.problem
        assert (found.cards, found.cpu_memory) == ((), ())
        assert len(found.problem) < 400
        assert found


def test_p8_as_much_as_the_limits_is_read() -> None:
    names = [f"C{number}".ljust(60, "x") for number in range(REQUEST_CARDS.most)]
    text = json.dumps(dict.fromkeys(names, 1), separators=(",", ":"))
    found = group_request(text.ljust(REQUEST_TEXT.most), None)
    assert len(found.cards) == REQUEST_CARDS.most


@given(st.text(max_size=50) | st.dictionaries(st.text(max_size=8), st.integers()).map(json.dumps))
def test_any_text_is_read_or_has_a_problem(text: str) -> None:
    found = group_request(text, {"cpu": "1"})
    assert bool(found.cards) != bool(found.problem)
