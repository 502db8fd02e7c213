"""Warnings when workloads are written: how many of their pods would fit. Never refuses.

It is advice from the present view; each pod gets its own answer when it is created. A change of the
template is judged by how many new pods fit once the old ones are gone. For a Deployment it is also
judged whether the first of them finds room at all, and for members of a gang whether the empty
queue has room for its minimum (E5).

One is judged after the other, and others have their answers in between. Its own pods are counted
before its turn.

Not known here: which waiting pods of others come first (E6), and whether the update of a DaemonSet
with a surge can begin.
"""

import logging
from functools import partial
from typing import Final, NamedTuple

import msgspec

from cardquota.install.webhook_objects import VALIDATE, WORKLOADS
from cardquota.loop.timing import WorkQueue
from cardquota.quota.accounts.account import AccountReader
from cardquota.quota.amounts import Amounts
from cardquota.quota.decisions.borrowing import must_go_first
from cardquota.quota.decisions.create_judgement import on_the_way
from cardquota.quota.decisions.gang_judgement import fault_of_workload
from cardquota.quota.decisions.queue_room import QueueRoom
from cardquota.quota.decisions.verdict_texts import card_not_steered, holders_text, told_of_default
from cardquota.quota.ledger.groups.pod_group_state import PodGroupState
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import group_messages, request_messages, shortfall_messages
from cardquota.quota.own_keys import KEYS_OF_PODS
from cardquota.quota.pods.pod_facts import PodFacts, alias_warning
from cardquota.quota.pods.pod_request import PodRequest
from cardquota.quota.pods.queue_pods import WorkloadUsage
from cardquota.quota.pods.workload_facts import pod_of_template
from cardquota.quota.verdict import Effect, Outcome, Shortfall, Verdict
from cardquota.quota.vocabulary import Reason
from cardquota.settings import Settings

from .fitting import WorkloadRoom, told, told_partly
from .pods import CardlessClaims, VisibilityWait, foreign_gates, with_claims
from .review import (
    UNREADABLE,
    AdmissionResponse,
    Request,
    Routes,
    key_warnings,
    keys_beside_template,
    of_template,
    too_large,
)
from .workload_objects import (
    KINDS,
    Makers,
    ReviewedWorkload,
    StoredWorkload,
    is_made_by,
    may_be_gone,
    pods_of_job,
)

_LOG = logging.getLogger(__name__)
_DECODER = msgspec.json.Decoder(ReviewedWorkload)
_STORED: Final[msgspec.json.Decoder[StoredWorkload | None]] = msgspec.json.Decoder(
    StoredWorkload | None
)


class _Change(NamedTuple):
    """What is written."""

    request: Request
    workload: ReviewedWorkload
    new: bool
    succeeded: int
    """Of its completions."""
    template: bool
    """Whether its template changes."""


class WorkloadReviews:
    """Warnings on Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        visibility: VisibilityWait,
        claims: CardlessClaims,
    ) -> None:
        self._ledger = ledger
        self._claims = claims
        self._beside_volcano = settings.scheduler == "volcano"
        self._visibility = visibility
        self._room = WorkloadRoom(ledger, settings)
        self._turns = WorkQueue[tuple[str, ...]]()
        self.routes: Final[Routes] = {
            (VALIDATE, group, resource): self.validate for group, resource, _, _ in WORKLOADS
        }

    async def validate(self, request: Request) -> AdmissionResponse:
        """Always allowed. A Warning says how many of the pods fit, and why not more.

        An unreadable template is left to the reviews of its pods, and to the API server.
        """
        if too_large(request):
            return AdmissionResponse(warnings=(too_large(request),))
        try:
            return await self._look(request)
        except UNREADABLE:
            return AdmissionResponse()
        except Exception:  # noqa: BLE001
            _LOG.exception("no word could be said of one of %s", request.resource.resource)
            return AdmissionResponse()

    async def _look(self, request: Request) -> AdmissionResponse:
        change = _read(request)
        template = change.workload.spec.of_pods.template
        keys = key_warnings(request, KEYS_OF_PODS, of_template)
        keys += keys_beside_template(request, template.metadata.annotations)
        request.drop_objects()
        claimed = await self._claims.leave_out(template.spec, request.namespace)
        kind = KINDS.get(request.resource.resource, "")
        facts = pod_of_template(template, request.namespace, kind, self._ledger.defaults)
        if request.operation == "CREATE":
            await self._visibility.group_of(facts)
        verdict = with_claims(await self._visibility.judge(facts), claimed)
        if self._beside_volcano:
            scheduler = template.spec.scheduler_name
            verdict = told_of_default(self._ledger, facts, verdict, scheduler)
        words = await self._words(change, facts, verdict)
        if words:
            words += card_not_steered(self._ledger, facts, verdict)
        words += alias_warning(template.metadata.annotations)
        words += keys
        gated = self._room.effect(facts, verdict._replace(outcome=Outcome.FITS)) is Effect.GATE
        if gated and verdict.outcome is not Outcome.UNMANAGED:
            deadline = change.workload.spec.of_pods.active_deadline_seconds
            words += foreign_gates(template.spec)
            # That of a pod begins when a kubelet has it.
            if deadline is not None:
                words += (request_messages.deadline_in_queue(deadline),)
        if verdict.reason is not Reason.DEVICE_CLAIMED and self._ledger.claims_devices(facts):
            words += (request_messages.claim_not_counted(),)
        return AdmissionResponse(warnings=words)

    async def _words(self, change: _Change, facts: PodFacts, verdict: Verdict) -> tuple[str, ...]:
        """How many of its pods fit, and why not more; empty if all do."""
        request, name = change.request, change.workload.metadata.name
        queue = verdict.queue
        if verdict.outcome is Outcome.NEVER:
            return told(self._room.effect(facts, verdict), verdict.text)
        # The effect on pods that do not fit.
        effect = self._room.effect(facts, verdict._replace(outcome=Outcome.WAITS))
        unjudged = verdict.outcome in (Outcome.UNMANAGED, Outcome.UNSEEN)
        if unjudged or self._ledger.account(queue) is None or effect is Effect.ALLOW:
            return verdict.warnings
        # Where nothing is enforced, the existing pods were admitted whether they fit or not.
        own = await self._room.held_by(
            queue,
            request.namespace,
            {} if change.new else _makers(request, name),
            None if change.template or effect is Effect.WARN else facts,
        )
        if own is None:
            return verdict.warnings
        return await self._turns.do(lambda: self._judge(change, facts, verdict, effect, own))

    def _judge(
        self,
        change: _Change,
        facts: PodFacts,
        verdict: Verdict,
        effect: Effect,
        own: WorkloadUsage,
    ) -> tuple[str, ...]:
        queue, name = verdict.queue, change.workload.metadata.name
        account = self._ledger.account(queue)
        if account is None:
            return verdict.warnings
        group = self._room.group_of(facts)
        pods = self._ledger.request_of(facts, queue)
        asked = self._asked(change, facts, pods)
        never = fault_of_workload(account, group, pods, asked) if group is not None else None
        if never is not None:
            said = group_messages.gang_never_starts(
                facts.group, queue, never.minimum, never.most, workload=name
            )
            return told(effect, said, shortfall_messages.shortfalls(queue, never.shorts))
        way = on_the_way(self._ledger, account, but=own.waiting)
        if change.template and effect is not Effect.WARN:
            least = _needed_to_begin(change, account, group, pods, asked, own, way)
            if least:
                cannot = shortfall_messages.update_cannot_begin(name, least)
                return told(effect, cannot, self._why(facts, queue, way))
        found = self._room.fitting(account, facts, asked, own.alike, way, own.given_back)
        fits = found.pods
        if fits >= asked:
            return verdict.warnings
        why = self._why(facts, queue, found.extra, may_borrow=False, together=found.together)
        return told_partly(effect, name, asked, fits, why)

    def _why(
        self,
        facts: PodFacts,
        queue: str,
        extra: Amounts,
        *,
        may_borrow: bool = True,
        together: int = 1,
    ) -> str:
        """Why the next pod does not fit beside these amounts, and who holds what it lacks, if that
        is short enough for a Warning; empty if it is not known. `together`: so many members of a
        gang start at once, and lack what its event says.
        """
        next_one = self._room.judged_beside(facts, extra, may_borrow=may_borrow)
        shorts = next_one.shortfalls
        if not shorts:
            return next_one.text
        if together > 1:
            shorts = tuple(self._of_gang(facts, queue, short, together) for short in shorts)
        held = holders_text(self._ledger, facts, queue, shorts)
        text = shortfall_messages.shortfalls(queue, shorts)
        return shortfall_messages.shortly_with_held(text, held)

    def _of_gang(self, facts: PodFacts, queue: str, short: Shortfall, members: int) -> Shortfall:
        """What all of them lack that one of them lacks."""
        asked, account = members * short.requested, self._ledger.account(queue)
        room = QueueRoom(account, self._room.group_of(facts)) if account is not None else None
        held = room.held(short.dimension) if room is not None else 0
        return Shortfall(short.dimension, asked, held + asked, short.capability)

    def _asked(self, change: _Change, facts: PodFacts, pods: PodRequest) -> int:
        """How many pods it wants at once. For a DaemonSet: how many would find their card."""
        spec = change.workload.spec.of_pods
        match change.request.resource.resource:
            case "jobs":
                return pods_of_job(spec, change.succeeded)
            case "cronjobs":
                return pods_of_job(spec, 0)
            case "daemonsets":
                return self._ledger.nodes.count_selected(facts.selector, pods.cards)
        return 1 if spec.replicas is None else spec.replicas


def _makers(request: Request, name: str) -> Makers:
    resource = request.resource.resource
    return {KINDS.get(resource, ""): partial(is_made_by, resource, name)}


def _read(request: Request) -> _Change:
    """Raises as decoding does."""
    workload, stored = _DECODER.decode(request.object), _stored(request.old_object)
    return _Change(
        request,
        workload,
        new=stored is None,
        succeeded=stored.status.succeeded if stored is not None else 0,
        template=stored is not None and stored.differs_from(_STORED.decode(request.object)),
    )


def _stored(body: bytes) -> StoredWorkload | None:
    """The stored workload. None if it is being created, or cannot be read."""
    try:
        return _STORED.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def _needed_to_begin(
    change: _Change,
    account: AccountReader,
    group: PodGroupState | None,
    pods: PodRequest,
    asked: int,
    own: WorkloadUsage,
    way: Amounts,
) -> int:
    """The least `maxUnavailable` with which a Deployment's update begins; 0: it begins as it is.

    Also 0 if no number helps: then none of its new pods fits, and another warning says so. An old
    pod goes first only if more pods hold quota than must stay. With a full quota and the default of
    25 %, of three pods none goes.
    """
    if change.request.resource.resource != "deployments" or not asked:
        return 0
    gone = may_be_gone(change.workload.spec, asked)
    first = must_go_first(account, pods, own, wanted=asked, group=group, extra=way)
    if gone is None or first is None:
        return 0
    surplus = own.holding - asked
    return first - surplus if first > max(0, surplus + gone) else 0
