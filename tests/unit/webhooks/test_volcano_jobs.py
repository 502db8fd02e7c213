"""V4: Reviews of Volcano's Jobs: refused is what could never run, the rest is told or admitted."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import H200, H800, a_namespace, a_pod, a_queue, a_volcano_job
from builders.volcano_job import VolcanoJobBody
from cardquota.quota import BODY, JOB_TASKS
from cardquota.quota import vocabulary as v
from cardquota_webhooks import volcano_jobs
from unit.webhooks.endpoint import Endpoint, ReviewAnswer, request_of

RED = a_queue("red").with_quota({H200: 3})
POD = a_pod().naming(H200).asking_for(1)
TAKEN = a_pod("x").in_queue("red").naming(H200).asking_for(2).stamped("red", {H200: 2})


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with Endpoint(RED) as endpoint:
        yield endpoint


def a_job(pods: int, least: int | None = None) -> VolcanoJobBody:
    return a_volcano_job().in_queue("red").with_task("worker", pods, POD, least)


TOO_MANY = a_job(4)


def in_mode(mode: str) -> Any:
    return a_namespace("team").labelled(v.NAMESPACE_MODE, mode)


async def test_what_never_runs_is_refused_with_the_reason_of_its_pods(endpoint: Endpoint) -> None:
    for more in ({}, {"dryRun": True}):
        said = await endpoint.validate(TOO_MANY, **more)
        assert (said.allowed, said.code) == (False, 403)
        assert said.reason == "InsufficientCardQuota"
        assert "its minimum of 4 pods, which start together: Queue <red> has" in said.text
    assert endpoint.counted("jobs", "deny") == 2


async def test_nothing_is_said_of_what_fits(endpoint: Endpoint) -> None:
    said = await endpoint.validate(a_job(3))
    assert (said.allowed, said.warnings) == (True, [])
    plain = a_volcano_job().in_queue("plain").with_task("a", 9, a_pod())
    endpoint.see(a_queue("plain"))
    assert (await endpoint.validate(plain)).warnings == []


async def test_what_its_pods_wait_for_is_told_on_them() -> None:
    async with Endpoint(RED, TAKEN) as endpoint:
        assert quiet(await endpoint.validate(a_job(3)))
    async with Endpoint(RED.closed(), unseen_wait=0.01) as endpoint:
        assert quiet(await endpoint.validate(TOO_MANY))
        assert quiet(await endpoint.validate(a_job(2).in_queue("gone")))


async def test_in_audit_mode_all_is_told_and_nothing_refused() -> None:
    for endpoint in (Endpoint(RED, TAKEN, mode="audit"), Endpoint(RED, TAKEN, in_mode("audit"))):
        async with endpoint:
            (said,) = (await endpoint.validate(TOO_MANY)).warnings
            assert said.startswith("audit: would be refused or wait: Job <team/train> can never")
            assert quiet(await endpoint.validate(a_job(3, 1).of(1)))


async def test_a_namespace_that_is_off_is_left_alone() -> None:
    async with Endpoint(RED, in_mode("off")) as endpoint:
        assert quiet(await endpoint.validate(TOO_MANY))


async def test_while_the_cluster_is_not_known_jobs_are_admitted(endpoint: Endpoint) -> None:
    endpoint.synced = False
    assert quiet(await endpoint.validate(TOO_MANY))
    endpoint.synced, endpoint.late = True, True
    assert quiet(await endpoint.validate(TOO_MANY))


async def test_what_is_not_seen_is_waited_for_and_never_refused() -> None:
    async with Endpoint(unseen_wait=0.01) as endpoint:
        assert quiet(await endpoint.validate(TOO_MANY))
        elsewhere = await endpoint.validate(TOO_MANY.put("new", "metadata", "namespace"))
        assert quiet(elsewhere)
    async with Endpoint(unseen_wait=60) as endpoint:
        asked = asyncio.create_task(endpoint.validate(TOO_MANY))
        await asyncio.sleep(0)
        endpoint.see(RED)
        assert not (await asked).allowed


async def test_a_bug_is_in_nobodys_way(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(volcano_jobs, "judge_job", broken)
    assert quiet(await endpoint.validate(TOO_MANY))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec",), "x"),
        (("spec", "tasks"), "x"),
        (("spec", "tasks"), [7]),
        (("spec", "tasks"), [{"replicas": "many"}]),
        (("spec", "tasks"), [{"replicas": 1, "template": {"spec": {"containers": {}}}}]),
        (("spec", "tasks"), [{"replicas": 1, "template": {"spec": []}}]),
        (("spec", "queue"), {}),
        (("metadata", "annotations"), []),
    ],
)
async def test_what_cannot_be_read_is_admitted_and_told(
    endpoint: Endpoint, path: tuple[str, ...], value: object
) -> None:
    said = await endpoint.validate(TOO_MANY.put(value, *path))
    assert said.allowed
    (told,) = said.warnings
    assert told.startswith("the Job cannot be read (")


@pytest.mark.parametrize(
    "job",
    [
        a_volcano_job(),
        a_volcano_job().put(None, "spec", "tasks"),
        a_volcano_job().put([], "spec", "tasks"),
        a_job(-1),
        a_job(0),
        a_job(10**9, 1).of(1),
        a_job(2**70, 1).of(1),
        a_job(2).of(-5),
        a_job(2, -1),
        a_job(2).put("", "metadata", "name").put("t-", "metadata", "generateName"),
    ],
)
async def test_odd_shapes_get_an_answer(job: VolcanoJobBody) -> None:
    async with Endpoint(RED, a_queue("default")) as endpoint:
        said = await endpoint.validate(job)
        assert said.allowed
        assert not any("bug" in text for text in said.warnings)


async def test_more_tasks_than_are_read_are_told() -> None:
    task = {"name": "t", "replicas": 1, "template": {}}
    job = a_volcano_job().put([task] * 10_000, "spec", "tasks")
    async with Endpoint(RED, a_queue("default")) as endpoint:
        (said,) = (await endpoint.validate(job)).warnings
        assert said.startswith(f"the Job has <10000> tasks, at most <{JOB_TASKS.most}> are read")


async def test_a_large_job_is_not_decoded(endpoint: Endpoint) -> None:
    large = TOO_MANY.annotated("example.com/long", "x" * BODY.most).put(7, "metadata", "uid")
    said = await endpoint.validate(large)
    assert said.allowed
    (told,) = said.warnings
    assert f"at most <{BODY.most}> are read" in told


async def test_many_large_jobs_hold_up_nobody() -> None:
    affinity = [{"matchExpressions": [{"key": f"k{n}", "operator": "Exists"}]} for n in range(25)]
    spec = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": affinity}}
    pod = POD.with_spec(affinity={"nodeAffinity": spec}).naming(f"{H200}|{H800}")
    job = a_job(1)
    template = {"metadata": {"annotations": pod.body["metadata"]["annotations"]}}
    template["spec"] = pod.body["spec"]
    tasks = [{"name": f"t{n}", "replicas": 1, "template": template} for n in range(JOB_TASKS.most)]
    body = json.dumps(request_of(job.put(tasks, "spec", "tasks")))
    assert len(body) < BODY.most
    request = json.loads(body)
    async with Endpoint(RED, a_queue("blue").with_quota({H800: 1})) as endpoint:
        many = [asyncio.create_task(endpoint.review("/validate", request)) for _ in range(5)]
        assert (await endpoint.validate(a_pod().in_queue("red"))).allowed is not None
        answers = await asyncio.gather(*many)
        assert not answers[0].allowed


def quiet(said: ReviewAnswer) -> bool:
    return said.allowed and said.warnings == []


async def test_keys_that_mean_nothing_are_told_once(endpoint: Endpoint) -> None:
    wrong, queue = "volcano.sh/card-name", "scheduling.volcano.sh/queuename"
    pod = POD.annotated(wrong, H200)
    job = a_volcano_job().in_queue("red").with_task("a", 1, pod)
    job = job.with_task("b", 1, pod.annotated(queue, "red"))
    job = job.annotated("volcano.sh/card.requests", "{}")
    said = await endpoint.validate(job)
    assert said.allowed
    assert said.warnings == [
        f"annotation <volcano.sh/card.requests> has no effect; did you mean {v.REQUEST}?",
        f"annotation <{wrong}> has no effect; did you mean {v.CARD_NAME}?",
        f"annotation <{queue}> has no effect; did you mean {v.QUEUE_NAME}?",
    ]
