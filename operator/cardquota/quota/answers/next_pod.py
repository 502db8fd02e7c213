"""What would become of the next pod of a workload (F5)."""

from typing import NamedTuple

from ..decisions.create_judgement import judge_create
from ..effect import Effect, effect_of
from ..ledger.ledger_reader import LedgerReader
from ..messages import standing_messages
from ..pods.pod_facts import PodFacts
from ..pods.pod_request import PodRequest
from ..verdict import Verdict
from ..workloads.workload_facts import WorkloadFacts, pod_of
from .gate_reasons import Why


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


def next_pod(ledger: LedgerReader, facts: WorkloadFacts, *, require_queue: bool) -> NextPod | None:
    """What would become of the next pod of a workload now. None if its template is not known."""
    pod = pod_of(facts, facts.kind, ledger.defaults, maker=facts.name)
    if pod is None:
        return None
    queue = ledger.queue_of(pod)
    verdict = judge_create(ledger, pod, require_queue=require_queue)
    effect = effect_of(verdict.outcome, ledger.policy_of(pod, queue), ledger.mode_in(pod.namespace))
    return NextPod(pod, queue, ledger.request_of(pod, queue), verdict, effect)


def why_denied(answer: NextPod | None) -> Why:
    """Why a workload lacks pods, by what would become of its next one."""
    if answer is None:
        return Why("", standing_messages.TEMPLATE_NOT_KEPT)
    verdict = answer.verdict
    if answer.effect is not Effect.DENY and answer.effect is not Effect.GATE:
        return Why("", standing_messages.NO_QUOTA_REFUSES)
    if answer.effect is Effect.GATE and not verdict.fits:
        return Why("", standing_messages.would_wait(verdict.text))
    if not answer.denied:
        return Why("", standing_messages.would_be_admitted(answer.queue))
    return Why(verdict.reason or "", verdict.text)
