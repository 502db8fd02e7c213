"""E3, I3: what stands on a pod says the card it is charged for, wherever somebody bound it; where
it is charged if it came past admission; and that audit mode let it by.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from builders import H200, H800, Body, a_namespace, a_pod, see
from builders.pod import PodBody
from cardquota.control.release import pacing as module
from cardquota.quota import vocabulary as v

from ..fakes import TERM, Answer, Call, a_world, charged, lost, refused, until
from ..leader import THREE, Leader, leading

pytestmark = pytest.mark.fake_clock

STAMPED = a_pod("a").in_queue("queue").asking_for(2).stamped("queue", {H200: 2}).at_revision(5)
ELSEWHERE = STAMPED.on_node("h800-a").at_revision(6)
WRITTEN = ELSEWHERE.stamped("queue", {H800: 2}).at_revision(7)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may have failed is looked at again soon."""
    monkeypatch.setattr(module, "TRY_AGAIN", 0.05)
    monkeypatch.setattr(module, "AT_MOST", 0.05)


def written(call: Call) -> dict[str, int]:
    found = json.loads(call.body["metadata"]["annotations"][v.ALLOCATED])
    return {str(card): int(amount) for card, amount in found.items()}


async def seen(leader: Leader) -> None:
    """The news of the write come, and nothing more is written."""
    leader.see(WRITTEN)
    await until(lambda: leader.idle)
    calls = len(leader.script.calls)
    await asyncio.sleep(0.1)
    assert len(leader.script.calls) == calls
    assert leader.idle
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
        notes = {v.ALLOCATED: '{"NVIDIA-H800": 2}'}
        meta = {"uid": STAMPED.uid, "resourceVersion": "6", "annotations": notes}
        assert call.body["metadata"] == meta
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


@pytest.fixture
def much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again when no test waits for it any more."""
    monkeypatch.setattr(module, "TRY_AGAIN", 1_000.0)
    monkeypatch.setattr(module, "AT_MOST", 1_000.0)


@pytest.mark.usefixtures("much_later")
async def test_what_changed_while_it_was_written_is_written_again_at_once() -> None:
    async with leading(THREE, ELSEWHERE) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight)
        leader.see(ELSEWHERE.stamped("queue", {H200: 1}).at_revision(7))
        await asyncio.sleep(0.01)
        leader.script.hold.set()
        await until(lambda: len(leader.script.calls) == 2)
        assert leader.script.calls[1].body["metadata"]["resourceVersion"] == "7"


@pytest.mark.usefixtures("much_later")
async def test_what_failed_is_not_written_at_every_news_of_it() -> None:
    async with leading(THREE, ELSEWHERE, answers=(refused(403),)) as leader:
        await until(lambda: leader.script.calls)
        for revision in range(7, 12):
            leader.see(ELSEWHERE.stamped("queue", {H200: revision}).at_revision(revision))
            await asyncio.sleep(0.01)
        assert len(leader.script.calls) == 1


async def test_nothing_is_written_near_the_end_of_a_term() -> None:
    async with leading(THREE, ELSEWHERE, left=0.1) as leader:
        await asyncio.sleep(0.06)
        assert not leader.script.calls


AUDITED = a_namespace().in_mode("audit")
ADMITTED = a_pod("a").in_queue("queue").asking_for(2).on_node("h200-a").at_revision(5)
NOTED = ADMITTED.annotated(v.TERM, TERM).annotated(v.CHARGED_QUEUE, "queue").managed()
NOTED = NOTED.at_revision(6)


@asynccontextmanager
async def deciding(*things: Body, answers: tuple[Answer, ...] = ()) -> AsyncIterator[Leader]:
    """A leader that has read everything."""
    async with leading(THREE, *things, answers=answers) as leader:
        leader.ledger.fix_queues()
        leader.releaser.wake()
        yield leader


def renamed(pod: PodBody, name: str) -> PodBody:
    return pod.put(name, "metadata", "name").with_uid(name)


async def test_few_are_written_at_a_time_and_first_those_whose_card_is_wrong() -> None:
    """A restart finds every pod of a namespace in audit mode without a note."""
    audited = [renamed(ADMITTED, f"audited-{n}") for n in range(5)]
    wrong = renamed(ELSEWHERE, "wrong")
    async with leading(THREE, AUDITED, *audited, in_flight=2) as leader:
        leader.script.hold = asyncio.Event()
        leader.ledger.fix_queues()
        leader.releaser.wake()
        await until(lambda: len(leader.script.calls) == 2)
        leader.see(wrong)
        await asyncio.sleep(0.01)
        assert len(leader.script.calls) == 2
        leader.script.hold.set()
        await until(lambda: len(leader.script.calls) == 6)
        assert leader.script.calls[2].path.endswith("/wrong")


async def test_i3_that_audit_mode_let_a_pod_by_is_written_on_it_once() -> None:
    async with deciding(AUDITED, ADMITTED) as leader:
        await until(lambda: leader.script.calls)
        (call,) = leader.script.calls
        assert call.path == "/api/v1/namespaces/team/pods/a"
        notes = {v.ALLOCATED: None, v.CHARGED_QUEUE: "queue", v.TERM: TERM}
        meta = {"uid": ADMITTED.uid, "resourceVersion": "5", "annotations": notes}
        assert call.body == {"metadata": {**meta, "labels": {v.MANAGED: v.IS_MANAGED}}}
        leader.see(NOTED)
        await until(lambda: leader.idle)
        await asyncio.sleep(0.1)
        assert len(leader.script.calls) == 1
        assert leader.idle
        assert charged(leader.ledger, H200) == 2


async def test_i3_before_it_is_on_a_node_only_that_audit_mode_let_it_by_is_written() -> None:
    async with deciding(AUDITED, ADMITTED.put(None, "spec", "nodeName")) as leader:
        await until(lambda: leader.script.calls)
        assert leader.script.calls[0].body["metadata"]["annotations"][v.TERM] == TERM
        assert leader.script.calls[0].body["metadata"]["annotations"][v.CHARGED_QUEUE] is None


def test_i3_what_came_where_all_is_off_is_noted_once_rules_are_enforced() -> None:
    ledger = a_world(THREE, a_namespace().in_mode("off"), ADMITTED)
    ledger.fix_queues()
    assert ledger.unnoted == set()
    see(ledger, a_namespace().in_mode("enforced"))
    assert ledger.unnoted == {ADMITTED.uid}


async def test_i3_where_all_pods_are_audited_they_are_noted_a_few_at_a_time() -> None:
    pods = [ADMITTED.with_uid(str(n)).annotated("n", str(n)) for n in range(100)]
    async with leading(THREE, AUDITED, *pods) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight)
        for _ in range(20):
            await asyncio.sleep(0)
        assert leader.script.in_flight == 32
        leader.script.hold.set()

        def written_on() -> set[str]:
            return {call.body["metadata"]["uid"] for call in leader.script.calls}

        await until(lambda: written_on() == {pod.uid for pod in pods})


PAST_US = ADMITTED
WRITTEN_ON_IT = PAST_US.annotated(v.CHARGED_QUEUE, "queue").managed().at_revision(6)


async def test_i3_where_a_pod_that_came_past_us_is_charged_is_written_on_it_once() -> None:
    """What stands on it as if it were a stamp, anybody may have written."""
    forged = PAST_US.annotated(v.ALLOCATED, "{}").annotated(v.CHARGED_QUEUE, "other")
    async with deciding(a_namespace(), forged) as leader:
        await until(lambda: leader.script.calls)
        (call,) = leader.script.calls
        assert call.path == "/api/v1/namespaces/team/pods/a"
        notes = {**dict.fromkeys(v.STAMP), v.CHARGED_QUEUE: "queue"}
        meta = {"uid": PAST_US.uid, "resourceVersion": "5", "annotations": notes}
        assert call.body == {"metadata": {**meta, "labels": {v.MANAGED: "true"}}}
        leader.see(WRITTEN_ON_IT)
        await until(lambda: leader.idle)
        await asyncio.sleep(0.1)
        assert len(leader.script.calls) == 1
        assert leader.idle
        assert charged(leader.ledger, H200) == 2
