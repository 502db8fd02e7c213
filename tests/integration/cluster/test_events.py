import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from cardquota.cluster.api import Client
from cardquota.cluster.events import EventRecorder, ObjectReference, cut
from harness.proxy import Proxy

from .conftest import until


@pytest.fixture
async def recorder(client: Client) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(client, instance="replica-0")
    task = asyncio.create_task(recorder.run())
    yield recorder
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def _pod(namespace: str, name: str = "p", uid: str = "u-1") -> ObjectReference:
    return ObjectReference("Pod", "v1", namespace, name, uid)


async def _events(client: Client, namespace: str, **fields: str) -> list[dict[str, Any]]:
    selector = ",".join(f"{key}={value}" for key, value in fields.items())
    body = await client.get(
        f"/api/v1/namespaces/{namespace}/events", params={"fieldSelector": selector}
    )
    items: list[dict[str, Any]] = msgspec.json.decode(body)["items"]
    return sorted(items, key=lambda event: int(event["metadata"]["resourceVersion"]))


async def test_one_event_per_change_of_the_reason(
    client: Client, recorder: EventRecorder, namespace: str
) -> None:
    pod = _pod(namespace)
    for number in range(5):
        recorder.record(pod, type="Warning", reason="Full", message=f"needs {number}")
    recorder.record(pod, type="Normal", reason="Released", message="x" * 2000)
    recorder.record(pod, type="Warning", reason="Full", message="again")
    recorder.forget(pod.uid)
    recorder.record(pod, type="Warning", reason="Full", message="and again")
    recorder.record(_pod(namespace, uid="u-2"), type="Warning", reason="Full", message="another")
    await until(lambda: recorder.written == 5, "five events")
    got = await _events(client, namespace)
    assert [(e["reason"], e["message"][:9]) for e in got] == [
        ("Full", "needs 0"),
        ("Released", "x" * 9),
        ("Full", "again"),
        ("Full", "and again"),
        ("Full", "another"),
    ]
    assert len(got[1]["message"]) == 1024
    assert got[0]["involvedObject"]["uid"] == "u-1"
    assert got[0]["source"] == {"component": "cardquota", "host": "replica-0"}
    assert got[0]["reportingComponent"] == "cardquota"
    assert got[0]["type"] == "Warning"
    assert got[0]["count"] == 1


async def test_cluster_scoped_objects_have_theirs_in_default(
    client: Client, recorder: EventRecorder, unique: str
) -> None:
    queue = ObjectReference("Queue", "scheduling.volcano.sh/v1beta1", "", unique, unique)
    recorder.record(queue, type="Warning", reason="QuotaInvalid", message="no")
    await until(lambda: recorder.written, "the event")
    (event,) = await _events(client, "default", **{"involvedObject.name": unique})
    assert "namespace" not in event["involvedObject"]


async def test_what_is_refused_is_dropped_and_the_rest_goes_on(
    client: Client, recorder: EventRecorder, namespace: str
) -> None:
    recorder.record(_pod("no-such-namespace"), type="Normal", reason="R", message="m")
    recorder.record(_pod(namespace, uid="u-2"), type="Normal", reason="R", message="m")
    await until(lambda: recorder.written == recorder.dropped == 1, "the other event, and the loss")


async def test_an_event_is_written_once_however_often_it_is_tried(
    client: Client, proxied: Client, proxy: Proxy, namespace: str
) -> None:
    recorder = EventRecorder(proxied, instance="replica-0")
    proxy.cut(stay_closed=True)
    recorder.record(_pod(namespace), type="Normal", reason="R", message="m")
    task = asyncio.create_task(recorder.run())
    await until(lambda: not recorder.waiting, "the first try")
    proxy.reopen()
    await until(lambda: recorder.written, "the event")
    assert len(await _events(client, namespace)) == 1
    task.cancel()


async def test_a_full_queue_loses_its_oldest(client: Client, namespace: str) -> None:
    recorder = EventRecorder(client, instance="i", queue_size=2, remembered=2)
    for number in range(4):
        recorder.record(_pod(namespace, uid=f"u-{number}"), type="Normal", reason="R", message="m")
    assert recorder.dropped == 2
    reasons = [recorder.last_reason(f"u-{number}") for number in range(4)]
    assert reasons == [None, None, "R", "R"]


def test_messages_are_cut_between_characters() -> None:
    assert cut("short") == "short"
    text = cut("ä" * 600)
    assert len(text.encode()) <= 1024
    assert text == "ä" * 510 + "..."


def test_what_to_do_is_kept_of_a_message_that_is_cut() -> None:
    lacks = "; ".join(f"Queue <{'ö' * 100}> has insufficient <card-{n}> quota" for n in range(9))
    advice = "wait until some of it is free, or ask the queue's owner for a higher quota"
    order = "number <1> of <3> that wait in Queue <q>"
    text = cut(f"{lacks}; {advice}; {order}")
    assert len(text.encode()) in (1023, 1024)
    assert text.startswith("Queue <ö")
    assert text.endswith(f"; {advice}; {order}")
    assert "..." in text
    assert cut("a; " + "ä" * 600).endswith("ä...")


async def test_an_event_is_renewed_and_lives_another_hour(
    client: Client, recorder: EventRecorder, namespace: str
) -> None:
    """Every field of it can be patched, whoever stored it; one that was deleted is there again."""

    async def record(message: str, **more: Any) -> dict[str, Any]:
        written = recorder.written
        pod = _pod(namespace, uid=f"u-{namespace}")
        recorder.record(pod, type="Warning", reason="Full", message=message, renewable=True, **more)
        await until(lambda: recorder.written > written, "the event")
        (event,) = await _events(client, namespace)
        return event

    first = await record("needs 1")
    path = f"/api/v1/namespaces/{namespace}/events/{first['metadata']['name']}"
    second = await record("needs 2", again=True)
    assert second["metadata"]["uid"] == first["metadata"]["uid"]
    assert (first["message"], second["message"]) == ("needs 1", "needs 2")
    assert (first["count"], second["count"]) == (1, 2)
    assert second["firstTimestamp"] == first["firstTimestamp"]

    theirs = {"involvedObject": {"uid": "x", "name": "x"}, "type": "Normal", "reason": "Mine"}
    await client.patch(path, theirs)
    third = await record("needs 3", again=True)
    assert {**third, "metadata": {}} == {
        **second,
        "metadata": {},
        "message": "needs 3",
        "count": 3,
        "lastTimestamp": third["lastTimestamp"],
    }

    await client.send("DELETE", path)
    fourth = await record("needs 4", again=True)
    assert (fourth["message"], fourth["count"]) == ("needs 4", 1)
    assert fourth["metadata"]["uid"] != first["metadata"]["uid"]
