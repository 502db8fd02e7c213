"""T7: who waits, and since when, stands on the Queue; and costs no write of its own."""

import asyncio

import pytest

from builders import H200, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.queues.queue_reconciler import queue_status
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import Waiting

from ..fakes import a_world, stored, until
from .queue_numbers import a_reconciler, numbers, seen, want

pytestmark = pytest.mark.fake_clock

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


class WaitingStore:
    """Takes every status; a fake, for its clock."""

    def __init__(self) -> None:
        self.waiting: list[object] = []

    async def patch(self, path: str, body: object, **_: object) -> bytes:
        await asyncio.sleep(0)
        assert isinstance(body, dict)
        self.waiting.append(body["status"]["waiting"])
        return stored(1_000 + len(self.waiting))


def waits(name: str, created: str) -> PodBody:
    return a_pod(name).in_queue("queue").naming(H200).asking_for(1).gated().created(created)


@pytest.fixture
def ledger() -> Ledger:
    return a_world(a_queue().with_quota({H200: 100}))


def test_t7_the_report_has_the_pods_that_wait_and_when_the_first_was_created(
    ledger: Ledger,
) -> None:
    assert numbers(ledger).waiting == (0, "")
    see(ledger, waits("late", LATE))
    see(ledger, waits("early", EARLY))
    assert numbers(ledger).waiting == (2, EARLY)


def test_t7_a_time_that_is_none_is_left_out(ledger: Ledger) -> None:
    """The API server would refuse the whole status."""
    see(ledger, waits("odd", "yesterday"))
    assert numbers(ledger).waiting == Waiting(1, "")
    status = queue_status(numbers(ledger), {}, now=LATE, standalone=True)
    assert status["waiting"] == {"pods": 1}


async def test_t7_it_is_written_with_the_rest_and_goes_when_nobody_waits(ledger: Ledger) -> None:
    store = WaitingStore()
    writer = a_reconciler(store)
    seen(writer, {})
    see(ledger, waits("early", EARLY))
    want(writer, numbers(ledger))
    await until(lambda: store.waiting == [{"pods": 1, "oldest": EARLY}])
    ledger.pod_gone("uid-early")
    want(writer, numbers(ledger))
    await until(lambda: store.waiting[1:] == [{"pods": 0}])
    writer.close()
