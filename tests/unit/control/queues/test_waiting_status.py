"""T7: who waits, and since when, stands on the Queue; and costs no write of its own."""

import pytest

from builders import H200, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.queues.queue_reconciler import queue_status
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import Waiting

from ..fakes import a_world
from .queue_numbers import numbers

pytestmark = pytest.mark.fake_clock

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


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
