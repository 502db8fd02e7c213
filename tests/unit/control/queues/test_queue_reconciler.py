"""Writes of Queue status: coalesced, never without a change, an edit by hand is put right."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from builders import H200, H800, a_pod, a_queue, see
from builders.queue import QueueBody
from cardquota.cluster.api import ApiError
from cardquota.control.queues import INTERVAL, queue_status
from cardquota.control.queues import queue_reconciler as module
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import Waiting, report

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


class Desk:
    """A reconciler over that server, and a ledger whose queue it writes."""

    def __init__(self, **more: Any) -> None:
        self.server = StatusServer()
        self.ledger = a_world(a_queue().with_quota({H200: 100}))
        self.writer = a_reconciler(self.server, **more)

    def want(self, pod: str = "") -> None:
        """The ledger's numbers, with one pod more that waits if one is named."""
        want(self.writer, one_more(self.ledger, pod) if pod else numbers(self.ledger))

    def seen(self, queue: dict[str, Any], *about: str, **more: str) -> None:
        seen(self.writer, queue, *about, **more)

    async def begin(self) -> None:
        """The first write."""
        self.seen({})
        self.want()
        await self.written()

    async def written(self, times: int = 1) -> None:
        await until(lambda: len(self.server.writes) >= times)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    desk.writer.close()


async def test_numbers_are_written_once_the_queue_has_been_seen(desk: Desk) -> None:
    desk.want()
    await asyncio.sleep(0.01)
    assert desk.server.writes == []
    desk.seen({})
    await desk.written()
    _, path, body = desk.server.writes[0]
    assert path == "/apis/scheduling.volcano.sh/v1beta1/queues/queue/status"
    assert (body["metadata"]["name"], body["metadata"]["uid"]) == ("queue", UID)
    assert body["status"]["cards"][0]["quota"] == 100


async def test_many_changes_are_one_write_and_the_last_one_is_right(desk: Desk) -> None:
    desk.seen({})
    began = asyncio.get_running_loop().time()
    for number in range(50):
        desk.want(f"p{number}")
        await asyncio.sleep(0.004)
    await until(lambda: desk.server.status["cards"][0]["requested"] == 50)
    times = [at for at, _, _ in desk.server.writes]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= INTERVAL - TICK
    # The first at once, then one per interval for as long as it took us to change things.
    assert len(times) <= 2 + (times[-1] - began) / INTERVAL


async def test_only_some_queues_are_written_at_a_time(desk: Desk) -> None:
    desk.server.hold = asyncio.Event()
    desk.ledger = a_world(*[a_queue(f"q{n}").with_quota({H200: 1}) for n in range(20)])
    for n in range(20):
        found = report(desk.ledger, f"q{n}")
        assert found is not None
        desk.seen({}, found.uid, name=found.name)
        want(desk.writer, found)
    await asyncio.sleep(3 * INTERVAL)
    assert len(desk.server.writes) == module.AT_A_TIME
    desk.server.hold.set()
    await desk.written(20)
    assert {at.split("/")[-2] for _, at, _ in desk.server.writes} == {f"q{n}" for n in range(20)}


@pytest.mark.parametrize(
    ("manager", "state", "ours"),
    [(v.FIELD_MANAGER, "Closed", True), ("vcctl", "Closed", False), ("vcctl", "Open", True)],
)
async def test_q6_whose_state_it_is(desk: Desk, manager: str, state: str, *, ours: bool) -> None:
    fields = [{"manager": manager, "fieldsV1": {"f:status": {"f:state": {}}}}]
    desk.seen({"metadata": {"managedFields": fields}, "status": {"state": state}})
    desk.want()
    await desk.written()
    assert ("state" in desk.server.status) is ours


@pytest.mark.parametrize("queue", [{}, {"metadata": {"name": 7}}, {"metadata": None}])
async def test_an_unreadable_queue_is_not_written(desk: Desk, queue: dict[str, Any]) -> None:
    desk.writer.seen(queue)
    desk.want()
    await asyncio.sleep(2 * INTERVAL)
    assert desk.server.writes == []


async def test_a_condition_holds_since_it_held_though_somebody_took_the_status_away() -> None:
    """Volcano writes its own status over ours all the time."""
    now = ["2026-01-01T00:00:00Z"]
    desk = Desk(now=lambda: now[0], standalone=False)
    await desk.begin()
    for later in ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"):
        now[0] = later
        before = len(desk.server.writes)
        desk.seen({"status": desk.server.status})
        desk.seen({"status": {"state": "Open", "allocated": {"cpu": "1"}}})
        await until(lambda before=before: len(desk.server.writes) > before)
        since = {one["lastTransitionTime"] for one in desk.server.status["conditions"]}
        assert since == {"2026-01-01T00:00:00Z"}
    desk.seen({}, "another")
    desk.writer.close()


async def test_an_empty_list_that_the_server_leaves_out_is_no_change(desk: Desk) -> None:
    """Server-side apply drops a list whose last row was taken out."""
    desk.seen({})
    want(desk.writer, numbers(a_world(a_queue())))
    await desk.written()
    assert desk.server.status["cards"] == []
    desk.seen({"status": {key: value for key, value in desk.server.status.items() if value}})
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(desk.server.writes) == 1


@pytest.mark.parametrize("edit", [{"cards": []}, {"cards": [{"name": "x"}]}, {"columns": None}])
async def test_an_edit_by_hand_is_put_right(desk: Desk, edit: dict[str, Any]) -> None:
    await desk.begin()
    right = desk.server.status
    desk.seen({"status": {**right, **edit}})
    await desk.written(2)
    assert desk.server.status == right


async def test_an_edit_seen_before_our_write_is_answered_is_put_right(desk: Desk) -> None:
    """The watch may be faster than the answer."""
    desk.server.hold = asyncio.Event()
    await desk.begin()
    right = desk.server.status
    desk.seen({"status": {**right, "cards": []}})
    desk.server.hold.set()
    await desk.written(2)
    assert desk.server.status == right
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(desk.server.writes) == 2


async def test_what_others_write_beside_ours_is_left_alone(desk: Desk) -> None:
    await desk.begin()
    desk.seen({"status": {**desk.server.status, "pending": 3, "reservation": {}}})
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(desk.server.writes) == 1


@pytest.mark.parametrize("failure", [denied(409), refused(403), lost()])
async def test_a_write_that_failed_is_tried_again(
    desk: Desk, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    desk.server.answers = [failure]
    desk.seen({})
    desk.want()
    await desk.written(2)
    assert desk.server.writes[1][0] - desk.server.writes[0][0] >= INTERVAL - TICK
    assert "status of queue" in caplog.text


async def test_a_write_that_fails_is_tried_again_when_the_server_wants_it(desk: Desk) -> None:
    desk.server.answers = [ApiError(429, "TooManyRequests", "later", retry_after=4 * INTERVAL)]
    await desk.begin()
    desk.want("p")
    await desk.written(2)
    assert desk.server.writes[1][0] - desk.server.writes[0][0] >= 4 * INTERVAL - TICK


async def test_another_state_of_the_queue_ends_the_pause_after_a_refusal() -> None:
    """While it is Closing Volcano's webhook refuses every update: its numbers are old."""
    old: list[int] = []
    desk = Desk(standalone=False, unwritten=old.append)
    desk.server.answers = [refused(403)] * 6
    desk.seen({"status": {"state": "Closing"}})
    desk.want()
    await desk.written(6)
    assert old == [1]
    desk.seen({"status": {"state": "Closing", "running": 2}})
    await asyncio.sleep(INTERVAL)
    assert len(desk.server.writes) == 6, "that is no other state"
    at = asyncio.get_running_loop().time()
    desk.seen({"status": {"state": "Open"}})
    await desk.written(7)
    assert desk.server.writes[6][0] - at < INTERVAL / 2
    await until(lambda: old == [1, 0])
    desk.server.answers = [refused(403)]
    desk.want("p")
    await until(lambda: old == [1, 0, 1])
    desk.writer.want(UID, None)
    desk.writer.gone(UID)
    assert old == [1, 0, 1, 0], "it is gone"
    desk.writer.close()
    desk.seen({"status": {"state": "Open"}})
    desk.want()
    await asyncio.sleep(INTERVAL / 2)
    assert desk.writer.working == 0, "nothing is begun any more"


async def test_a_queue_that_is_gone_is_written_no_more(desk: Desk) -> None:
    await desk.begin()
    desk.want("p")
    desk.writer.want(UID, None)
    await asyncio.sleep(INTERVAL * 1.5)
    assert len(desk.server.writes) == 1


async def test_a_write_that_fails_once_its_queue_is_gone_is_not_counted() -> None:
    old: list[int] = []
    desk = Desk(standalone=False, unwritten=old.append)
    desk.server.hold = asyncio.Event()
    desk.server.answers = [refused(503)]
    await desk.begin()
    desk.writer.want(UID, None)
    desk.writer.gone(UID)
    desk.server.hold.set()
    await until(lambda: not desk.server.answers)
    await asyncio.sleep(INTERVAL / 2)
    assert old == []
    desk.writer.close()


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
async def test_one_made_again_has_a_status_whatever_is_first(desk: Desk, order: list[str]) -> None:
    """Ledger and Kopf hear of the old one's end and of the new one in orders of their own."""
    old, new = (a_queue().with_quota({H200: 3}).with_uid(uid) for uid in (OLD, NEW))
    desk.seen({}, OLD)
    want(desk.writer, numbers(a_world(old)))
    await desk.written()

    def heard_of_new() -> None:
        desk.writer.want(OLD, None)
        want(desk.writer, numbers(a_world(new)))

    steps: dict[str, Callable[[], None]] = {
        "want": heard_of_new,
        "gone": lambda: desk.writer.want(OLD, None),
        "see": lambda: desk.seen({}, NEW),
        "seen gone": lambda: desk.writer.gone(OLD),
    }
    for step in order:
        steps[step]()
        await asyncio.sleep(0)
    await desk.written(2)
    assert desk.server.writes[1][2]["metadata"]["uid"] == NEW
    desk.writer.gone(NEW)
    desk.writer.want(NEW, None)
    await until(lambda: not desk.writer.working)
    assert len(desk.writer) == 0


async def test_the_answer_for_the_old_queue_says_nothing_of_the_new(desk: Desk) -> None:
    """It would pass for a status that is right already."""
    old, new = (a_queue().with_quota({H200: 3}).with_uid(uid) for uid in (OLD, NEW))
    desk.server.hold = asyncio.Event()
    desk.seen({}, OLD)
    want(desk.writer, numbers(a_world(old)))
    await desk.written()
    desk.writer.gone(OLD)
    desk.seen({}, NEW)
    want(desk.writer, numbers(a_world(new)))
    desk.server.hold.set()
    await desk.written(2)
    assert desk.server.writes[1][2]["metadata"]["uid"] == NEW


async def test_the_next_write_is_on_what_the_last_one_made(desk: Desk) -> None:
    desk.seen({}, version="7")
    desk.want()
    await desk.written()
    for late in ("7", "1000"):
        desk.seen({}, version=late)
    desk.want("p")
    await desk.written(2)
    assert desk.server.writes[1][2]["metadata"]["resourceVersion"] == "1001"


async def test_an_older_status_seen_while_we_write_is_no_news(desk: Desk) -> None:
    desk.server.hold = asyncio.Event()
    desk.seen({}, version="7")
    desk.want()
    await desk.written()
    desk.seen({"status": {"pending": 1}}, version="8")
    desk.server.hold.set()
    await asyncio.sleep(3 * INTERVAL)
    assert len(desk.server.writes) == 1
    desk.want("p")
    await desk.written(2)
    assert desk.server.writes[1][2]["metadata"]["resourceVersion"] == "1001"


async def test_without_a_version_answered_the_next_waits_until_ours_is_seen(desk: Desk) -> None:
    desk.server.unreadable = True
    desk.seen({}, version="7")
    desk.want()
    await desk.written()
    desk.want("p")
    await asyncio.sleep(3 * INTERVAL)
    assert len(desk.server.writes) == 1
    desk.seen({"status": desk.server.status}, version="8")
    await desk.written(2)
    assert desk.server.writes[1][2]["metadata"]["resourceVersion"] == "8"


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
    first, now = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"
    assert times == {"QuotaValid": first, "OverQuota": now, "Oversold": first}


NEVER = a_queue().with_quota_text("zzz")


@pytest.mark.parametrize(
    ("queues", "said", "cards"),
    [
        (
            [a_queue().with_quota({H200: 3}), a_queue().with_quota_text("{").at_revision(2)],
            "the last good quota stays in force until it is corrected",
            [3],
        ),
        ([NEVER], "there is no earlier one: all cards are 0 until it is corrected", []),
        ([a_queue().limited_to(cpu="1e400")], "it counts as 0 until it is corrected", []),
    ],
    ids=["a quota after a good one", "a quota that never was a good one", "a limit"],
)
def test_q4_what_cannot_be_read_is_told_and_what_holds_until_then(
    queues: list[QueueBody], said: str, cards: list[int]
) -> None:
    """It is stored all the same; the last good one counts."""
    ledger = a_world()
    for queue in queues:
        see(ledger, queue)
    status = wanted(ledger, {})
    valid = next(one for one in status["conditions"] if one["type"] == "QuotaValid")
    assert (valid["status"], valid["reason"]) == ("False", "Unreadable")
    assert valid["message"].endswith(said)
    assert [row["quota"] for row in status["cards"]] == cards


def test_the_last_good_quota_survives_a_restart_in_the_status() -> None:
    """Q4, P4: a new process starts from the rows it finds."""
    stored = a_queue().with_quota_text("{").having_reported(H200, 3, "nvidia.com/gpu")
    status = wanted(a_world(stored), {})
    assert [(row["name"], row["quota"]) for row in status["cards"]] == [(H200, 3)]


def test_a_total_beyond_64_bits_is_cut_so_that_the_others_are_written() -> None:
    """The API server would refuse the whole status."""
    most = {H200: 2**63 - 1}
    pods = [a_pod(n).in_queue("queue").stamped("queue", most).on_node("n") for n in "ab"]
    status = wanted(a_world(a_queue().with_quota({H200: 3, H800: 1}), *pods), {})
    large, other = status["cards"]
    assert (large["allocated"], large["requested"], large["quota"]) == (2**63 - 1, 2**63 - 1, 3)
    assert (other["name"], other["allocated"], other["quota"]) == (H800, 0, 1)


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


def test_t7_a_time_that_is_none_is_left_out() -> None:
    """The API server would refuse the whole status."""
    ledger = a_world(a_queue(), a_pod("odd").in_queue("queue").gated().created("yesterday"))
    assert numbers(ledger).waiting == Waiting(1, "")
    status = wanted(ledger, {})
    assert status["waiting"] == {"pods": 1}
