"""Writes of Queue status: coalesced, never without a change, an edit by hand is put right."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from builders import H200, H800, a_pod, a_queue, see
from cardquota.cluster.api import ApiError
from cardquota.control.queues import INTERVAL, QueueReconciler
from cardquota.control.queues import queue_reconciler as module
from cardquota.control.queues.queue_reconciler import queue_status
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import report

from ..fakes import a_world, denied, lost, refused, stored, until
from .queue_numbers import UID, a_reconciler, numbers, one_more, seen, want

pytestmark = pytest.mark.fake_clock

TICK = 1e-6
"""What sums of seconds are out by."""


class StatusServer:
    """Stores what is applied; a fake, because refusals cannot be had on demand."""

    def __init__(self) -> None:
        self.writes: list[tuple[float, str, dict[str, Any]]] = []
        self.answers: list[Exception] = []
        self.hold: asyncio.Event | None = None
        """While it is not set, writes are not answered."""
        self.unreadable = False
        """Whether the version cannot be read from its answers."""

    async def patch(self, path: str, body: Any, **_: object) -> bytes:
        self.writes.append((asyncio.get_running_loop().time(), path, body))
        await asyncio.sleep(0)
        if self.hold is not None:
            await self.hold.wait()
        if self.answers:
            raise self.answers.pop(0)
        return b"" if self.unreadable else stored(1_000 + len(self.writes))

    @property
    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.writes[-1][2]["status"]
        return found


@pytest.fixture
async def server() -> StatusServer:
    return StatusServer()


@pytest.fixture
async def writer(server: StatusServer) -> AsyncIterator[QueueReconciler]:
    writer = a_reconciler(server)
    yield writer
    writer.close()


@pytest.fixture
def ledger() -> Ledger:
    return a_world(a_queue().with_quota({H200: 100}))


async def test_numbers_are_written_once_the_queue_has_been_seen(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    want(writer, numbers(ledger))
    await asyncio.sleep(0.01)
    assert server.writes == []
    seen(writer, {})
    await until(lambda: server.writes)
    _, path, body = server.writes[0]
    assert path == "/apis/scheduling.volcano.sh/v1beta1/queues/queue/status"
    assert (body["metadata"]["name"], body["metadata"]["uid"]) == ("queue", UID)
    assert body["status"]["cards"][0]["quota"] == 100


async def test_many_changes_are_one_write_and_the_last_one_is_right(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    """At most one per queue and second."""
    seen(writer, {})
    began = asyncio.get_running_loop().time()
    for number in range(50):
        want(writer, one_more(ledger, f"p{number}"))
        await asyncio.sleep(0.004)
    await until(lambda: server.status["cards"][0]["requested"] == 50)
    times = [at for at, _, _ in server.writes]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= INTERVAL - TICK
    # The first at once, then one per interval for as long as it took us to change things.
    assert len(times) <= 2 + (times[-1] - began) / INTERVAL


async def test_only_some_queues_are_written_at_a_time(
    writer: QueueReconciler, server: StatusServer
) -> None:
    """A quota of one queue changes what all others deserve: not all of them are written at once."""
    server.hold = asyncio.Event()
    ledger = a_world(*[a_queue(f"q{n}").with_quota({H200: 1}) for n in range(20)])
    for n in range(20):
        found = report(ledger, f"q{n}")
        assert found is not None
        seen(writer, {}, found.uid, name=found.name)
        want(writer, found)
    await asyncio.sleep(3 * INTERVAL)
    assert len(server.writes) == module.AT_A_TIME
    server.hold.set()
    await until(lambda: len(server.writes) == 20)
    assert {path.split("/")[-2] for _, path, _ in server.writes} == {f"q{n}" for n in range(20)}


@pytest.mark.parametrize(
    ("manager", "state", "ours"),
    [(v.FIELD_MANAGER, "Closed", True), ("vcctl", "Closed", False), ("vcctl", "Open", True)],
)
async def test_q6_whose_state_it_is(
    writer: QueueReconciler,
    server: StatusServer,
    ledger: Ledger,
    manager: str,
    state: str,
    *,
    ours: bool,
) -> None:
    fields = [{"manager": manager, "fieldsV1": {"f:status": {"f:state": {}}}}]
    seen(writer, {"metadata": {"managedFields": fields}, "status": {"state": state}})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    assert ("state" in server.status) is ours


@pytest.mark.parametrize("queue", [{}, {"metadata": {"name": 7}}, {"metadata": None}])
async def test_of_a_queue_that_cannot_be_read_nothing_is_written(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger, queue: dict[str, Any]
) -> None:
    writer.seen(queue)
    want(writer, numbers(ledger))
    await asyncio.sleep(2 * INTERVAL)
    assert server.writes == []


async def test_nothing_is_written_without_a_change(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    """Neither for the same numbers again, nor for the echo of our own write."""
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    for _ in range(3):
        want(writer, numbers(ledger))
        seen(writer, {"status": server.status})
        await asyncio.sleep(INTERVAL * 1.2)
    assert len(server.writes) == writer.writes == 1


async def test_a_condition_holds_since_it_held_though_somebody_took_the_status_away(
    server: StatusServer, ledger: Ledger
) -> None:
    """Volcano writes its own status over ours all the time."""
    now = ["2026-01-01T00:00:00Z"]
    writer = a_reconciler(server, lambda: now[0], standalone=False)
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    for later in ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"):
        now[0] = later
        before = len(server.writes)
        seen(writer, {"status": server.status})
        seen(writer, {"status": {"state": "Open", "allocated": {"cpu": "1"}}})
        await until(lambda before=before: len(server.writes) > before)
        since = {one["lastTransitionTime"] for one in server.status["conditions"]}
        assert since == {"2026-01-01T00:00:00Z"}
    seen(writer, {}, "another")
    writer.close()


async def test_an_empty_list_that_the_server_leaves_out_is_no_change(
    writer: QueueReconciler, server: StatusServer
) -> None:
    """Server-side apply drops a list whose last row was taken out."""
    seen(writer, {})
    want(writer, numbers(a_world(a_queue())))
    await until(lambda: server.writes)
    assert server.status["cards"] == []
    seen(writer, {"status": {key: value for key, value in server.status.items() if value}})
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(server.writes) == 1


@pytest.mark.parametrize("edit", [{"cards": []}, {"cards": [{"name": "x"}]}, {"columns": None}])
async def test_an_edit_by_hand_is_put_right(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger, edit: dict[str, Any]
) -> None:
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes, 10)
    right = server.status
    seen(writer, {"status": {**right, **edit}})
    await until(lambda: len(server.writes) == 2, 10)
    assert server.status == right


async def test_an_edit_seen_before_our_write_is_answered_is_put_right(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    """The watch may be faster than the answer."""
    server.hold = asyncio.Event()
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes, 10)
    right = server.status
    seen(writer, {"status": {**right, "cards": []}})
    server.hold.set()
    await until(lambda: len(server.writes) == 2, 10)
    assert server.status == right
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(server.writes) == 2


async def test_what_others_write_beside_ours_is_left_alone(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    """Volcano's own fields."""
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    seen(writer, {"status": {**server.status, "pending": 3, "reservation": {}}})
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(server.writes) == 1


@pytest.mark.parametrize(
    ("failure", "logged"),
    [(denied(409), True), (refused(403), True), (lost(), True)],
)
async def test_a_write_that_failed_is_tried_again(
    writer: QueueReconciler,
    server: StatusServer,
    ledger: Ledger,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
    *,
    logged: bool,
) -> None:
    """And is in the log, unless somebody else's write was faster."""
    server.answers = [failure]
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][0] - server.writes[0][0] >= INTERVAL - TICK
    assert ("status of queue" in caplog.text) is logged


async def test_a_write_that_fails_is_tried_again_when_the_server_wants_it(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    server.answers = [ApiError(429, "TooManyRequests", "later", retry_after=4 * INTERVAL)]
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    want(writer, one_more(ledger, "p"))
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][0] - server.writes[0][0] >= 4 * INTERVAL - TICK


async def test_another_state_of_the_queue_ends_the_pause_after_a_refusal(
    server: StatusServer, ledger: Ledger
) -> None:
    """While it is Closing Volcano's webhook refuses every update: its numbers are old."""
    old: list[int] = []
    writer = a_reconciler(server, standalone=False, unwritten=old.append)
    server.answers = [refused(403)] * 6
    seen(writer, {"status": {"state": "Closing"}})
    want(writer, numbers(ledger))
    await until(lambda: len(server.writes) == 6)
    assert old == [1]
    seen(writer, {"status": {"state": "Closing", "running": 2}})
    await asyncio.sleep(INTERVAL)
    assert len(server.writes) == 6, "that is no other state"
    at = asyncio.get_running_loop().time()
    seen(writer, {"status": {"state": "Open"}})
    await until(lambda: len(server.writes) == 7)
    assert server.writes[6][0] - at < INTERVAL / 2
    await until(lambda: old == [1, 0])
    server.answers = [refused(403)]
    want(writer, one_more(ledger, "p"))
    await until(lambda: old == [1, 0, 1])
    writer.want(UID, None)
    writer.gone(UID)
    assert old == [1, 0, 1, 0], "it is gone"
    writer.close()
    seen(writer, {"status": {"state": "Open"}})
    want(writer, numbers(ledger))
    await asyncio.sleep(INTERVAL / 2)
    assert writer.working == 0, "nothing is begun any more"


async def test_a_queue_that_is_gone_is_written_no_more(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    want(writer, one_more(ledger, "p"))
    writer.want(UID, None)
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(server.writes) == 1


async def test_a_write_that_fails_once_its_queue_is_gone_is_not_counted(
    server: StatusServer, ledger: Ledger
) -> None:
    old: list[int] = []
    writer = a_reconciler(server, standalone=False, unwritten=old.append)
    server.hold = asyncio.Event()
    server.answers = [refused(503)]
    seen(writer, {})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    writer.want(UID, None)
    writer.gone(UID)
    server.hold.set()
    await until(lambda: not server.answers)
    await asyncio.sleep(INTERVAL / 2)
    assert old == []
    writer.close()


OLD, NEW = "uid-old", "uid-new"


@pytest.mark.parametrize(
    "order",
    [
        ["seen gone", "gone", "want", "see"],
        ["gone", "want", "seen gone", "see"],
        ["want", "seen gone", "see"],
        ["seen gone", "see", "gone", "want"],
        ["see", "gone", "want", "seen gone"],
        ["see", "seen gone", "want"],
        ["want", "see", "seen gone"],
    ],
)
async def test_a_queue_made_again_has_a_status_whatever_is_heard_first(
    writer: QueueReconciler, server: StatusServer, order: list[str]
) -> None:
    """Ledger and Kopf hear of the old one's end and of the new one in orders of their own."""
    old, new = (a_queue().with_quota({H200: 3}).with_uid(uid) for uid in (OLD, NEW))
    seen(writer, {}, OLD)
    want(writer, numbers(a_world(old)))
    await until(lambda: server.writes)

    def heard_of_new() -> None:
        writer.want(OLD, None)
        want(writer, numbers(a_world(new)))

    steps: dict[str, Callable[[], None]] = {
        "want": heard_of_new,
        "gone": lambda: writer.want(OLD, None),
        "see": lambda: seen(writer, {}, NEW),
        "seen gone": lambda: writer.gone(OLD),
    }
    for step in order:
        steps[step]()
        await asyncio.sleep(0)
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][2]["metadata"]["uid"] == NEW
    writer.gone(NEW)
    writer.want(NEW, None)
    await until(lambda: not writer.working)
    assert len(writer) == 0


async def test_the_answer_for_the_old_queue_says_nothing_of_the_new(
    writer: QueueReconciler, server: StatusServer
) -> None:
    """It would pass for a status that is right already."""
    old, new = (a_queue().with_quota({H200: 3}).with_uid(uid) for uid in (OLD, NEW))
    server.hold = asyncio.Event()
    seen(writer, {}, OLD)
    want(writer, numbers(a_world(old)))
    await until(lambda: server.writes)
    writer.gone(OLD)
    seen(writer, {}, NEW)
    want(writer, numbers(a_world(new)))
    server.hold.set()
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][2]["metadata"]["uid"] == NEW


async def test_a_state_that_somebody_else_closed_is_left_alone(
    writer: QueueReconciler, server: StatusServer
) -> None:
    """Q6: never taken back, and never counted as a difference."""
    ledger = a_world(a_queue().with_quota({H200: 3}).in_state("Closed"))
    seen(writer, {"status": {"state": "Closed"}})
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    assert "state" not in server.status
    seen(writer, {"status": {**server.status, "state": "Closed"}})
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(server.writes) == 1


async def test_a_state_is_written_only_on_the_queue_as_it_was_seen(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    """Q6: who closes the queue meanwhile makes the API server refuse the write."""
    server.answers = [refused(409)]
    seen(writer, {}, version="7")
    want(writer, numbers(ledger))
    await asyncio.sleep(5 * INTERVAL)
    assert len(server.writes) == 1, "what the queue is by now has not been seen"
    seen(writer, {"status": {"state": "Closed"}}, version="8")
    await until(lambda: len(server.writes) == 2)
    before, after = (body for _, _, body in server.writes)
    assert (before["metadata"]["resourceVersion"], before["status"]["state"]) == ("7", "Open")
    assert "state" not in after["status"]
    assert "resourceVersion" not in after["metadata"], "nothing that anybody else may write"


async def test_the_next_write_is_on_what_the_last_one_made(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    """It need not wait until that is seen; what is seen late says nothing new."""
    seen(writer, {}, version="7")
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    for late in ("7", "1000"):
        seen(writer, {}, version=late)
    want(writer, one_more(ledger, "p"))
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][2]["metadata"]["resourceVersion"] == "1001"


async def test_an_older_status_seen_while_we_write_is_no_news(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    server.hold = asyncio.Event()
    seen(writer, {}, version="7")
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    seen(writer, {"status": {"pending": 1}}, version="8")
    server.hold.set()
    await asyncio.sleep(3 * INTERVAL)
    assert len(server.writes) == 1
    want(writer, one_more(ledger, "p"))
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][2]["metadata"]["resourceVersion"] == "1001"


async def test_without_a_version_in_the_answer_the_next_write_waits_until_ours_is_seen(
    writer: QueueReconciler, server: StatusServer, ledger: Ledger
) -> None:
    server.unreadable = True
    seen(writer, {}, version="7")
    want(writer, numbers(ledger))
    await until(lambda: server.writes)
    want(writer, one_more(ledger, "p"))
    await asyncio.sleep(3 * INTERVAL)
    assert len(server.writes) == 1
    seen(writer, {"status": server.status}, version="8")
    await until(lambda: len(server.writes) == 2)
    assert server.writes[1][2]["metadata"]["resourceVersion"] == "8"


def wanted(ledger: Ledger, stored: dict[str, Any], *, standalone: bool = True) -> dict[str, Any]:
    return queue_status(numbers(ledger), stored, now="2026-02-02T00:00:00Z", standalone=standalone)


def test_a_condition_keeps_its_time_until_it_changes() -> None:
    """The time is that of the last change of its status, not of its text."""
    queue = a_queue().with_quota({H200: 3})
    ledger = a_world(queue, a_pod("a").in_queue("queue").stamped("queue", {H200: 3}))
    before = wanted(ledger, {})
    for condition in before["conditions"]:
        condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    see(ledger, queue.with_quota({H200: 1}))
    times = {c["type"]: c["lastTransitionTime"] for c in wanted(ledger, before)["conditions"]}
    assert times == {
        "QuotaValid": "2026-01-01T00:00:00Z",
        "OverQuota": "2026-02-02T00:00:00Z",
        "Oversold": "2026-01-01T00:00:00Z",
    }


def test_a_quota_that_cannot_be_read_says_so_and_stays_in_force() -> None:
    """Q4: stored all the same; the last good one counts."""
    queue = a_queue().with_quota({H200: 3})
    ledger = a_world(queue)
    see(ledger, queue.with_quota_text("{").at_revision(2))
    status = wanted(ledger, {})
    valid = next(c for c in status["conditions"] if c["type"] == "QuotaValid")
    assert (valid["status"], valid["reason"]) == ("False", "Unreadable")
    assert "the last good quota stays in force until it is corrected" in valid["message"]
    assert status["cards"][0]["quota"] == 3


def condition(status: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(c for c in status["conditions"] if c["type"] == kind)


def test_q4_where_there_never_was_a_good_quota_it_says_that() -> None:
    valid = condition(wanted(a_world(a_queue().with_quota_text("zzz")), {}), "QuotaValid")
    assert valid["status"] == "False"
    assert valid["message"].endswith(
        "there is no earlier one: all cards are 0 until it is corrected"
    )


def test_a_limit_that_cannot_be_read_is_told_beside_its_zero() -> None:
    status = wanted(a_world(a_queue().limited_to(cpu="1e400")), {})
    valid = condition(status, "QuotaValid")
    assert (valid["status"], valid["reason"]) == ("False", "Unreadable")
    assert valid["message"].endswith("it counts as 0 until it is corrected")


def test_the_last_good_quota_survives_a_restart_in_the_status() -> None:
    """Q4, P4: a new process starts from the rows it finds."""
    stored = a_queue().with_quota_text("{").having_reported(H200, 3, "nvidia.com/gpu")
    status = wanted(a_world(stored), {})
    assert [(row["name"], row["quota"]) for row in status["cards"]] == [(H200, 3)]


def test_a_total_beyond_64_bits_is_cut_so_that_the_others_are_written() -> None:
    """The API server would refuse the whole status."""
    pods = [
        a_pod(name).in_queue("queue").stamped("queue", {H200: 2**63 - 1}).on_node("n")
        for name in ("a", "b")
    ]
    status = wanted(a_world(a_queue().with_quota({H200: 3, H800: 1}), *pods), {})
    large, other = status["cards"]
    assert (large["allocated"], large["requested"], large["quota"]) == (2**63 - 1, 2**63 - 1, 3)
    assert (other["name"], other["allocated"], other["quota"]) == (H800, 0, 1)


def test_beside_volcano_its_fields_are_volcanos() -> None:
    ledger = a_world(a_queue().with_quota({H200: 3}))
    assert {"state", "allocated"} <= wanted(ledger, {}).keys()
    assert not {"state", "allocated"} & wanted(ledger, {}, standalone=False).keys()


@pytest.mark.parametrize(
    "conditions",
    [
        *(None, [{}], "x", 7, {"a": 1}, ["x", None, [1]], [{"type": []}]),
        *(
            [{"type": "QuotaValid", "status": "True", "lastTransitionTime": time}]
            for time in (5, [1], "", "yesterday", "x" * 97_000)
        ),
    ],
)
def test_odd_stored_conditions_are_no_trouble(conditions: object) -> None:
    """Of any origin, as in an annotation: nothing of it stays that is no time."""
    found = wanted(a_world(a_queue()), {"conditions": conditions})["conditions"]
    assert [one["lastTransitionTime"] for one in found] == ["2026-02-02T00:00:00Z"] * 3
