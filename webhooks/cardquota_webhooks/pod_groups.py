"""Admission of pod groups: refused is what could never start, with numbers (E5, P8).

A pure function of the request and the ledger's view: nothing is charged and nothing remembered. So
a dry run, a server-side apply and thousands of groups at once get the answers of single creates.
A refusal is advice, the gate is the law: where the cluster is not known well enough, a group is let
by, and its pods wait at their gates.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from cardquota.install.webhook_objects import MUTATE, VALIDATE
from cardquota.quota.decisions.group_write import judge_group_write
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.objects.pod_group import WrittenPodGroup
from cardquota.quota.own_keys import KEYS_OF_GROUPS
from cardquota.quota.verdict import Effect, Outcome, Verdict, effect_of
from cardquota.quota.vocabulary import (
    API_GROUP,
    DEFAULT_QUEUE,
    OURS_ON_GROUPS,
    Mode,
    Policy,
    Reason,
)
from cardquota.settings import Settings

from .pods import VisibilityWait
from .review import (
    UNREADABLE,
    AdmissionResponse,
    Request,
    Routes,
    annotations_of,
    answer_to_large,
    decoded,
    deny,
    dropping,
    json_patch,
    keeping,
    key_warnings,
    too_large,
)

_DECODER = msgspec.json.Decoder(WrittenPodGroup)
_NOT_JUDGED = Verdict(Outcome.UNSEEN)


class PodGroupReviews:
    """Answers reviews of pod groups from the ledger's view, on any replica."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        visibility: VisibilityWait,
        known: Callable[[], bool],
    ) -> None:
        """`known`: whether the cluster was read, recently enough for a refusal."""
        self._ledger = ledger
        # A group without a queue is Volcano's business where Volcano runs, and then in that one.
        self._default_queue = DEFAULT_QUEUE if settings.scheduler == "volcano" else ""
        self._visibility = visibility
        self._known = known
        self.routes: Final[Routes] = {
            (MUTATE, API_GROUP, "podgroups"): self.mutate,
            (VALIDATE, API_GROUP, "podgroups"): self.validate,
        }

    async def mutate(self, request: Request) -> AdmissionResponse:
        """Take our keys off a new group; put back those that a replaced one lacks (I3)."""
        if too_large(request):
            return AdmissionResponse()
        notes, before = annotations_of(request.object), annotations_of(request.old_object)
        if request.operation == "CREATE":
            left_out = [key for key in OURS_ON_GROUPS if key in notes]
            steps, warning = dropping(left_out), request_messages.keys_left_out(left_out)
        else:
            kept: dict[str, str] = {
                k: before[k] for k in OURS_ON_GROUPS if k in before and k not in notes
            }
            steps, warning = keeping(notes, kept), request_messages.keys_kept(list(kept))
        if not steps:
            return AdmissionResponse()
        return AdmissionResponse(patch=json_patch(*steps), warnings=(warning,))

    async def validate(self, request: Request) -> AdmissionResponse:
        """Refuse what could never start; of a group that is there, only by what is changed."""
        if not self._known():
            return AdmissionResponse()
        if (large := answer_to_large(request, self._ledger)) is not None:
            return large
        group, before = _read(request), None
        off = self._ledger.mode_in(group.metadata.namespace) is Mode.OFF
        if off or group.metadata.deletion_timestamp is not None:
            return AdmissionResponse()
        if request.operation == "UPDATE":
            try:
                before = _DECODER.decode(request.old_object)
            except UNREADABLE:
                return AdmissionResponse()  # what is changed cannot be told
        keys = key_warnings(request, KEYS_OF_GROUPS)
        request.drop_objects()
        verdict = self._judge(group, before)
        if verdict.outcome in (Outcome.NEVER, Outcome.WAITS):
            verdict = await self._judge_again(group, before)
        mode = self._ledger.mode_in(group.metadata.namespace)
        effect = effect_of(verdict.outcome, Policy.GATE, mode)
        if effect is Effect.DENY:
            return deny(verdict.text, reason=verdict.reason or "Forbidden")
        warnings = verdict.warnings
        if effect is Effect.WARN:
            warnings = (shortfall_messages.audited(verdict.text),)
        elif effect is Effect.GATE and verdict.outcome is Outcome.WAITS:
            warnings = (verdict.text,)
        return AdmissionResponse(warnings=(*warnings, *keys))

    def _judge(self, group: WrittenPodGroup, before: WrittenPodGroup | None) -> Verdict:
        return judge_group_write(self._ledger, group, before, default_queue=self._default_queue)

    async def _judge_again(self, group: WrittenPodGroup, before: WrittenPodGroup | None) -> Verdict:
        """The verdict, once namespace and queue were seen. If one of them still is not seen, and
        may be there, the group is not judged.
        """
        seen = await self._visibility.namespace(group.metadata.namespace)
        verdict = self._judge(group, before)
        if verdict.reason is Reason.QUEUE_NOT_FOUND:
            seen = await self._visibility.queue(verdict.queue) is not None and seen
            verdict = self._judge(group, before)
        return verdict if seen else _NOT_JUDGED


def _read(request: Request) -> WrittenPodGroup:
    group = decoded(_DECODER, request.object, "not a pod group")
    group.metadata.namespace = request.namespace or group.metadata.namespace
    group.metadata.name = group.metadata.name or request.name
    # It means nothing for what is asked here, and of a create it may be any text.
    group.metadata.resource_version = ""
    return group
