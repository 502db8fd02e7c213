"""What Volcano sends: little of it is needed, whatever it holds."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.extender import (
    MOST_ASK_ELEMENTS,
    EnqueueAsk,
    WireError,
    enqueue_call,
    read_enqueue_ask,
    read_vote,
    vote_answer,
)
from cardquota.quota.decisions import Vote

GROUP = {"metadata": {"namespace": "team", "name": "train-uid"}}


def call(**job: Any) -> bytes:
    return json.dumps({"job": {"UID": "team/train-uid", **job, "PodGroup": GROUP}}).encode()


def test_its_group() -> None:
    assert read_enqueue_ask(call()) == EnqueueAsk("team", "train-uid")
    assert read_enqueue_ask(call()).key == "team/train-uid"
    assert read_enqueue_ask(b' {"job" :\n{ "UID": "a/b"}}') == EnqueueAsk("a", "b")


def test_and_the_uid_of_its_group_in_any_order() -> None:
    first = b'{"job":{"UID":"team/g","PgUID":"4c-1","Name":'
    assert read_enqueue_ask(first) == EnqueueAsk("team", "g", "4c-1")
    other = json.dumps({"job": {"PodGroup": GROUP, "PgUID": "4c-1"}}).encode()
    assert read_enqueue_ask(other) == EnqueueAsk("team", "train-uid", "4c-1")
    for passed_on in (EnqueueAsk("a", "b"), EnqueueAsk("a", "b", "4c-1")):
        assert read_enqueue_ask(enqueue_call(passed_on)) == passed_on
    with pytest.raises(WireError, match="PgUID"):
        read_enqueue_ask(json.dumps({"job": {"PodGroup": GROUP, "PgUID": "x" * 254}}).encode())


def test_a_call_in_another_order_is_decoded() -> None:
    for job in ({"PodGroup": GROUP}, {"Tasks": {"a": [1, 2]}, "PodGroup": GROUP, "UID": "x"}):
        assert read_enqueue_ask(json.dumps({"job": job}).encode()).name == "train-uid"


def test_without_a_group_its_uid_says_it() -> None:
    assert read_enqueue_ask(b'{"job": {"UID": "team/train"}}') == EnqueueAsk("team", "train")
    assert read_enqueue_ask(b'{"job": {"UID": "team/t", "PodGroup": null}}').name == "t"
    assert read_enqueue_ask(b'{"job": {"UID": "team/t", "PodGroup": {}}}').name == "t"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"job": null}',
        b'{"job": {}}',
        b'{"job": {"UID": "no-slash"}}',
        b'{"job": {"UID": "/name"}}',
        b'{"job": {"UID": 1}}',
        b'{"job": {"PodGroup": 7, "UID": "a/b"}}',
        b'{"job": {"PodGroup": {"metadata": {"name": "x"}}, "UID": "a/b"}}',
        b'{"job": {"x": 1, "UID": "a/b"}} and more',
        b"\xff",
        json.dumps({"job": {"UID": "a/" + "b" * 254}}).encode(),
        b'{"job": {"Tasks": ' + b"[" * 50_000,
    ],
)
def test_what_cannot_be_read_is_refused(body: bytes) -> None:
    with pytest.raises(WireError) as refused:
        read_enqueue_ask(body)
    assert len(str(refused.value)) < 300


@given(st.binary(max_size=300))
def test_whatever_it_is_it_is_read_or_refused(body: bytes) -> None:
    try:
        found = read_enqueue_ask(body)
    except WireError:
        return
    assert found.namespace
    assert found.name


def test_of_what_volcano_sends_only_the_beginning_is_looked_at() -> None:
    huge = call(Tasks="x" * 10 * 2**20)
    began = time.process_time()
    for _ in range(1_000):
        assert read_enqueue_ask(huge).key == "team/train-uid"
    assert time.process_time() - began < 1.0
    assert read_enqueue_ask(b'{"job":{"UID":"a/b",').key == "a/b"


def test_i5_another_call_with_very_many_elements_is_not_decoded() -> None:
    many = b'{"job": {"Tasks": [' + b"1," * MOST_ASK_ELEMENTS + b'1], "UID": "a/b"}}'
    with pytest.raises(WireError, match="more than 250000 elements"):
        read_enqueue_ask(many)


@pytest.mark.parametrize("vote", Vote)
def test_the_numbers_are_those_of_volcano(vote: Vote) -> None:
    assert json.loads(vote_answer(vote)) == {"status": int(vote)}
    assert read_vote(200, vote_answer(vote)) is vote
    assert {one.name: int(one) for one in Vote} == {"REJECT": -1, "ABSTAIN": 0, "PERMIT": 1}


@pytest.mark.parametrize(
    ("code", "body"), [(500, b'{"status": 1}'), (200, b"no"), (200, b'{"status": 7}'), (200, b"{}")]
)
def test_another_answer_is_no_vote(code: int, body: bytes) -> None:
    with pytest.raises(WireError):
        read_vote(code, body)
