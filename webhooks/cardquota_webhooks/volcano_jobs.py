"""Admission of Volcano's Jobs: refused at create is what could never run (V4).

Volcano ends a Job whose pods are refused, so the Job is refused instead, and nothing of it exists.
Nothing is charged, and nothing remembered: a dry run gets the same answer. Whoever is not answered,
since the cluster is not known well enough, is admitted: each pod gets its own answer.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
from prometheus_client import Counter

from cardquota.install.webhook_objects import OBSERVE, VALIDATE
from cardquota.loop.timing import in_slices
from cardquota.quota.decisions.volcano import has_too_many_tasks, judge_job
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import JOB_TASKS
from cardquota.quota.messages import request_messages, shortfall_messages, workload_messages
from cardquota.quota.objects.workload import WrittenVolcanoJob
from cardquota.quota.own_keys import KEYS_OF_GROUPS, KEYS_OF_PODS
from cardquota.quota.vocabulary import DEFAULT_QUEUE, Mode, RefusedWrite

from .pods import CardlessClaims, VisibilityWait
from .review import (
    UNREADABLE,
    AdmissionResponse,
    Request,
    Routes,
    deny,
    key_warnings,
    of_tasks,
    too_large,
)

_LOG = logging.getLogger(__name__)
JOBS: Final = ("batch.volcano.sh", "jobs")
CLAIMS_WITHIN: Final = 1.0
"""Seconds for the claims of all tasks. A Job with more of them is admitted; its pods are judged."""
_DECODER: Final = msgspec.json.Decoder(WrittenVolcanoJob)


class VolcanoJobReviews:
    """Answers reviews of Volcano's Jobs from the ledger's view, on any replica."""

    def __init__(
        self,
        ledger: LedgerReader,
        visibility: VisibilityWait,
        claims: CardlessClaims,
        known: Callable[[], bool],
    ) -> None:
        """`known`: whether the cluster was read, recently enough for a refusal."""
        self._ledger = ledger
        self._visibility = visibility
        self._claims = claims
        self._known = known
        self.routes: Final[Routes] = {(VALIDATE, *JOBS): self.validate}

    async def validate(self, request: Request) -> AdmissionResponse:
        """Refuse what could never run."""
        mode = self._ledger.mode_in(request.namespace)
        if not self._known() or mode is Mode.OFF:
            return AdmissionResponse()
        large = too_large(request)
        if large:
            return _warned(workload_messages.job_not_looked_at(large))
        try:
            job = _DECODER.decode(request.object)
            # Volcano copies the annotations of a Job to its group.
            keys = key_warnings(request, KEYS_OF_GROUPS)
            keys += key_warnings(request, KEYS_OF_PODS, of_tasks)
            request.drop_objects()
            job.metadata.name = job.metadata.name or request.name
            number = has_too_many_tasks(job)
            if number:
                said = request_messages.beyond_limit(JOB_TASKS, number, of="the Job")
                return _warned(workload_messages.job_not_looked_at(said))
            queue, visibility = job.spec.queue or DEFAULT_QUEUE, self._visibility
            seen = await visibility.namespace(request.namespace) and await visibility.queue(queue)
            if not seen:
                return _warned(*keys)
            async with asyncio.timeout(CLAIMS_WITHIN):
                for task in job.spec.tasks or ():
                    await self._claims.leave_out(task.template.spec, request.namespace)
            verdict = await in_slices(judge_job(self._ledger, job, namespace=request.namespace))
        except TimeoutError:
            return _warned(*keys)
        except UNREADABLE as error:
            return _warned(workload_messages.job_not_read(str(error)))
        except Exception:  # noqa: BLE001
            _LOG.exception("no word could be said of a Job of Volcano")
            return AdmissionResponse()
        if verdict.fits:
            return _warned(*verdict.warnings, *keys)
        if self._ledger.mode_in(request.namespace) is Mode.AUDIT:
            return _warned(shortfall_messages.audited(verdict.text), *keys)
        return deny(verdict.text, reason=verdict.reason or "Forbidden")


def _warned(*texts: str) -> AdmissionResponse:
    return AdmissionResponse(warnings=texts)


BINDINGS: Final = (("", "pods/binding"), ("", "bindings"))


class RefusedWriteReviews:
    """Counts Bindings, and groups of pods, that the policies refuse to whoever is not named as
    Volcano (V1), but for dry runs. The answer is always yes: the policies decide. The API server
    asks us only about what they refuse, before it asks them.
    """

    def __init__(self, counter: Counter) -> None:
        """`counter`: with the label `what`."""
        self._by_kind = {what: counter.labels(what.value) for what in RefusedWrite}
        binding = partial(self._count, RefusedWrite.BINDING)
        self.routes: Final[Routes] = {
            (OBSERVE, "", "pods"): partial(self._count, RefusedWrite.GROUP),
            **dict.fromkeys(((OBSERVE, *one) for one in BINDINGS), binding),
        }

    async def _count(self, what: RefusedWrite, request: Request) -> AdmissionResponse:
        if not request.dry_run:
            self._by_kind[what].inc()
        return AdmissionResponse()
