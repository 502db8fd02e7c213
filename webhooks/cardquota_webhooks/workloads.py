"""A word to those who write workloads: how many of the pods would fit. Never refuses.

What it says is advice from the view of the moment; each pod gets its own answer when it is created.
"""

import logging
from typing import Final

import msgspec

from cardquota.cluster.pulse import Pulse
from cardquota.quota import messages
from cardquota.quota.judgement import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects.meta import Owner
from cardquota.quota.objects.pod import Pod, PodMeta, PodSpec
from cardquota.quota.objects.wire import Wire
from cardquota.quota.pod_facts import PodFacts, pod_facts
from cardquota.quota.room import room_for
from cardquota.quota.verdict import Outcome
from cardquota.quota.vocabulary import Policy
from cardquota.settings import Settings

from .patience import Patience
from .review import Answer, Request

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


class _Template(Wire):
    metadata: PodMeta = msgspec.field(default_factory=PodMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)


class _JobTemplate(Wire):
    spec: "_Spec" = msgspec.field(default_factory=lambda: _Spec())


class _Spec(Wire):
    replicas: int | None = None
    parallelism: int | None = None
    template: _Template = msgspec.field(default_factory=_Template)
    job_template: _JobTemplate | None = None


class _Status(Wire):
    replicas: int = 0
    active: int = 0
    current_number_scheduled: int = 0


class _Meta(Wire):
    name: str = ""


class _Workload(Wire):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Stored(Wire):
    status: _Status = msgspec.field(default_factory=_Status)


_DECODER = msgspec.json.Decoder(_Workload)


class WorkloadReviews:
    """Warnings on Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs."""

    def __init__(self, ledger: Ledger, settings: Settings, pulse: Pulse) -> None:
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._patience = Patience(ledger, settings, pulse)

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
        spec = workload.spec.job_template.spec if workload.spec.job_template else workload.spec
        facts = _pod_of(spec.template, request)
        asked = _asked(request.resource.resource, spec)
        own = _own(request)
        verdict = await self._patience.judge(facts)
        if verdict.outcome is Outcome.UNMANAGED:
            return Answer(warnings=verdict.warnings)
        if verdict.outcome is Outcome.NEVER:
            return Answer(warnings=(verdict.text,))
        account = self._ledger.account(verdict.queue)
        if account is None or verdict.outcome is Outcome.UNSEEN:
            return Answer(warnings=verdict.warnings)
        request_of_one = self._ledger.request_of(facts, verdict.queue)
        missing = self._missing_of_gang(facts)
        room, charged = room_for(account, request_of_one, max(0, asked - own, missing))
        # A gang whose minimum has no room: none of it starts.
        fits = own if room < missing else min(asked, own + room)
        if fits >= asked:
            return Answer(warnings=verdict.warnings)
        waits = self._ledger.policy_of(facts, verdict.queue) is Policy.GATE
        next_one = judge_create(
            self._ledger, facts, require_queue=self._require_queue, beside=charged
        )
        return Answer(
            warnings=(
                messages.partly_fits(workload.metadata.name, asked, fits, waits=waits),
                messages.shortfalls(verdict.queue, next_one.shortfalls) or next_one.text,
            )
        )

    def _missing_of_gang(self, facts: PodFacts) -> int:
        """How many members the gang of these pods, if they have one, lacks to start."""
        book = self._ledger.groups.get(facts.group) if facts.group else None
        return max(0, book.missing) if book is not None and book.gang else 0


def _pod_of(template: _Template, request: Request) -> PodFacts:
    meta = template.metadata
    meta.namespace = request.namespace
    meta.resource_version = ""  # of a template it means nothing, so anything may stand there
    kind = _CONTROLLERS.get(request.resource.resource, "")
    meta.owner_references = (Owner(kind=kind, controller=True),)
    return pod_facts(Pod(metadata=meta, spec=template.spec))


def _asked(resource: str, spec: _Spec) -> int:
    if resource in ("jobs", "cronjobs"):
        return 1 if spec.parallelism is None else spec.parallelism
    if resource == "daemonsets":
        return 1
    return 1 if spec.replicas is None else spec.replicas


def _own(request: Request) -> int:
    """Pods this workload has already, by its own status; they hold their quota."""
    try:
        stored = msgspec.json.decode(request.old_object, type=_Stored | None)
    except (msgspec.DecodeError, RecursionError):
        return 0
    if stored is None:
        return 0
    status = stored.status
    return max(status.replicas, status.active, status.current_number_scheduled)
