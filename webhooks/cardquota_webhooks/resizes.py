"""Admission of resizes: more cpu and memory for an existing pod (P6).

A granted resize takes effect at once, without a gate. So the ledger is asked the same as at create,
and the answer is yes or no.
"""

from collections.abc import Callable

import msgspec

from cardquota.quota.decisions.resize import judge_resize
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import gate_messages, shortfall_messages
from cardquota.quota.objects.pod import Pod
from cardquota.quota.pods.pod_facts import PodFacts, pod_facts
from cardquota.quota.verdict import Effect, effect_of
from cardquota.quota.vocabulary import Mode, Policy

from .review import (
    VALIDATE,
    AdmissionResponse,
    Request,
    ReviewError,
    Routes,
    answer_to_large,
    deny,
    try_again,
)

_DECODER = msgspec.json.Decoder(Pod)


class ResizeReviews:
    """Answers reviews of `pods/resize` from the ledger's view, on any replica."""

    def __init__(self, ledger: LedgerReader, known: Callable[[], bool]) -> None:
        """`known`: whether the cluster was read, recently enough for a refusal."""
        self._ledger = ledger
        self._known = known

    @property
    def routes(self) -> Routes:
        """Which reviews it answers."""
        return {(VALIDATE, "", "pods/resize"): self.validate}

    async def validate(self, request: Request) -> AdmissionResponse:
        """Refuse growth beyond what the queue may hold. A pod that does not grow is admitted."""
        if (too_large := answer_to_large(request, self._ledger)) is not None:
            return too_large
        before, after = _read(request, request.old_object), _read(request, request.object)
        if not after.problem and after.cpu <= before.cpu and after.memory <= before.memory:
            return AdmissionResponse()
        mode = self._ledger.mode_in(after.namespace)
        verdict = judge_resize(self._ledger, before, after)
        # It cannot wait: a bound pod has no gate.
        effect = effect_of(verdict.outcome, Policy.DENY, mode)
        if not self._known() and mode is Mode.ENFORCE:
            return try_again(gate_messages.not_read_lately())
        if effect is Effect.DENY:
            return deny(verdict.text, reason=verdict.reason or "Forbidden")
        warnings = (shortfall_messages.audited(verdict.text),) if effect is Effect.WARN else ()
        return AdmissionResponse(warnings=warnings)


def _read(request: Request, encoded: msgspec.Raw) -> PodFacts:
    try:
        pod = _DECODER.decode(encoded)
        pod.metadata.namespace = request.namespace or pod.metadata.namespace
        return pod_facts(pod)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ReviewError(f"the request's object is not a pod: {error}") from None
