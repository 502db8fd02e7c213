"""T6: writes of the annotation, beside Volcano's of the same queue."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from builders import H200, a_pod, a_queue, see
from cardquota.cluster.api import ApiError
from cardquota.control.queues import QueueReconciler, StatusAnnotation
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger

from ..fakes import a_world, stored, until
from .queue_numbers import a_reconciler, numbers, one_more, seen, want

pytestmark = pytest.mark.fake_clock


class QueueStore:
    """One queue as the API server has it, with the patches that it takes; a fake for its clock."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.status: dict[str, Any] = {}
        self.version = 1
        self.writes: list[tuple[str, str]] = []
        self.refusals: list[ApiError] = []
        """What the next writes get for an answer."""
        self.landed: Callable[[], None] = lambda: None
        """Called when a write has landed, and is not answered yet."""

    async def patch(self, path: str, body: Any, *, content_type: str, **_: object) -> bytes:
        self.writes.append((path.rpartition("/")[2], content_type))
        if self.refusals:
            raise self.refusals.pop()
        await asyncio.sleep(0)
        if isinstance(body, list):
            for change in body:
                self._change(change)
        elif path.endswith("/status"):
            self.status |= body["status"]
        else:
            if body["metadata"].get("resourceVersion", str(self.version)) != str(self.version):
                raise ApiError(409, "Conflict", "the object has been modified")
            self.notes |= body["metadata"]["annotations"]
        self.version += 1
        made = stored(self.version)
        self.landed()
        return made

    def _change(self, change: dict[str, Any]) -> None:
        where, value = change["path"], change.get("value")
        if where == "/metadata/uid":
            assert value == "uid-queue"
            return
        assert where == "/metadata/annotations/volcano.sh~1card.status"
        there = self.notes.get(v.STATUS)
        absent = change["op"] == "remove" and there is None
        if absent or (change["op"] == "test" and there != value):
            raise ApiError(422, "Invalid", "the server rejected our request")
        if change["op"] == "remove":
            del self.notes[v.STATUS]
        elif value is not None:
            self.notes[v.STATUS] = value

    def seen_by(self, writer: QueueReconciler) -> None:
        queue = {"metadata": {"annotations": dict(self.notes)}, "status": dict(self.status)}
        seen(writer, queue, version=str(self.version))

    @property
    def published(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.notes.get(v.STATUS, "{}"))
        return found


@pytest.fixture
def store() -> QueueStore:
    return QueueStore()


@pytest.fixture
async def writer(store: QueueStore) -> AsyncIterator[QueueReconciler]:
    writer = a_reconciler(store, standalone=False, place=StatusAnnotation())
    yield writer
    writer.close()


@pytest.fixture
def ledger() -> Ledger:
    return a_world(a_queue().with_quota({H200: 100}))


async def test_what_a_successor_has_written_stays(
    writer: QueueReconciler, store: QueueStore, ledger: Ledger
) -> None:
    """One whose term is over does not know it yet."""
    store.seen_by(writer)
    want(writer, numbers(ledger))
    await until(lambda: store.writes)
    store.notes[v.STATUS] = '{"observedGeneration":7}'
    store.version += 1
    want(writer, one_more(ledger, "a"))
    await until(lambda: len(store.writes) == 2)
    await asyncio.sleep(100)
    # It tries again ever more rarely: if it still leads, what is there is seen before long.
    assert 2 < len(store.writes) < 10
    assert store.published == {"observedGeneration": 7}


async def test_nothing_unseen_is_written_over(writer: QueueReconciler, store: QueueStore) -> None:
    held = a_pod("a").in_queue("queue").stamped("queue", {H200: 1}).on_node("n")
    ledger = a_world(a_queue().with_quota({H200: 100}), held)
    store.seen_by(writer)
    store.notes[v.STATUS] = '{"observedGeneration":7}'
    store.version += 1
    want(writer, numbers(ledger))
    await until(lambda: store.writes)
    await asyncio.sleep(100)
    assert store.published == {"observedGeneration": 7}
    assert len(store.writes) == 1


async def test_ours_may_come_before_its_answer(writer: QueueReconciler, store: QueueStore) -> None:
    held = a_pod("a").in_queue("queue").stamped("queue", {H200: 1}).on_node("n")
    ledger = a_world(a_queue().with_quota({H200: 100}), held)
    store.seen_by(writer)
    want(writer, numbers(ledger))
    await until(lambda: store.writes)
    await asyncio.sleep(5)

    def volcano_writes() -> None:
        store.version += 1
        store.seen_by(writer)

    store.landed = volcano_writes
    see(ledger, a_pod("b").in_queue("queue").naming(H200).asking_for(1).gated())
    want(writer, numbers(ledger))
    await until(lambda: len(store.writes) == 2)
    await asyncio.sleep(100)
    assert len(store.writes) == 2


async def test_a_queue_that_the_api_server_finds_invalid_is_told_and_tried_again(
    writer: QueueReconciler, store: QueueStore, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    store.seen_by(writer)
    want(writer, numbers(ledger))
    await until(lambda: store.writes)
    text = 'Queue.scheduling.volcano.sh "queue" is invalid: spec.weight: Required value'
    store.refusals = [ApiError(422, "Invalid", text)]
    want(writer, one_more(ledger, "a"))
    await until(lambda: len(store.writes) == 3)
    assert "spec.weight" in caplog.text
    assert store.published["cards"][0]["requested"] == 1


async def test_a_first_write_beside_others_is_in_nobodys_way(
    writer: QueueReconciler, store: QueueStore, ledger: Ledger
) -> None:
    store.notes["volcano.sh/card.quota"] = "{}"
    store.seen_by(writer)
    store.version += 5
    want(writer, numbers(ledger))
    await until(lambda: store.published)
    assert store.writes == [("queue", "application/json-patch+json")]
    assert store.published["cards"][0]["quota"] == 100


async def test_where_nothing_has_room_the_log_says_so_once(
    writer: QueueReconciler, store: QueueStore, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    store.notes["example.com/notes"] = "x" * 262_100
    for number in range(3):
        store.version += 1
        store.seen_by(writer)
        want(writer, one_more(ledger, f"p{number}"))
        await asyncio.sleep(3)
    assert store.writes == []
    (said,) = [one.message for one in caplog.records]
    assert said.startswith("queue queue: its other annotations leave no room for volcano.sh/card.")
    del store.notes["example.com/notes"]
    store.version += 1
    store.seen_by(writer)
    await until(lambda: store.writes)
