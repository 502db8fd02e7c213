"""V1: what a replica passes on that does not lead. Bounded, and not for ever the same."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise

import pytest

from cardquota.extender.enqueue.leader_refusals import (
    AGAIN,
    MOST_OF_QUEUE,
    MOST_PASSED,
    MOST_WAITING,
    PAUSE,
    LeaderRefusals,
)
from cardquota.extender.enqueue.refusal_call import (
    LARGEST,
    PATH,
    RefusalCallError,
    RefusalNote,
    read_refusals,
    refusal_call,
    refusal_note,
)
from cardquota.extender.leader_client import LeaderAnswer, LeaderClient
from cardquota.quota.reports.strangers import MOST_PODS
from cardquota.quota.vocabulary import RefusedWrite

from ...containers import containers

BINDING = RefusedWrite.BINDING
USER = "system:serviceaccount:batch:volcano-scheduler"
UID = "0b7e6f3a-3f0c-4a1e-9c5f-0d3b6a1c{:04}"


class ScriptedLeader(LeaderClient):
    """Takes calls on a fake clock; the real one is asked over sockets, in its own test."""

    def __init__(self) -> None:
        self.here = "leader:1"
        self.sent: list[tuple[float, bytes]] = []
        self.answer: Callable[[], LeaderAnswer] = lambda: LeaderAnswer(200, b"{}")
        self.takes = 0.0
        self.at_once = 0

    @property
    def address(self) -> str:
        return self.here

    async def post(self, address: str, path: str, data: bytes, *, most: int) -> LeaderAnswer:
        assert (address, path) == ("leader:1", PATH)
        assert self.at_once == 0
        self.at_once += 1
        self.sent.append((asyncio.get_running_loop().time(), data))
        await asyncio.sleep(self.takes)
        self.at_once -= 1
        return self.answer()

    @property
    def notes(self) -> list[RefusalNote]:
        return [note for _, body in self.sent for note in read_refusals(body)]


@pytest.fixture
def leader() -> ScriptedLeader:
    return ScriptedLeader()


@pytest.fixture
async def refusals(leader: ScriptedLeader) -> AsyncIterator[LeaderRefusals]:
    refusals = LeaderRefusals(leader, asyncio.get_running_loop().time)
    yield refusals
    await refusals.stop()


@pytest.mark.fake_clock
async def test_the_same_is_passed_on_again_after_half_a_minute(
    refusals: LeaderRefusals, leader: ScriptedLeader
) -> None:
    for _ in range(100):
        refusals.note(BINDING, USER, "red", "a")
        await asyncio.sleep(1)
    assert leader.notes == [RefusalNote(BINDING, USER, ("a",))] * 4
    times = [at for at, _ in leader.sent]
    assert min(b - a for a, b in pairwise(times)) >= AGAIN


@pytest.mark.fake_clock
async def test_what_is_not_noticed_again_is_not_passed_on_again(
    refusals: LeaderRefusals, leader: ScriptedLeader
) -> None:
    refusals.note(BINDING, USER, "red", "a")
    await asyncio.sleep(10 * AGAIN)
    assert len(leader.sent) == 1


@pytest.mark.fake_clock
async def test_other_pods_are_news_until_the_leader_knows_that_there_are_more_than_it_counts(
    refusals: LeaderRefusals, leader: ScriptedLeader
) -> None:
    for number in range(100):
        refusals.note(BINDING, USER, "red", f"p{number % 50}")
        await asyncio.sleep(0.1)
    await asyncio.sleep(5)
    told = [uid for note in leader.notes for uid in note.pods]
    assert len(set(told)) == len(told)
    assert MOST_PODS < len(told) <= 2 * MOST_PODS


@pytest.mark.fake_clock
async def test_one_call_at_a_time_and_one_a_second_of_some_kilobytes(
    refusals: LeaderRefusals, leader: ScriptedLeader
) -> None:
    leader.takes = 1.4
    for number in range(2_000):
        for queue in ("red", "blue", "green", "grey", "black"):
            refusals.note(BINDING, f"{number}-" + "\\" * 500, queue, UID.format(number % 1_000))
        await asyncio.sleep(0.01)
        assert refusals.waiting <= MOST_WAITING
    times = [at for at, _ in leader.sent]
    assert min(b - a for a, b in pairwise(times)) >= PAUSE
    assert max(len(body) for _, body in leader.sent) <= LARGEST // 2 + 512
    sizes = containers(refusals)
    assert sizes["LeaderRefusals._passed"] <= MOST_PASSED


@pytest.mark.fake_clock
async def test_who_makes_many_users_holds_up_no_other_queue(
    refusals: LeaderRefusals, leader: ScriptedLeader
) -> None:
    refusals.note(BINDING, USER, "red", "a")
    for number in range(1_000):
        refusals.note(BINDING, f"user-{number}", "blue", "b")
    assert refusals.waiting == 1 + MOST_OF_QUEUE
    for number in range(MOST_WAITING):
        refusals.note(BINDING, USER, f"queue-{number}", "c")
    assert refusals.waiting == MOST_WAITING
    await asyncio.sleep(60)
    assert refusals.waiting == 0


@pytest.mark.fake_clock
@pytest.mark.parametrize("fault", ["nobody leads", "HTTP 404", "OSError", "TimeoutError"])
async def test_what_did_not_arrive_is_passed_on_when_it_is_noticed_again(
    refusals: LeaderRefusals, leader: ScriptedLeader, fault: str
) -> None:
    def broken() -> LeaderAnswer:
        if fault == "HTTP 404":
            return LeaderAnswer(404, b"")
        raise {"OSError": OSError(), "TimeoutError": TimeoutError()}[fault]

    works, leader.answer = leader.answer, broken
    leader.here = "" if fault == "nobody leads" else leader.here
    refusals.note(BINDING, USER, "red", "a")
    await asyncio.sleep(3)
    leader.answer, leader.here = works, "leader:1"
    leader.sent.clear()
    await asyncio.sleep(60)
    assert leader.sent == []
    refusals.note(BINDING, USER, "red", "a")
    await asyncio.sleep(3)
    assert len(leader.sent) == 1


@pytest.mark.fake_clock
async def test_a_bug_ends_nothing(refusals: LeaderRefusals, leader: ScriptedLeader) -> None:
    def broken() -> LeaderAnswer:
        raise RuntimeError("a bug")

    works, leader.answer = leader.answer, broken
    refusals.note(BINDING, USER, "red", "a")
    await asyncio.sleep(3)
    leader.answer = works
    refusals.note(BINDING, USER, "red", "a")
    await asyncio.sleep(3)
    assert len(leader.sent) == 2


@pytest.mark.fake_clock
async def test_who_stops_calls_nobody_any_more(
    refusals: LeaderRefusals, leader: ScriptedLeader
) -> None:
    leader.takes = 60
    refusals.note(BINDING, USER, "red", "a")
    await asyncio.sleep(1)
    await refusals.stop()
    refusals.note(BINDING, USER, "blue", "b")
    await asyncio.sleep(5)
    assert (len(leader.sent), refusals.waiting) == (1, 0)


# --- what is sent ---------------------------------------------------------------------------------


def test_a_note_has_bounds_whatever_the_names_are() -> None:
    note = refusal_note(BINDING, "\x00\ud800" * 9_000, tuple(map(str, range(99))))
    assert len(note.pods) == MOST_PODS
    assert len(refusal_call([note])) < 1_024
    assert read_refusals(refusal_call([note])) == (note,)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 8_000,
        b'{"refused": [{"what": "else", "user": "u", "pods": ["a"]}]}',
        b'{"refused": [{"what": "binding", "user": 7, "pods": ["a"]}]}',
        b'{"refused": [{"what": "binding", "user": "u", "pods": []}]}',
        b'{"refused": [{"what": "binding", "user": "u", "pods": [""]}]}',
        b'{"refused": [{"what": "binding", "user": "u", "pods": [' + b'"a",' * 20 + b'"a"]}]}',
        b'{"refused": [{"what": "binding", "user": "u", "pods": ["' + b"a" * 65 + b'"]}]}',
        b'{"refused": [{"what": "binding", "user": "' + b"a" * 201 + b'", "pods": ["a"]}]}',
    ],
)
def test_what_cannot_be_a_note_is_none(body: bytes) -> None:
    with pytest.raises(RefusalCallError) as error:
        read_refusals(body)
    assert len(str(error.value)) <= 200
