"""A process that serves a cluster of 1,000 queues to the commands of the plugin, over TLS.

`python -m bench.processes.plugin_api FOLDER PODS`: as `fake_api`, with 900 queues more than that
has, a status of each, the label of managed pods, and an answer to every QueueReview and
WorkloadReview. Not real: a page costs it less than an API server, which reads and encodes it anew,
and nothing is installed but what a webhook configuration says.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from cardquota.quota import vocabulary as v

from ..bodies import big_cluster
from .fake_api import FakeApi, serve_until_told

QUEUES: Final = 1_000
_TIME: Final = "2026-02-01T08:00:00Z"


class PluginApi(FakeApi):
    """Collections, and answers to questions."""

    def __init__(self, pods: int) -> None:
        super().__init__(pods)
        kind, group, listed = self._lists["/api/v1/pods"]
        label = f'"labels":{{"{v.MANAGED}":"true",'.encode()
        managed = [one.replace(b'"labels":{', label, 1) for one in listed]
        assert all(label in one for one in managed)
        self._lists["/api/v1/pods"] = kind, group, managed
        path = f"/apis/{v.API_GROUP}/{v.VERSION}/queues"
        self._list(path, "Queue", _queues(pods))
        for empty in ("replicasets", "statefulsets", "daemonsets", "deployments"):
            self._list(f"/apis/apps/v1/{empty}", empty, ())
        self._list("/apis/batch/v1/jobs", "Job", ())
        self._list("/api/v1/events", "Event", ())

    async def _post(self, http: web.Request) -> web.Response:
        if http.path.endswith("/subjectaccessreviews"):
            return web.json_response({"status": {"allowed": True}}, status=201)
        if v.REVIEW_GROUP not in http.path:
            return await super()._post(http)
        body = json.loads(await http.read())
        return web.json_response({**body, "status": _answer(body)}, status=201)


def _queues(pods: int) -> Iterator[bytes]:
    chance: list[dict[str, Any]] = [json.loads(one) for one in big_cluster.queues(pods)]
    for number in range(QUEUES):
        queue = chance[number % len(chance)]
        queue["metadata"]["name"] = big_cluster.queue_name(number)
        quota = json.loads(queue["metadata"]["annotations"][v.QUOTA])
        used = number < len(chance)
        queue["status"] = _status(quota if used else dict.fromkeys(quota, 0))
        yield json.dumps(queue, separators=(",", ":")).encode()


def _status(quota: dict[str, int]) -> dict[str, Any]:
    cards = [
        {
            "name": card,
            "quota": amount,
            "allocated": amount * 8 // 9,
            "inqueue": amount // 9,
            "elastic": 0,
            "requested": amount * 10 // 9,
            "guarantee": amount,
            "deserved": amount,
            "offline": amount // 9,
        }
        for card, amount in quota.items()
    ]
    columns = {"cards": "NVIDIA-H200 40/45, NVIDIA-H800 40/45", "requested": "NVIDIA-H200 50"}
    waiting = {"pods": 20, "oldest": _TIME}
    return {"state": "Open", "cards": cards, "waiting": waiting, "columns": columns}


def _answer(body: dict[str, Any]) -> dict[str, Any]:
    """As the operator's, of a queue with a hundred who wait."""
    amounts = [{"name": "NVIDIA-H200", "amount": 1}]
    named = {"kind": "Pod", "namespace": "team", "pods": 1, "since": _TIME}
    if body["kind"] == "WorkloadReview":
        pods = {"running": 0, "letThrough": 0, "waiting": 1, "lacking": 0}
        about = {"kind": "Job", "namespace": "team", "name": "train", "time": _TIME, "queue": "q"}
        return {
            **about,
            "state": "Waits",
            "asks": amounts,
            "pods": pods,
            "reason": "",
            "message": "Queue <q> has insufficient quota",
        }
    rows = (
        "quota",
        "allocated",
        "inqueue",
        "elastic",
        "requested",
        "left",
        "allocatable",
        "free",
        "mostOnNode",
        "fits",
    )
    return {
        "queue": body["spec"].get("queue", ""),
        "state": "Open",
        "fifo": False,
        "time": _TIME,
        "cards": [
            {"name": big_cluster.card(one), **dict.fromkeys(rows, 3)}
            for one in big_cluster.PRODUCTS
        ],
        "moreCards": 0,
        "resources": [{"name": "cpu", "allocated": "0", "inqueue": "0", "requested": "0"}],
        "heldPods": 10,
        "holders": [{**named, "name": f"chat-{n}", "cards": amounts} for n in range(20)],
        "moreHolders": 0,
        "waitingPods": 100,
        "waiters": [
            {
                **named,
                "place": n,
                "name": f"wait-{n}",
                "asks": amounts,
                "reason": "BehindInQueue",
                "message": "others come first",
            }
            for n in range(1, 21)
        ],
        "moreWaiters": 80,
    }


if __name__ == "__main__":
    asyncio.run(serve_until_told(PluginApi(int(sys.argv[2])), Path(sys.argv[1])))
