"""The webhooks over HTTP: one path each, AdmissionReview in and out."""

import base64
import json
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from ..api_client import AccountClient
from ..api_objects import QUEUES, Json, name, status
from .reviews import job_defaults, job_fault, job_warnings, queue_fault

QUEUE_PATH = "/queues/validate"
JOB_PATH = "/jobs/validate"
JOB_DEFAULTS_PATH = "/jobs/mutate"


class VolcanoWebhooks:
    """Asks the API server for the queues when it is asked about a job, and keeps nothing."""

    def __init__(self, api: AccountClient) -> None:
        self._api = api

    def routes(self) -> list[web.RouteDef]:
        """Where each webhook is."""
        return [
            web.post(QUEUE_PATH, self._queue),
            web.post(JOB_PATH, self._job),
            web.post(JOB_DEFAULTS_PATH, self._defaults),
        ]

    async def _queue(self, http: web.Request) -> web.Response:
        request = await _request(http)
        return _answer(request, fault=queue_fault(request["object"]))

    async def _job(self, http: web.Request) -> web.Response:
        request = await _request(http)
        listed = await self._api.ask("GET", QUEUES)
        queues = {name(one): str(status(one).get("state") or "") for one in listed["items"]}
        job = request["object"]
        return _answer(request, fault=job_fault(job, queues), warnings=job_warnings(job))

    async def _defaults(self, http: web.Request) -> web.Response:
        request = await _request(http)
        return _answer(request, patch=job_defaults(request["object"]))


async def _request(http: web.Request) -> Json:
    review: dict[str, Any] = await http.json()
    return dict(review["request"])


def _answer(
    request: Json,
    *,
    fault: str = "",
    patch: list[Json] | None = None,
    warnings: Sequence[str] = (),
) -> web.Response:
    response: Json = {"uid": request["uid"], "allowed": not fault, "warnings": [*warnings]}
    if fault:
        response["status"] = {"message": fault, "code": 403}
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    return web.json_response(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    )
