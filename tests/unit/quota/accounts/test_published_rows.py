"""What is read back of what we have published of a queue."""

import json

import pytest

from builders import H200, a_queue
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import LONGEST_TEXT

ROW = {"name": H200, "resource": "nvidia.com/gpu", "quota": 3, "allocated": 2}


def noted(text: str) -> QueueBody:
    return a_queue().annotated(v.STATUS, text)


def test_the_annotation_is_read_where_the_status_says_nothing() -> None:
    """Beside Volcano: the last good quota and the resource name."""
    facts = noted(json.dumps({"cards": [ROW]})).facts()
    assert facts.recorded == {H200: ("nvidia.com/gpu", 3)}


def test_what_the_status_says_comes_first() -> None:
    """As with our definition in place of Volcano's: the annotation is of the time before it."""
    queue = noted(json.dumps({"cards": [{**ROW, "quota": 1}]}))
    facts = queue.put([ROW], "status", "cards").facts()
    assert facts.recorded == {H200: ("nvidia.com/gpu", 3)}


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{", "[" * 90_000, '{"cards": 1}', '{"cards": [1]}'),
        *('{"cards": [{"name": 7}]}', json.dumps({"cards": [ROW], "x": "y" * LONGEST_TEXT})),
    ],
)
def test_an_annotation_that_cannot_be_read_says_nothing(text: str) -> None:
    assert noted(text).facts().recorded == {}


@pytest.mark.parametrize(
    "odd",
    [
        *({"quota": 2**63}, {"quota": 10**400}, {"quota": -1}),
        *({"resource": "r" * 318}, {"name": "n" * 9_000}),
    ],
)
def test_a_row_beyond_all_bounds_says_nothing(odd: dict[str, object]) -> None:
    """No definition of Queues checks an annotation."""
    rows = [ROW, {**ROW, "name": "OTHER", **odd}]
    assert noted(json.dumps({"cards": rows})).facts().recorded == {H200: ("nvidia.com/gpu", 3)}
