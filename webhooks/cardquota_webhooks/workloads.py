"""A word to those who write workloads: how many of the pods would fit. Never refuses.

What it says is advice from the view of the moment; each pod gets its own answer when it is created.
A change of the template is judged by how many of the new pods fit once those of the old are gone.
"""

import logging
from typing import Final

import msgspec

from cardquota.cluster.pulse import Pulse
from cardquota.quota import messages
from cardquota.quota.card_alias import alias_warning
from cardquota.quota.judgement import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects.meta import Owner
from cardquota.quota.objects.pod import Pod
from cardquota.quota.pod_facts import PodFacts, pod_facts
from cardquota.quota.pod_request import PodRequest
from cardquota.quota.room import given_back, room_for
from cardquota.quota.verdict import Outcome, Verdict
from cardquota.quota.vocabulary import Policy
from cardquota.settings import Settings

from .patience import Exists, Patience
from .review import Answer, Request
from .workload_objects import Status, StoredWorkload, Template, Workload, pods_of_job

_LOG = logging.getLogger(__name__)
WORKLOADS: Final = (
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("apps", "replicasets"),
    ("batch", "jobs"),
    ("batch", "cronjobs"),
)
"""API group and resource of what gets warnings."""

_CONTROLLERS: Final = {
    "deployments": "ReplicaSet",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet",
    "jobs": "Job",
    "cronjobs": "Job",
}


_DECODER = msgspec.json.Decoder(Workload)
_STORED: Final[msgspec.json.Decoder[StoredWorkload | None]] = msgspec.json.Decoder(
    StoredWorkload | None
)


class WorkloadReviews:
    """Warnings on Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs."""

    def __init__(self, ledger: Ledger, settings: Settings, pulse: Pulse, exists: Exists) -> None:
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._patience = Patience(ledger, settings, pulse, exists)

    async def validate(self, request: Request) -> Answer:
        """Always allowed; a Warning says how many of the pods fit, and why not more.

        A template that cannot be read is the affair of its pods, and of the API server.
        """
        try:
            return await self._look(request)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return Answer()
        except Exception:  # noqa: BLE001
            _LOG.exception("no word could be said of one of %s", request.resource.resource)
            return Answer()

    async def _look(self, request: Request) -> Answer:
        workload = _DECODER.decode(request.object)
        template = workload.spec.of_pods.template
        facts = _pod_of(template, request)
        verdict = await self._patience.judge(facts)
        words = self._words(request, workload, facts, verdict)
        return Answer(warnings=words + alias_warning(template.metadata.annotations))

    def _words(
        self, request: Request, workload: Workload, facts: PodFacts, verdict: Verdict
    ) -> tuple[str, ...]:
        """How many of its pods fit, and why not more; nothing where all do."""
        if verdict.outcome is Outcome.NEVER:
            return (verdict.text,)
        account = self._ledger.account(verdict.queue)
        if account is None or verdict.outcome in (Outcome.UNMANAGED, Outcome.UNSEEN):
            return verdict.warnings
        waits = self._ledger.policy_of(facts, verdict.queue) is Policy.GATE
        pods = self._ledger.request_of(facts, verdict.queue)
        stored = _stored(request)
        status = stored.status if stored else Status()
        before = self._before(request, stored, verdict.queue)
        freed: dict[str, int] = {}
        if before is not None and before != pods:
            old = status.running if waits else status.pods
            freed = given_back(before, old, account)
        asked = self._asked(request, workload, status, facts, pods)
        missing = self._missing_of_gang(facts)
        room, charged = room_for(account, pods, max(1, asked, missing), freed)
        # Where there is room none of its pods waits; else those that run hold their quota.
        own = (status.pods if room or not waits else status.running) if before == pods else 0
        # A gang whose minimum has no room: none of it starts.
        fits = min(asked, own if room < missing else own + room)
        if fits >= asked:
            return verdict.warnings
        next_one = judge_create(
            self._ledger, facts, require_queue=self._require_queue, beside=charged
        )
        how_many = messages.partly_fits(workload.metadata.name, asked, fits, waits=waits)
        why = messages.shortfalls(verdict.queue, next_one.shortfalls) or next_one.text
        return (how_many, why) if why else (how_many,)

    def _asked(
        self,
        request: Request,
        workload: Workload,
        status: Status,
        facts: PodFacts,
        pods: PodRequest,
    ) -> int:
        """How many pods it wants at once; of a DaemonSet those that would find their card."""
        spec = workload.spec.of_pods
        match request.resource.resource:
            case "jobs":
                return pods_of_job(spec, status.succeeded)
            case "cronjobs":
                return pods_of_job(spec, 0)
            case "daemonsets":
                return self._ledger.nodes.count_selected(facts.selector, pods.cards)
        return 1 if spec.replicas is None else spec.replicas

    def _before(
        self, request: Request, stored: StoredWorkload | None, queue: str
    ) -> PodRequest | None:
        """What each of its present pods asks of this queue; None where they use another, or none
        are there.
        """
        if stored is None:
            return None
        facts = _pod_of(stored.spec.of_pods.template, request)
        return (
            self._ledger.request_of(facts, queue) if self._ledger.queue_of(facts) == queue else None
        )

    def _missing_of_gang(self, facts: PodFacts) -> int:
        """How many members the gang of these pods, if they have one, lacks to start."""
        book = self._ledger.groups.get(facts.group) if facts.group else None
        return max(0, book.missing) if book is not None and book.gang else 0


def _pod_of(template: Template, request: Request) -> PodFacts:
    meta = template.metadata
    meta.namespace = request.namespace
    meta.resource_version = ""  # of a template it means nothing, so anything may stand there
    kind = _CONTROLLERS.get(request.resource.resource, "")
    meta.owner_references = (Owner(kind=kind, controller=True),)
    return pod_facts(Pod(metadata=meta, spec=template.spec))


def _stored(request: Request) -> StoredWorkload | None:
    """The workload as it stands; None where it is created, or cannot be read."""
    try:
        return _STORED.decode(request.old_object)
    except (msgspec.DecodeError, RecursionError):
        return None
