"""The admission webhooks over a real ledger, without a cluster: reviews go in, answers come out."""

import asyncio
import base64
import io
import json
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from builders import CARDS, Body, a_ledger, a_namespace, see
from builders.group import GroupBody
from builders.pod import PodBody
from builders.queue import QueueBody
from builders.volcano_job import VolcanoJobBody
from cardquota.cluster.events import ObjectReference
from cardquota.cluster.watch import ChangeNotifier, ledger_settings
from cardquota.loop import turns
from cardquota.metrics import Metrics
from cardquota.quota import Effect
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects import Pod
from cardquota.quota.reclaim import ReclaimNotes
from cardquota.quota.vocabulary import REVIEW_GROUP, REVIEW_VERSION
from cardquota.settings import Settings
from cardquota_webhooks import (
    AdmissionResponse,
    AdmissionServer,
    CardlessClaims,
    PodGroupReviews,
    PodReviews,
    QuestionReviews,
    QueueReviews,
    RefusedWriteReviews,
    ResizeReviews,
    Reviewer,
    ScaleReviews,
    ScaleTargets,
    VisibilityWait,
    VolcanoJobReviews,
    WorkloadReviews,
)

RESOURCES = {
    PodBody: ("", "v1", "pods"),
    QueueBody: ("scheduling.volcano.sh", "v1beta1", "queues"),
    GroupBody: ("scheduling.volcano.sh", "v1beta1", "podgroups"),
    VolcanoJobBody: ("batch.volcano.sh", "v1alpha1", "jobs"),
}
UID = "review-\u00fc"
SECRET = "of-the-path"
NOW = 1_767_355_200.0
"""2026-01-02T12:00:00Z: when questions are asked."""


@dataclass(frozen=True)
class ReviewAnswer:
    """One answer."""

    status: int
    response: dict[str, Any]

    @property
    def allowed(self) -> bool:
        return bool(self.response["allowed"])

    @property
    def reason(self) -> str:
        return str(self.response["status"]["reason"])

    @property
    def text(self) -> str:
        return str(self.response["status"]["message"])

    @property
    def code(self) -> int:
        return int(self.response["status"]["code"])

    @property
    def warnings(self) -> list[str]:
        return list(self.response.get("warnings", []))

    @property
    def patch(self) -> list[dict[str, Any]]:
        """The JSON patch; empty where nothing is changed."""
        if "patch" not in self.response:
            return []
        assert self.response["patchType"] == "JSONPatch"
        found: list[dict[str, Any]] = json.loads(base64.b64decode(self.response["patch"]))
        return found


class Endpoint:
    """A server of its own; `synced` and `clock` may be set at any time.

    It has seen the namespace `team`, in which pods are if nobody says otherwise.
    """

    def __init__(self, *things: Body, unseen_wait: Any = None, **config: Any) -> None:
        """`unseen_wait`: seconds that a review waits: by a large number, who waits is not slow."""
        self.settings = Settings(**config)
        audit = self.settings.mode == "audit"
        self.ledger: Ledger = a_ledger(
            *CARDS,
            a_namespace("team"),
            *things,
            audit=audit,
            default_queue=self.settings.default_queue,
            exempt_cpu_memory=self.settings.card_unlimited_cpu_memory,
            policy_by_owner=ledger_settings(self.settings).policy_by_owner,
        )
        self.metrics = Metrics()
        self.notifier = ChangeNotifier()
        self.synced = True
        self.late = False
        self.now = 100.0
        self.there: bool | None = None
        """Whether the API server has the queue that is asked for; None: it does not answer."""
        self.asked: list[str] = []
        self.was_asked = asyncio.Event()
        self.selected: Pod | None = None
        self.answers = asyncio.Event()
        """Set while the API server answers who looks for pods."""
        self.answers.set()
        self.looked = asyncio.Event()
        self.looked_for: list[tuple[str, str]] = []
        self.claimed: dict[tuple[str, str, str], list[str]] = {}
        """The device classes of claims and templates, by namespace, kind and name."""
        self.claims_failure = ""
        """Why the API server does not say them."""
        self.claims = CardlessClaims(self.ledger, self.settings, self.classes)
        visibility = self.visibility = VisibilityWait(
            self.ledger, self.settings, self.notifier, self.exists, longest=unseen_wait
        )
        ledger, settings, refused = self.ledger, self.settings, self.metrics.refused_writes
        known, clock = (lambda: self.synced and not self.late), (lambda: self.now)
        self.audited: list[tuple[str, str, Effect]] = []
        """What audit mode let by: queue, namespace, and what enforcement would have done."""
        self.pods = PodReviews(
            ledger,
            settings,
            visibility,
            self.claims,
            lambda: self.synced,
            late=lambda: self.late,
            audited=lambda *row: self.audited.append(row),
        )
        self.reclaim_notes = ReclaimNotes()
        self.events: list[tuple[ObjectReference, str]] = []
        """Of autoscalers that got a part."""
        self.scales = ScaleReviews(
            ledger,
            settings,
            visibility,
            ScaleTargets(ledger, self.pod),
            lambda about, text, _: self.events.append((about, text)),
            known,
        )
        reviewers: list[Reviewer] = [
            self.pods,
            ResizeReviews(ledger, known),
            QueueReviews(ledger, known=known),
            PodGroupReviews(ledger, settings, visibility, known),
            WorkloadReviews(ledger, settings, visibility, self.claims),
            self.scales,
            RefusedWriteReviews(refused),
            VolcanoJobReviews(ledger, visibility, self.claims, known),
            QuestionReviews(
                ledger, settings, known, lambda: NOW, clock, refused, self.reclaim_notes
            ),
        ]
        self.server = AdmissionServer(reviewers, self.metrics, audit=audit)

    async def exists(self, queue: str) -> bool | None:
        self.asked.append(queue)
        self.was_asked.set()
        await asyncio.sleep(0)
        return self.there

    async def classes(self, namespace: str, kind: str, name: str) -> list[str] | None:
        if self.claims_failure:
            raise LookupError(self.claims_failure)
        await self.answers.wait()
        return self.claimed.get((namespace, kind, name))

    async def pod(self, namespace: str, selector: str) -> Pod | None:
        """One of the pods of the API server that this selector selects."""
        self.looked_for.append((namespace, selector))
        self.looked.set()
        await self.answers.wait()
        return self.selected

    async def has_looked_for(self, pods: int) -> None:
        """Return once so many pods were looked for."""
        while len(self.looked_for) < pods:
            self.looked.clear()
            await self.looked.wait()

    async def __aenter__(self) -> "Endpoint":
        self.http = self.server.http_for(lambda secret: secret == SECRET)
        await self.http.start("127.0.0.1", 0, None)
        host, port = self.http.addresses[0]
        self.client = aiohttp.ClientSession(f"http://{host}:{port}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        await self.http.stop(0.1)

    def see(self, *things: Body) -> None:
        """The watch brings news."""
        see(self.ledger, *things)
        self.notifier.notify()

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """By somebody who knows the secret of the path."""
        async with self.client.post(f"{path}/{SECRET}", data=io.BytesIO(body)) as answer:
            return answer.status, await answer.read()

    async def review(self, path: str, request: dict[str, Any]) -> ReviewAnswer:
        status, text = await self.post(path, review_of(request))
        assert status == 200, text
        answer = json.loads(text)
        assert answer["apiVersion"] == "admission.k8s.io/v1"
        assert answer["kind"] == "AdmissionReview"
        assert answer["response"]["uid"] == request["uid"]
        return ReviewAnswer(status, answer["response"])

    async def mutate(self, thing: Body, **more: Any) -> ReviewAnswer:
        return await self.review("/mutate", request_of(thing, **more))

    async def validate(self, thing: Body, **more: Any) -> ReviewAnswer:
        return await self.review("/validate", request_of(thing, **more))

    def counted(self, kind: str, decision: str) -> float:
        """Reviews, by the metric."""
        labels = {"kind": kind, "decision": decision}
        registry = self.metrics.registry
        return registry.get_sample_value("cardquota_admission_reviews_total", labels) or 0


def request_of(thing: Body, **more: Any) -> dict[str, Any]:
    group, version, resource = RESOURCES[type(thing)]
    return {
        "uid": UID,
        "resource": {"group": group, "version": version, "resource": resource},
        "operation": "CREATE",
        "name": thing.name,
        "namespace": thing.body["metadata"].get("namespace", ""),
        "userInfo": {"username": "tenant"},
        "object": thing.body,
        **more,
    }


def question(resource: str, spec: object, **more: Any) -> dict[str, Any]:
    return {
        "uid": UID,
        "resource": {"group": REVIEW_GROUP, "version": REVIEW_VERSION, "resource": resource},
        "operation": "CREATE",
        "userInfo": {"username": "tenant"},
        "dryRun": True,
        "object": {"metadata": {"generateName": "ask-"}, "spec": spec},
        **more,
    }


def review_of(request: object) -> bytes:
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(body).encode()


def patched(body: dict[str, Any], patch: list[dict[str, Any]]) -> list[str]:
    """The names of the gates of a pod after a patch of ours."""
    gates = [gate["name"] for gate in body.get("spec", {}).get("schedulingGates", ())]
    for step in patch:
        if step["path"].startswith("/metadata/"):
            continue
        match step["op"], step["path"]:
            case "add", "/spec/schedulingGates/-":
                gates.append(step["value"]["name"])
            case "add" | "replace", "/spec/schedulingGates":
                gates = [gate["name"] for gate in step["value"]]
            case "test", path:
                assert gates[int(path.split("/")[3])] == step["value"]
            case "remove", path:
                del gates[int(path.split("/")[3])]
            case unknown:
                raise AssertionError(unknown)
    return gates


def hold_answers(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Questions are in work until the second event is set; the first says that one is. Then the
    answer is 404.
    """
    begun, holds = asyncio.Event(), asyncio.Event()

    async def in_slices(_: object) -> AdmissionResponse:
        begun.set()
        await holds.wait()
        return AdmissionResponse(allowed=False, code=404)

    monkeypatch.setattr(turns, "in_slices", in_slices)
    return begun, holds
