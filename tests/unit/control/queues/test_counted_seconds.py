"""Card-seconds are written with everything else, and alone now and then (T5)."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from builders import H200, H800, a_pod, a_queue, see
from cardquota.cluster.api.api_error import OutcomeUnknown
from cardquota.control.queues.counted_seconds import outdated
from cardquota.control.queues.queue_reports import QueueReports
from cardquota.control.queues.queue_status import queue_status
from cardquota.control.queues.status_writer import TURN, StatusWriter
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.moments import moment_text, read_moment
from cardquota.quota.reports.queue_report import QueueReport, report
from cardquota.quota.steps import to_its_end

from ..fakes import a_world, refused, until

pytestmark = pytest.mark.fake_clock

REFRESH = 60.0
STARTED = 1_800_000_000.0


def passed() -> float:
    """Seconds on the loop's clock."""
    return asyncio.get_running_loop().time()


def time_of_day() -> float:
    return STARTED + passed()


class CountingLeader:
    """Ledger, reports and writer of one term, over a store that keeps each status."""

    def __init__(self, ledger: Ledger, *, standalone: bool = True) -> None:
        self.ledger = ledger
        self.writes: list[tuple[float, dict[str, Any]]] = []
        self.failures: list[Exception] = []
        begin = ledger.card_metering.begin
        now = self.term_began = int(time_of_day() * 1000)
        to_its_end(begin(lambda: int(passed() * 1000), now, renewed=None, longest=0))
        self.writer = StatusWriter(
            self, lambda: "2026-01-01T00:00:00Z", standalone=standalone, seconds_refresh=REFRESH
        )
        self.reports = QueueReports(
            ledger, self._post, clock=passed, time_of_day=time_of_day, seconds_refresh=REFRESH
        )

    def _post(self, queue: str, found: QueueReport | None) -> None:
        if found is not None:
            self.writer.want(found)

    async def patch(self, path: str, body: Any, content_type: str) -> str:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)
        self.writes.append((passed(), body))
        return f"{1_000 + len(self.writes)}"

    def begin(self, *stored: str) -> None:
        for queue in stored:
            self.writer.see(queue, {}, f"uid-{queue}", version="1")
        self.reports.all()

    def status(self, write: int = -1) -> dict[str, Any]:
        found: dict[str, Any] = self.writes[write][1]["status"]
        return found

    def row(self, write: int = -1) -> dict[str, Any]:
        found: dict[str, Any] = self.status(write)["cards"][0]
        return found

    def end(self) -> None:
        self.reports.stop()
        self.writer.close()


def running(name: str, queue: str = "queue") -> Any:
    return a_pod(name).in_queue(queue).stamped(queue, {H200: 2}).on_node("h200-a")


@pytest.fixture
async def leader() -> AsyncIterator[CountingLeader]:
    leader = CountingLeader(a_world(a_queue().with_quota({H200: 8})))
    yield leader
    leader.end()


async def test_an_idle_queue_is_written_once(leader: CountingLeader) -> None:
    leader.begin("queue")
    await asyncio.sleep(100 * REFRESH)
    assert len(leader.writes) == 1
    assert leader.row()["seconds"] == 0
    assert (
        read_moment(leader.status()["cardSecondsUntil"]) == (STARTED + leader.writes[0][0]) * 1000
    )


async def test_what_is_held_is_written_as_often_as_it_must_be(leader: CountingLeader) -> None:
    see(leader.ledger, running("a"))
    leader.begin("queue")
    await asyncio.sleep(10 * REFRESH)
    times = [at for at, _ in leader.writes]
    assert max(later - earlier for earlier, later in pairwise(times)) <= REFRESH
    assert len(times) <= 1 + 10 * REFRESH / (REFRESH / 2)
    begun = leader.term_began
    for number, (_, body) in enumerate(leader.writes):
        until = read_moment(body["status"]["cardSecondsUntil"])
        assert until is not None
        assert leader.row(number)["seconds"] == 2 * (until - begun) // 1000
        assert body["metadata"]["resourceVersion"]


async def test_other_news_carry_the_count_of_that_moment(leader: CountingLeader) -> None:
    see(leader.ledger, running("a"))
    leader.begin("queue")
    await asyncio.sleep(10)
    leader.ledger.pod_gone("uid-a")
    leader.reports.changed(["queue"])
    await asyncio.sleep(REFRESH)
    assert [leader.row(n)["allocated"] for n in range(len(leader.writes))] == [2, 0]
    assert leader.row()["seconds"] == 20


async def test_reports_that_change_nothing_are_not_written(leader: CountingLeader) -> None:
    see(leader.ledger, running("a"))
    leader.begin("queue")
    for _ in range(20):
        await asyncio.sleep(1.1)
        leader.reports.changed(["queue"])
    assert len(leader.writes) == 1


async def test_a_count_that_somebody_changes_is_put_right(leader: CountingLeader) -> None:
    see(leader.ledger, running("a"))
    leader.begin("queue")
    await asyncio.sleep(5)
    for changed in ({"seconds": 10**9}, {"seconds": None}):
        stored = {**leader.status(), "cards": [{**leader.row(), **changed}]}
        written = len(leader.writes)
        leader.writer.see("queue", {"status": stored}, "uid-queue", version=str(2_000 + written))
        await asyncio.sleep(2)
        assert len(leader.writes) == written + 1
        assert leader.row()["seconds"] < 100


async def test_also_of_a_card_that_nobody_holds_before_we_wrote_anything() -> None:
    leader = CountingLeader(a_world(a_queue().with_quota({H200: 8}).having_counted(H200, 50)))
    found = report(leader.ledger, "queue", moment_text(int(STARTED * 1000)))
    assert found is not None
    stored = queue_status(found, {}, now="2026-01-01T00:00:00Z", standalone=True)
    leader.writer.see("queue", {"status": stored}, "uid-queue", version="1")
    leader.reports.all()
    await asyncio.sleep(REFRESH)
    assert leader.writes == []
    leader.writer.see(
        "queue",
        {"status": {**stored, "cards": [{**stored["cards"][0], "seconds": 9}]}},
        "uid-queue",
    )
    await until(lambda: leader.writes)
    assert leader.row()["seconds"] == 50
    leader.end()


async def test_what_was_counted_is_written_on_the_queue_as_it_was_seen_alone() -> None:
    """Where the state is Volcano's to write, too: a leader whose term is over writes nothing."""
    leader = CountingLeader(a_world(a_queue().with_quota({H200: 8})), standalone=False)
    leader.begin("queue")
    await until(lambda: leader.writes)
    ((_, body),) = leader.writes
    assert "state" not in body["status"]
    assert body["metadata"]["resourceVersion"] == "1"
    leader.end()


async def test_cards_that_have_no_row_any_more_are_not_remembered(leader: CountingLeader) -> None:
    counting = leader.ledger.accounts_by_queue["queue"].card_seconds
    assert counting is not None
    for number in range(20):
        pod = a_pod(f"p{number}").in_queue("queue").stamped("queue", {f"made-up-{number}": 1})
        see(leader.ledger, pod.on_node("n"))
        leader.ledger.pod_gone(f"uid-p{number}")
    assert len(counting) == 20
    leader.begin("queue")
    await until(lambda: leader.writes)
    assert len(counting) == 0


async def test_a_refused_write_is_tried_again(leader: CountingLeader) -> None:
    leader.failures = [refused(500), refused(500)]
    see(leader.ledger, running("a"))
    leader.begin("queue")
    await until(lambda: leader.writes, 10)
    assert leader.row()["allocated"] == 2


async def test_a_write_that_landed_without_an_answer_is_not_sent_again(
    leader: CountingLeader,
) -> None:
    """What is stored then is ours, and not what somebody else has counted."""
    see(leader.ledger, running("a"))
    leader.begin("queue")
    await asyncio.sleep(5)
    landed: list[Any] = []

    async def landing(path: str, body: Any, content_type: str) -> str:
        landed.append(body["status"])
        raise OutcomeUnknown("no answer")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leader, "patch", landing)
        leader.ledger.pod_gone("uid-a")
        leader.reports.changed(["queue"])
        await until(lambda: landed)
    leader.writer.see("queue", {"status": landed[0]}, "uid-queue", version="2000")
    await asyncio.sleep(REFRESH)
    assert len(leader.writes) == 1


async def test_a_thousand_queues_take_turns() -> None:
    names = [f"q{n}" for n in range(1_000)]
    world = a_world(*(a_queue(name).with_quota({H200: 8}) for name in names))
    leader = CountingLeader(world)
    see(world, *(running(f"pod-{name}", name) for name in names))
    leader.begin(*names)
    await asyncio.sleep(5)
    assert len(leader.writes) == len(names)
    await asyncio.sleep(REFRESH / 2 + 60)
    again = [at for at, _ in leader.writes[len(names) :]]
    assert len(again) >= len(names)
    in_a_second = max(sum(1 for at in again if at <= one < at + 1.0) for one in again[::50])
    assert in_a_second <= 1 / TURN + 1
    leader.end()


async def test_what_is_outdated() -> None:
    def status(until: str | None, *allocated: int) -> dict[str, Any]:
        rows = [{"name": H800, "allocated": n} for n in allocated]
        return {"cards": rows, "cardSecondsUntil": until}

    wanted = status("2026-01-01T00:10:00Z", 0, 1)
    assert outdated({}, wanted, 300)
    assert outdated(status("nonsense", 1), wanted, 300)
    assert outdated(status("2026-01-01T00:07:30Z", 1), wanted, 300)
    assert outdated(status("2026-01-01T00:10:01Z", 1), wanted, 300)
    assert not outdated(status("2026-01-01T00:08:00Z", 1), wanted, 300)
    assert not outdated({}, status("2026-01-01T00:10:00Z", 0), 300)
    assert not outdated({}, status(None, 1), 300)
