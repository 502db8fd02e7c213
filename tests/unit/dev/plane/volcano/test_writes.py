"""What the processes write, before an API server of a few lines."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cardquota_dev.plane.volcano.api_client import ApiRefusalError, ObjectCache
from cardquota_dev.plane.volcano.api_objects import COMMANDS, GROUPS, JOBS, NODES, PODS, QUEUES
from cardquota_dev.plane.volcano.controllers.controllers import Controllers
from cardquota_dev.plane.volcano.controllers.retry_pauses import RetryPauses
from cardquota_dev.plane.volcano.scheduler.configuration import ConfigurationFile
from cardquota_dev.plane.volcano.scheduler.scheduler import VolcanoScheduler

from .volcano_api import until, volcano_api
from .volcano_objects import (
    Json,
    a_node,
    a_pod,
    a_pod_group,
    a_task,
    a_volcano_job,
    an_open_queue,
)

POD = "/api/v1/namespaces/team/pods"
EVENTS = "/api/v1/namespaces/team/events"
GROUP = "/apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups"
JOB = "/apis/batch.volcano.sh/v1alpha1/namespaces/team/jobs/train/status"


@asynccontextmanager
async def working(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def of_version(version: str, thing: Json) -> Json:
    thing["metadata"]["resourceVersion"] = version
    return thing


async def test_a_binding_has_all_annotations_of_the_cache(tmp_path: Path) -> None:
    """So an old value comes back: the API server merges them into the pod."""
    async with volcano_api(tmp_path) as (api, client):
        pod = a_pod("a")
        pod["metadata"]["annotations"]["example.com/x"] = "old"
        queue = an_open_queue()
        queue["status"] |= {"cards": [], "running": 3}
        group = of_version("7", a_pod_group(minimum=1))
        group["metadata"]["annotations"] = {"example.com/mark": "m"}
        group["status"]["columns"] = {"cards": "1"}
        api.lists = {PODS: [pod], NODES: [a_node("n1")], GROUPS: [group], QUEUES: [queue]}
        api.refused = {f"{POD}/a/binding": 422}
        scheduler = VolcanoScheduler(client, ConfigurationFile(None), 0.01)
        async with working(scheduler.work()):
            await until(lambda: len(api.bodies("POST", f"{POD}/a/binding")) > 1)
            await until(lambda: api.bodies("POST", EVENTS))
    binding = api.bodies("POST", f"{POD}/a/binding")[0]
    assert binding["target"]["name"] == "n1"
    assert binding["metadata"]["annotations"] == pod["metadata"]["annotations"]
    event = api.bodies("POST", EVENTS)[0]
    assert (event["reason"], event["message"]) == ("FailedScheduling", "refused: 422")
    # Pod groups are written whole, on the version that the cache has, less unknown fields.
    written = api.bodies("PUT", f"{GROUP}/g")[0]
    assert written["metadata"] == group["metadata"]
    assert written["status"]["phase"] == "Running"
    assert "columns" not in written["status"]
    status = api.bodies("PUT", f"{QUEUES}/default/status")[0]["status"]
    assert status["running"] == 3
    assert "cards" not in status


async def test_an_idle_scheduler_writes_nothing(tmp_path: Path) -> None:
    async with volcano_api(tmp_path) as (api, client):
        group = a_pod_group(minimum=1, phase="Running")
        pod = a_pod("a", node="n1", phase="Running")
        api.lists = {PODS: [pod], NODES: [a_node("n1")], GROUPS: [group], QUEUES: []}
        scheduler = VolcanoScheduler(client, ConfigurationFile(None), 0.01)
        async with working(scheduler.work()):
            await until(lambda: api.bodies("PUT", f"{GROUP}/g"))
            group["status"] = api.bodies("PUT", f"{GROUP}/g")[0]["status"]
            await api.events[GROUPS].put({"type": "MODIFIED", "object": group})
            other = an_open_queue()
            other["status"]["allocated"] = {"cpu": "5"}
            await api.events[QUEUES].put({"type": "ADDED", "object": other})
            # Whoever writes this has seen the group before.
            await until(lambda: api.bodies("PUT", f"{QUEUES}/default/status"))
            other["status"] = api.bodies("PUT", f"{QUEUES}/default/status")[0]["status"]
            await api.events[QUEUES].put({"type": "MODIFIED", "object": other})
            late = an_open_queue("late")
            late["status"]["allocated"] = {"cpu": "5"}
            await api.events[QUEUES].put({"type": "ADDED", "object": late})
            await until(lambda: api.bodies("PUT", f"{QUEUES}/late/status"))
            before = len(api.bodies("PUT", f"{GROUP}/g"))
            count = len(api.bodies("PUT", f"{QUEUES}/late/status"))
            await until(lambda: len(api.bodies("PUT", f"{QUEUES}/late/status")) > count + 3)
            assert len(api.bodies("PUT", f"{GROUP}/g")) == before


async def test_a_job_whose_pods_are_refused_is_terminated(tmp_path: Path) -> None:
    async with volcano_api(tmp_path) as (api, client):
        job = a_volcano_job(a_task())
        group = a_pod_group("train-u1")
        api.lists = {JOBS: [job], GROUPS: [group], PODS: [], QUEUES: [], COMMANDS: []}
        api.refused = {POD: 403}
        async with working(Controllers(client, RetryPauses(longest=0.01)).work()):

            def phases() -> list[str]:
                return [one["status"]["state"]["phase"] for one in api.bodies("PUT", JOB)]

            await until(lambda: "Terminating" in phases())
            told_of = of_version("2", api.bodies("PUT", JOB)[0])
            await api.events[JOBS].put({"type": "MODIFIED", "object": told_of})
            await until(lambda: "Terminated" in phases())
    told = [one["reason"] for one in api.bodies("POST", EVENTS)]
    assert told == ["FailedCreate"] * 16
    assert phases() == ["Terminating", "Terminated"]
    assert api.bodies("DELETE", f"{GROUP}/train-u1")


async def test_a_job_is_told_the_newest_true_condition_of_its_group(tmp_path: Path) -> None:
    async with volcano_api(tmp_path) as (api, client):
        group = a_pod_group("train-u1", phase="Pending")
        group["status"]["conditions"] = [
            {"type": "A", "status": "True", "message": "newest", "lastTransitionTime": "2026-02"},
            {"type": "B", "status": "True", "message": "older", "lastTransitionTime": "2026-01"},
            {"type": "C", "status": "False", "message": "no", "lastTransitionTime": "2026-03"},
        ]
        jobs = [a_volcano_job(a_task())]
        api.lists = {JOBS: jobs, GROUPS: [group], PODS: [], QUEUES: [], COMMANDS: []}
        async with working(Controllers(client, RetryPauses()).work()):
            await until(lambda: api.bodies("POST", EVENTS))
    told = api.bodies("POST", EVENTS)[0]
    assert (told["reason"], told["message"]) == ("PodGroupPending", "newest")
    assert told["involvedObject"]["kind"] == "Job"


async def test_a_pod_without_a_group_is_marked_after_its_group_is_there(tmp_path: Path) -> None:
    async with volcano_api(tmp_path) as (api, client):
        pod = a_pod("a", group="")
        api.lists = {JOBS: [], GROUPS: [], PODS: [pod], QUEUES: [], COMMANDS: []}
        async with working(Controllers(client, RetryPauses()).work()):
            await until(lambda: api.bodies("PATCH", f"{POD}/a"))
    assert [where for _, where, _ in api.written[:2]] == [GROUP, f"{POD}/a"]
    change = api.bodies("PATCH", f"{POD}/a")[0]
    assert change["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "podgroup-uid-a"}


async def test_a_cache_follows_its_collection(tmp_path: Path) -> None:
    async with volcano_api(tmp_path) as (api, client):
        cache = ObjectCache(client, PODS, lambda: None)
        async with working(cache.keep()):
            await until(cache.listed.is_set)
            assert len(cache) == 0, "there is no such collection yet"
            api.lists[PODS] = [a_pod("a")]
            await until(lambda: "team/a" in cache.objects)
            large = a_pod("b")
            large["metadata"]["annotations"]["example.com/large"] = "x" * 200_000
            await api.events[PODS].put({"type": "ADDED", "object": large})
            await until(lambda: "team/b" in cache.objects)
            await api.events[PODS].put({"type": "DELETED", "object": a_pod("a")})
            await until(lambda: "team/a" not in cache.objects)
            api.lists[PODS] = [a_pod("c")]
            gone = {"code": 410, "message": "too old"}
            await api.events[PODS].put({"type": "ERROR", "object": gone})
            await until(lambda: list(cache.objects) == ["team/c"])


async def test_a_refusal_has_the_status_and_the_message(tmp_path: Path) -> None:
    async with volcano_api(tmp_path) as (_, client):
        with pytest.raises(ApiRefusalError, match=r"^404 page not found$") as told:
            await client.ask("GET", "/nowhere")
        assert told.value.status == 404
