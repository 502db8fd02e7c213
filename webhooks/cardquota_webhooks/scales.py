"""Reviews of `*/scale`: how many replicas fit. People are refused what does not fit; autoscalers
get the part that fits, and are refused once nothing more does.

It is advice from the present view, given early: each pod gets its own answer. Where pods would wait
at the gate (policy Gate), and where nothing is enforced, it is a warning. Pods that are being
deleted hold their cards, and count. Nothing is said of an object whose pods are not known, nor of
a Scale that cannot be read.

One review for each scale-up: the mutating one of autoscalers, which alone may change the number,
and the validating one of all others.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from cardquota.cluster.events import ObjectReference
from cardquota.install.webhook_objects import MUTATE, VALIDATE
from cardquota.loop.time_slice import WorkQueue
from cardquota.quota import vocabulary as v
from cardquota.quota.amounts import Amounts
from cardquota.quota.decisions.create_judgement import on_the_way
from cardquota.quota.decisions.verdict_texts import holders_text
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import shortfall_messages, workload_messages
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.quota.pods.queue_pods import WorkloadUsage
from cardquota.quota.verdict import Effect, Outcome, Verdict
from cardquota.settings import Settings

from .fitting import WorkloadRoom, told, told_partly
from .pods import VisibilityWait
from .review import (
    ANY,
    SCALE,
    UNREADABLE,
    AdmissionResponse,
    Request,
    Routes,
    deny,
    json_patch,
    too_large,
    try_again,
)
from .scale_targets import Scale, ScaleTarget, ScaleTargets

MOST_WAITING: Final = 64
"""Reviews of one namespace that may wait for their turn. Others are to try again."""
_DECODER: Final = msgspec.json.Decoder(Scale)
_OLD: Final[msgspec.json.Decoder[Scale | None]] = msgspec.json.Decoder(Scale | None)
_JUDGED: Final = (Outcome.FITS, Outcome.WAITS)


Cut = Callable[[ObjectReference, str, str], None]
"""Called with a workload whose autoscaler got a part, what is to be said, and its topic."""


class _Asks(NamedTuple):
    """What is asked for."""

    asked: int
    before: int
    """Replicas that it wants until now."""
    kept: int | None
    """Replicas that hold their quota already; None: its pods tell."""
    grants: bool
    """Whether a part may be granted."""
    dry_run: bool


class ScaleReviews:
    """Answers reviews of scale-ups from the ledger's view, on any replica. It charges nothing."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        visibility: VisibilityWait,
        targets: ScaleTargets,
        cut: Cut,
        known: Callable[[], bool],
    ) -> None:
        """`cut`: writes an event. `known`: whether the cluster was read, and what is known of it is
        not old.
        """
        self._ledger = ledger
        self._autoscalers = frozenset(settings.scale.autoscalers)
        self._visibility = visibility
        self._targets = targets
        self._cut = cut
        self._known = known
        self._room = WorkloadRoom(ledger, settings)
        self._turns = WorkQueue[AdmissionResponse]()
        self._waiting = Counter[str]()
        """By namespace."""
        self.routes: Final[Routes] = {
            (MUTATE, ANY, SCALE): self.mutate,
            (VALIDATE, ANY, SCALE): self.validate,
        }

    async def mutate(self, request: Request) -> AdmissionResponse:
        """The answer to autoscalers."""
        return await self._answer(request, grants=True)

    async def validate(self, request: Request) -> AdmissionResponse:
        """The answer to all others, who get what they asked for or nothing."""
        return await self._answer(request, grants=False)

    async def _answer(self, request: Request, *, grants: bool) -> AdmissionResponse:
        if not self._known() or too_large(request):
            return AdmissionResponse()
        try:
            scale, before = _read(request)
        except UNREADABLE:
            return AdmissionResponse()  # of an API that we do not know
        request.drop_objects()
        if scale.replicas <= before.replicas:
            return AdmissionResponse()
        target = await self._targets.find(request, before if before.metadata.uid else scale)
        if target is None:
            return AdmissionResponse()
        if self._waiting[target.namespace] >= MOST_WAITING:
            return try_again(workload_messages.too_many_at_once(target.namespace))
        self._waiting[target.namespace] += 1
        try:
            verdict = await self._visibility.judge(target.pod)
            own = await self._room.held_by(verdict.queue, target.namespace, target.makers or {})
            asks = _Asks(
                asked=scale.replicas,
                before=before.replicas,
                kept=min(before.replicas, before.present) if target.makers is None else None,
                grants=grants and request.user_info.username in self._autoscalers,
                dry_run=bool(request.dry_run),
            )
            return await self._turns.do(lambda: self._judge(target, verdict, asks, own))
        finally:
            self._waiting[target.namespace] -= 1
            if not self._waiting[target.namespace]:
                del self._waiting[target.namespace]

    def _judge(
        self, target: ScaleTarget, verdict: Verdict, asks: _Asks, own: WorkloadUsage | None
    ) -> AdmissionResponse:
        if verdict.outcome is not Outcome.UNSEEN:
            verdict = self._room.judged(target.pod)  # much may have changed since
        if verdict.outcome is Outcome.NEVER:
            text = workload_messages.scale_never_fits(verdict.text, target.what, target.name)
            effect = self._room.effect(target.pod, verdict)
            return _answer(effect, verdict, text, told(effect, text))
        account = self._ledger.account(verdict.queue)
        if verdict.outcome not in _JUDGED or account is None or own is None:
            return AdmissionResponse(warnings=verdict.warnings)
        effect = self._room.effect(target.pod, verdict._replace(outcome=Outcome.WAITS))
        if effect is Effect.ALLOW:
            return AdmissionResponse(warnings=verdict.warnings)
        asked, kept = asks.asked, own.holding if asks.kept is None else asks.kept
        way = on_the_way(self._ledger, account, but=own.waiting)
        found = self._room.fitting(account, target.pod, asked, kept, way)
        if found.pods >= asked:
            return AdmissionResponse(warnings=verdict.warnings)
        why, held = self._why(target.pod, account.name, asked - kept, way, found.extra)
        short = shortfall_messages.shortly_with_held(why, held)
        if asks.grants and effect is Effect.DENY and found.pods > asks.before:
            return self._grant(target, asks, found.pods, short)
        text = workload_messages.scale_refused(why, target.what, target.name, asked, found.pods)
        text = shortfall_messages.with_held(text, held)
        partly = told_partly(effect, target.name, asked, found.pods, short)
        return _answer(effect, verdict, text, partly)

    def _why(
        self, facts: PodFacts, queue: str, more: int, way: Amounts, extra: Amounts
    ) -> tuple[str, str]:
        """The sentence for the replicas that it lacks, beside pods on their `way`, and who holds
        what these ask for. Where each may get another card, that for the next one, beside `extra`.
        """
        if more > 1 and len(self._ledger.request_of(facts, queue).cards) < 2:
            devices = tuple((resource, amount * more) for resource, amount in facts.devices)
            all_of_them = replace(
                facts, devices=devices, cpu=facts.cpu * more, memory=facts.memory * more
            )
            found = self._room.judged_beside(all_of_them, way)
            if found.shortfalls:
                return self._sentences(facts, queue, found)
        found = self._room.judged_beside(facts, extra, may_borrow=False)
        return self._sentences(facts, queue, found)

    def _sentences(self, facts: PodFacts, queue: str, found: Verdict) -> tuple[str, str]:
        shorts = found.shortfalls
        text = shortfall_messages.shortfalls(queue, shorts) or found.text
        return text, holders_text(self._ledger, facts, queue, shorts)

    def _grant(self, target: ScaleTarget, asks: _Asks, fits: int, why: str) -> AdmissionResponse:
        """A part of what an autoscaler asked for."""
        asked = asks.asked
        if not asks.dry_run:
            about = ObjectReference(
                target.what, target.api_version, target.namespace, target.name, target.uid
            )
            text = workload_messages.scale_granted_event(asked, fits, why)
            self._cut(about, text, f"{fits}/{asked}")
        granted = workload_messages.scale_granted(target.what, target.name, asked, fits)
        return AdmissionResponse(
            patch=json_patch({"op": "replace", "path": "/spec/replicas", "value": fits}),
            warnings=(granted, why),
        )


def _answer(
    effect: Effect, verdict: Verdict, text: str, warnings: tuple[str, ...]
) -> AdmissionResponse:
    """A refusal with this text; where nothing is refused, the warnings."""
    if effect is Effect.DENY:
        return deny(text, reason=verdict.reason or v.Reason.INSUFFICIENT_CARD)
    return AdmissionResponse(warnings=warnings)


def _read(request: Request) -> tuple[Scale, Scale]:
    """The Scale, and what it was before. Raises ValueError for what cannot be read."""
    return _DECODER.decode(request.object), _OLD.decode(request.old_object) or Scale()
