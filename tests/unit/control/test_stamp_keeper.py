"""E3: what stands on a pod says the card it is charged for, wherever somebody bound it."""

import asyncio
import json

import pytest

from builders import H200, H800, a_pod
from cardquota.control import release as module
from cardquota.control.stamp_keeper import StampKeeper
from cardquota.quota import vocabulary as v

from .leader import THREE, Leader, leading
from .stage import Call, Script, a_world, a_writer, charged, lost, refused, until

STAMPED = a_pod("a").in_queue("queue").asking_for(2).stamped("queue", {H200: 2}).at_revision(5)
ELSEWHERE = STAMPED.on_node("h800-a").at_revision(6)
WRITTEN = ELSEWHERE.stamped("queue", {H800: 2}).at_revision(7)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may have failed is looked at again soon."""
    monkeypatch.setattr(module, "_TRY_AGAIN", 0.05)
    monkeypatch.setattr(module, "_AT_MOST", 0.05)


def written(call: Call) -> dict[str, int]:
    found = json.loads(call.body["metadata"]["annotations"][v.ALLOCATED])
    return {str(card): int(amount) for card, amount in found.items()}


async def seen(leader: Leader) -> None:
    """The news of the write come, and nothing more is written."""
    leader.see(WRITTEN)
    await until(lambda: not leader.door._correcting)
    calls = len(leader.script.calls)
    await asyncio.sleep(0.1)
    assert len(leader.script.calls) == calls
    assert not leader.door._corrections
    assert charged(leader.ledger, H800) == 2
    assert charged(leader.ledger, H200) == 0


async def test_the_cards_that_a_pod_holds_are_written_on_it() -> None:
    """On this very pod, as it was seen; nothing else of it, and whose decision it was stays."""
    async with leading(THREE, STAMPED) as leader:
        await asyncio.sleep(0.01)
        assert not leader.script.calls
        leader.see(ELSEWHERE)
        await until(lambda: leader.script.calls)
        (call,) = leader.script.calls
        assert call.path == "/api/v1/namespaces/team/pods/a"
        assert written(call) == {H800: 2}
        assert list(call.body) == ["metadata"]
        assert call.body["metadata"] == {
            "uid": STAMPED.uid,
            "resourceVersion": "6",
            "annotations": {v.ALLOCATED: '{"NVIDIA-H800": 2}'},
        }
        await seen(leader)


async def test_a_new_term_writes_what_the_one_before_did_not() -> None:
    async with leading(THREE, ELSEWHERE) as leader:
        await until(lambda: leader.script.calls)
        await seen(leader)


@pytest.mark.parametrize("failure", [lost(), refused(409), refused(403), refused(500)])
async def test_what_fails_is_written_again(failure: Exception) -> None:
    async with leading(THREE, ELSEWHERE, answers=(failure, failure)) as leader:
        await until(lambda: len(leader.script.calls) == 3)
        assert charged(leader.ledger, H800) == 2
        await seen(leader)


async def test_never_two_writes_of_one_pod_at_the_same_time() -> None:
    async with leading(THREE, ELSEWHERE) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight)
        for revision in (7, 8):
            leader.see(ELSEWHERE.labelled("a", str(revision)).at_revision(revision))
            await asyncio.sleep(0.06)
        assert len(leader.script.calls) == 1
        leader.script.hold.set()
        await until(lambda: len(leader.script.calls) == 2)
        assert leader.script.calls[1].body["metadata"]["resourceVersion"] == "8"


async def test_nothing_is_written_near_the_end_of_a_term() -> None:
    async with leading(THREE, ELSEWHERE, left=0.1) as leader:
        await asyncio.sleep(0.06)
        assert not leader.script.calls
    script = Script()
    ledger = a_world(THREE, ELSEWHERE)
    await StampKeeper(ledger, a_writer(script, lambda: 0.1)).correct(ELSEWHERE.uid)
    assert not script.calls


async def test_a_pod_that_is_gone_in_the_meantime_is_left_alone() -> None:
    script = Script()
    ledger = a_world(THREE, ELSEWHERE)
    ledger.pod_gone(ELSEWHERE.uid)
    await StampKeeper(ledger, a_writer(script)).correct(ELSEWHERE.uid)
    assert not script.calls
