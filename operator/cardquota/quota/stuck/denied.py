"""Workloads that lack pods since we refused some, and for want of what (R7)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..decisions.create_judgement import judge_create
from ..effect import Effect, effect_of
from ..ledger.ledger_reader import LedgerReader
from ..messages import stuck_messages
from ..moments import seconds_of
from ..pods.pod_facts import PodFacts
from ..pods.pod_request import PodRequest
from ..verdict import Verdict
from ..workloads.workload_facts import WorkloadFacts, pod_of
from .asked_cards import asked_cards
from .gated import NOT_SAID, Why
from .stuck_finding import StuckFinding, StuckKind

MOST_KEPT: Final = 1_000
"""Answers that are kept for workloads with the same template."""


class NextPod(NamedTuple):
    """What would become of the next pod of a workload."""

    facts: PodFacts
    queue: str
    request: PodRequest
    verdict: Verdict
    effect: Effect

    @property
    def denied(self) -> bool:
        """Whether it would be refused."""
        return self.effect is Effect.DENY


class DeniedWorkload(NamedTuple):
    """A workload as it was when it was found."""

    facts: WorkloadFacts
    since: int | None
    """Seconds since 1970: what its ReplicaFailure says. None: it has no such condition."""
    answer: NextPod | None
    """None if its template is not known, or nothing is judged."""

    @property
    def queue(self) -> str | None:
        """None if it is not known."""
        return self.answer.queue if self.answer is not None else None


class DeniedWorkloads:
    """One look at the workloads that lack pods. Costs by their number, in short steps.

    Of a workload whose controller does not say that its pods were refused it is judged whether the
    next one would be: if not, others keep its pods away, or they are about to come.
    """

    def __init__(self, ledger: LedgerReader, *, require_queue: bool, judges: bool = True) -> None:
        """`judges`: whether all is known that an answer depends on. If not, whatever lacks pods is
        found.
        """
        self._ledger = ledger
        self._require_queue = require_queue
        self._judges = judges
        self._answers: dict[tuple[bytes, str, str, str], NextPod | None] = {}
        self._lends = any(
            account.facts is not None and account.facts.surge for account in ledger.accounts()
        )

    def found(self) -> Iterator[DeniedWorkload | None]:
        """One after the other; None after each step."""
        for facts in list(self._ledger.workloads.refused.values()):
            answer = self._answer(facts) if self._judges else None
            if facts.certain or not self._judges or (answer is not None and answer.denied):
                yield DeniedWorkload(facts, seconds_of(facts.refused_since), answer)
            yield None

    def _answer(self, facts: WorkloadFacts) -> NextPod | None:
        # What may be borrowed follows from the workload (R6).
        maker = facts.name if self._lends else ""
        key = facts.template, facts.namespace, facts.kind, maker
        if key not in self._answers:
            if len(self._answers) >= MOST_KEPT:
                self._answers.clear()
            self._answers[key] = next_pod(self._ledger, facts, require_queue=self._require_queue)
        return self._answers[key]


def next_pod(ledger: LedgerReader, facts: WorkloadFacts, *, require_queue: bool) -> NextPod | None:
    """What would become of the next pod of a workload now. None if its template is not known."""
    pod = pod_of(facts, facts.kind, ledger.defaults, maker=facts.name)
    if pod is None:
        return None
    queue = ledger.queue_of(pod)
    verdict = judge_create(ledger, pod, require_queue=require_queue)
    effect = effect_of(verdict.outcome, ledger.policy_of(pod, queue), ledger.mode_in(pod.namespace))
    return NextPod(pod, queue, ledger.request_of(pod, queue), verdict, effect)


def describe_denied(found: DeniedWorkload, age: int | None, *, judged: bool) -> StuckFinding:
    """In words. `age`: seconds. `judged`: whether all is known that the answer depends on."""
    facts, answer = found.facts, found.answer
    why = why_denied(answer) if judged else NOT_SAID
    # By its ReplicaSet's name, as Kubernetes makes it.
    deployment = facts.name.rpartition("-")[0] if facts.owner_kind == "Deployment" else ""
    return StuckFinding(
        finding=StuckKind.DENIED,
        kind=facts.kind,
        namespace=facts.namespace,
        name=facts.name,
        queue=found.queue or None,
        cards=asked_cards(answer.request, facts.missing) if answer is not None else {},
        since=found.since,
        age=age,
        node="",
        reason=why.reason,
        what=stuck_messages.lacks_pods(deployment, facts.missing, facts.replicas, age),
        why=why.text,
        advice=(
            stuck_messages.ADVICE_DENIED if why.lacks_quota else stuck_messages.ADVICE_DENIED_OTHERS
        ),
    )


def why_denied(answer: NextPod | None) -> Why:
    """Why a workload lacks pods, by what would become of its next one."""
    if answer is None:
        return Why("", stuck_messages.TEMPLATE_NOT_KEPT)
    verdict = answer.verdict
    if answer.effect is not Effect.DENY and answer.effect is not Effect.GATE:
        return Why("", stuck_messages.NO_QUOTA_REFUSES)
    if answer.effect is Effect.GATE and not verdict.fits:
        return Why("", stuck_messages.would_wait(verdict.text))
    if not answer.denied:
        return Why("", stuck_messages.would_be_admitted(answer.queue))
    return Why(verdict.reason or "", verdict.text, bool(verdict.shortfalls))
