"""What `/readyz` says: not ready before everything is read and served; old news do not end it."""

import threading
from dataclasses import dataclass

import pytest
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import Metric
from prometheus_client.registry import Collector

from builders import H200, a_ledger, a_queue
from cardquota.metrics import Metrics
from cardquota.runtime.probes import Probes


@dataclass
class Watch:
    """A reflector as far as it is asked here; the real one is in tests/integration/cluster."""

    kind: str
    synced: bool = True
    seconds: float = 1.0

    @property
    def late(self) -> bool:
        return self.seconds > 90

    def lag(self) -> float:
        return self.seconds


@pytest.fixture
def watches() -> list[Watch]:
    return [Watch("pods"), Watch("nodes")]


async def ready(probes: Probes) -> tuple[int, str]:
    async with TestClient(TestServer(probes.application())) as client:
        answer = await client.get("/readyz")
        return answer.status, (await answer.text()).strip()


def of(watches: list[Watch]) -> Probes:
    return Probes(a_ledger(), Metrics(), watches, lambda: None)  # type: ignore[arg-type]


async def test_not_ready_before_all_is_read_and_served(watches: list[Watch]) -> None:
    probes = of(watches)
    watches[1].synced = False
    assert await ready(probes) == (503, "not synced: nodes")
    watches[1].synced = True
    assert await ready(probes) == (503, "not serving yet")
    probes.serving = True
    assert await ready(probes) == (200, "ok")


async def test_who_lags_is_named_and_stays_ready(watches: list[Watch]) -> None:
    """Leaving the Service would turn gates into refusals."""
    probes = of(watches)
    probes.serving = True
    watches[0].seconds = 120.4
    assert await ready(probes) == (200, "ok, lagging: pods 120 s")


async def test_what_is_to_be_put_right_is_told_and_no_reason_to_leave(
    watches: list[Watch],
) -> None:
    notes = ["Secret <a/b> is missing", "a binding is missing"]
    probes = Probes(a_ledger(), Metrics(), watches, lambda: None, lambda: notes)  # type: ignore[arg-type]
    assert await ready(probes) == (503, "not serving yet\n" + "\n".join(notes))
    probes.serving = True
    assert await ready(probes) == (200, "ok\n" + "\n".join(notes))
    notes.clear()
    assert await ready(probes) == (200, "ok")


async def test_the_lag_is_exported(watches: list[Watch]) -> None:
    probes = of(watches)
    async with TestClient(TestServer(probes.application())) as client:
        page = await (await client.get("/metrics")).text()
    assert 'cardquota_reflector_lag_seconds{kind="nodes"} 1.0' in page


async def test_the_metrics_are_written_in_a_thread_of_their_own() -> None:
    """To write many rows takes long, and reviews wait in the loop."""
    writers: list[int] = []

    class Curious(Collector):
        def describe(self) -> list[Metric]:
            return []

        def collect(self) -> list[Metric]:
            writers.append(threading.get_ident())
            return []

    metrics = Metrics()
    metrics.registry.register(Curious())
    probes = Probes(a_ledger(a_queue("red").with_quota({H200: 3})), metrics, [], lambda: None)
    async with TestClient(TestServer(probes.application())) as client:
        page = await (await client.get("/metrics")).text()
    assert 'cardquota_queue_card_quota{card="NVIDIA-H200",queue="red"} 3.0' in page
    assert len(writers) == 1
    assert threading.get_ident() not in writers
