"""V6: another scheduler of PodGroups is refused at the start, and told of if it comes later.

What the API server and a scheduler do with the probe is in tests/integration/volcano.
"""

import asyncio
import json
from typing import Any, cast

import pytest

from cardquota.cluster.api.api_error import ApiError, OutcomeUnknown
from cardquota.cluster.api.client import Client
from cardquota.control.reports.other_scheduler import OtherScheduler, OtherSchedulerError
from cardquota.control.reports.phase_probe import PhaseProbe
from cardquota.metrics import Metrics

pytestmark = pytest.mark.fake_clock


class OneGroup:
    """An API server with one pod group, and who writes its phase."""

    def __init__(self, *, writer: str = "") -> None:
        self.writer = writer
        self.there = False
        self.made = 0
        self.failure: Exception | None = None

    async def get(self, path: str) -> bytes:
        assert path.endswith("/namespaces/cardquota-system/podgroups/cardquota-phase-probe")
        if not self.there:
            raise ApiError(404, "NotFound", "not there")
        managed: list[dict[str, Any]] = [{"manager": "cardquota", "fieldsV1": {"f:spec": {}}}]
        body: dict[str, Any] = {"metadata": {"managedFields": managed}}
        if self.writer:
            body["status"] = {"phase": "Pending"}
            managed.append({"manager": self.writer, "fieldsV1": {"f:status": {"f:phase": {}}}})
        return json.dumps(body).encode()

    async def post(self, path: str, body: Any, **_: Any) -> bytes:
        assert path.endswith("/podgroups")
        assert body["spec"] == {"minMember": 1, "queue": "default"}
        self.there, self.made = True, self.made + 1
        return b"{}"

    async def delete(self, _: str) -> bytes:
        if self.failure is not None:
            raise self.failure
        if not self.there:
            raise ApiError(404, "NotFound", "not there")
        self.there = False
        return b"{}"


class OtherSchedulerStage:
    def __init__(self, *, writer: str = "") -> None:
        self.api = OneGroup(writer=writer)
        self.metrics = Metrics()
        self.changes = 0
        self.leads = True
        probe = PhaseProbe(
            cast("Client", self.api), "cardquota-system", clock=asyncio.get_running_loop().time
        )
        self.watch = OtherScheduler(probe, self.metrics, lambda: self.leads, self.changed)

    def changed(self) -> None:
        self.changes += 1

    def here(self) -> bool:
        return self.watch.here

    @property
    def shown(self) -> float | None:
        return self.metrics.registry.get_sample_value("cardquota_other_scheduler")


async def test_v6_at_the_start_it_is_refused_with_what_to_set() -> None:
    stage = OtherSchedulerStage(writer="vc-scheduler")
    with pytest.raises(OtherSchedulerError, match="set scheduler: volcano") as caught:
        await stage.watch.run()
    assert str(caught.value).startswith("<vc-scheduler> writes the phases of PodGroups")
    assert not stage.api.there


async def test_v6_who_comes_later_is_told_of_until_it_goes() -> None:
    stage = OtherSchedulerStage()
    task = asyncio.ensure_future(stage.watch.run())
    await asyncio.sleep(10)
    assert (stage.api.there, stage.api.made) == (False, 1)
    assert (stage.here(), stage.watch.faults, stage.shown) == (False, [], 0)
    stage.api.writer = "vc-scheduler"
    await asyncio.sleep(120)
    assert stage.here()
    assert stage.changes == stage.shown == 1
    assert "leaves phases alone" in stage.watch.faults[0]
    stage.api.failure = OutcomeUnknown("no answer")
    await asyncio.sleep(120)
    assert stage.here()
    stage.api.failure, stage.api.writer = None, ""
    await asyncio.sleep(120)
    assert not stage.here()
    assert (stage.changes, stage.shown) == (2, 0)
    assert not task.done()
    task.cancel()


async def test_v6_one_that_does_not_lead_says_nothing() -> None:
    stage = OtherSchedulerStage(writer="vc-scheduler")
    stage.leads = False
    await stage.watch.look()
    assert not stage.here()
    assert stage.api.made == 0
    stage.leads = True
    await stage.watch.look()
    assert stage.here()
    stage.leads = False
    await stage.watch.look()
    assert stage.here()  # nobody said that it has gone


async def test_v6_a_new_leader_looks_at_once_and_the_old_one_says_no_untruth(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    stage = OtherSchedulerStage()
    stage.leads = False
    task = asyncio.ensure_future(stage.watch.run())
    await asyncio.sleep(20)
    stage.api.writer = "vc-scheduler"
    await asyncio.sleep(200)
    assert not stage.here()
    stage.leads = True
    await asyncio.sleep(8)
    assert stage.here()
    stage.leads = False
    await asyncio.sleep(2)
    assert (stage.here(), stage.watch.faults, stage.shown) == (False, [], 0)
    assert stage.changes == 1  # its phases are not ours to write any more
    assert "does so no longer" not in caplog.text
    assert "writes no phases" not in caplog.text
    task.cancel()


async def test_v6_what_another_release_of_ours_writes_is_no_sign() -> None:
    stage = OtherSchedulerStage(writer="cardquota")
    await stage.watch.look()
    assert not stage.here()


async def test_v6_where_the_probe_may_not_be_written_nothing_is_refused() -> None:
    stage = OtherSchedulerStage(writer="vc-scheduler")
    stage.api.failure = ApiError(403, "Forbidden", "may not")
    task = asyncio.ensure_future(stage.watch.run())
    await asyncio.sleep(10)
    assert not task.done()
    assert not stage.here()
    task.cancel()


async def test_v6_a_probe_that_another_replica_takes_away_is_made_again() -> None:
    stage = OtherSchedulerStage()
    task = asyncio.ensure_future(stage.watch.look())
    await asyncio.sleep(1.1)
    stage.api.there = False
    await asyncio.sleep(1.1)
    assert stage.api.made == 2
    stage.api.writer = "vc-scheduler"
    await task
    assert stage.here()


async def test_v6_one_that_cannot_be_made_ends_the_look() -> None:
    stage = OtherSchedulerStage()

    async def refused(*_: Any, **__: Any) -> bytes:
        raise ApiError(404, "NotFound", "no such kind")

    stage.api.post = refused  # type: ignore[method-assign]
    await stage.watch.look()
    assert not stage.here()


async def test_v6_one_that_another_replica_has_just_made_is_looked_at() -> None:
    stage = OtherSchedulerStage(writer="vc-scheduler")

    async def there_already(*_: Any, **__: Any) -> bytes:
        stage.api.there = True
        raise ApiError(409, "AlreadyExists", "there already")

    stage.api.post = there_already  # type: ignore[method-assign]
    await stage.watch.look()
    assert stage.here()
