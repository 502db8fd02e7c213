"""Admission of Volcano's Jobs: refused is what could never run, and the rest is told (V4).

Volcano ends a Job whose pods are refused, so the Job is refused instead, and nothing of it exists.
What fits later, or once an administrator has changed something, is a Warning. Nothing is charged,
and nothing remembered: a dry run gets the same answer. Whoever is not answered, because the cluster
is not known well enough or too many ask, is admitted: each pod gets its own answer.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from cardquota.loop.time_slice import in_slices
from cardquota.quota.decisions.volcano_jobs.job_pods import has_too_many_tasks
from cardquota.quota.decisions.volcano_jobs.job_write import JobVerdict, judge_job_write
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import JOB_TASKS
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.messages.volcano import volcano_job_messages
from cardquota.quota.names.meaningless_keys import KEYS_OF_GROUPS, KEYS_OF_PODS
from cardquota.quota.objects.volcano_job import WrittenVolcanoJob
from cardquota.quota.vocabulary import DEFAULT_QUEUE, Mode

from ..large_bodies import too_large
from ..review import AdmissionResponse, Request, deny
from ..unknown_keys import key_warnings, task_key_warnings
from ..visibility_wait import VisibilityWait

_LOG = logging.getLogger(__name__)
JOBS: Final = ("batch.volcano.sh", "jobs")
ANSWERED_WITHIN: Final = 1.0
"""Seconds that a Job waits until others have been judged, and for its own judgement. A write waits
no longer for advice."""
_DECODER: Final = msgspec.json.Decoder(WrittenVolcanoJob)


class VolcanoJobReviews:
    """Answers reviews of Volcano's Jobs from the ledger's view, on any replica."""

    def __init__(
        self,
        ledger: LedgerReader,
        visibility: VisibilityWait,
        known: Callable[[], bool],
    ) -> None:
        """`known`: whether the cluster was read, recently enough for a refusal."""
        self._ledger = ledger
        self._visibility = visibility
        self._known = known
        self._judging = asyncio.Lock()

    async def validate(self, request: Request) -> AdmissionResponse:
        """Refuse what could never run; of a Job that is there, only what is made worse."""
        mode = self._ledger.mode_in(request.namespace)
        if not self._known() or mode is Mode.OFF:
            return AdmissionResponse()
        large = too_large(request)
        if large:
            return _warned(volcano_job_messages.job_not_looked_at(large))
        try:
            job, before = _read(request)
            # Volcano copies the annotations of a Job to its group.
            keys = key_warnings(request, KEYS_OF_GROUPS) + task_key_warnings(request, KEYS_OF_PODS)
            request.drop_objects()
            if job.metadata.deletion_timestamp is not None:
                return AdmissionResponse()
            number = has_too_many_tasks(job)
            if number:
                said = request_messages.beyond_limit(JOB_TASKS, number, of="the Job")
                return _warned(volcano_job_messages.job_not_looked_at(said))
            queue = job.spec.queue or DEFAULT_QUEUE
            if not await self._seen(request.namespace, queue):
                return AdmissionResponse()
            async with asyncio.timeout(ANSWERED_WITHIN), self._judging:
                return await self._judge(request.namespace, job, before, keys)
        except TimeoutError:
            return AdmissionResponse()
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return _warned(volcano_job_messages.job_not_read(str(error)))
        except Exception:  # noqa: BLE001
            _LOG.exception("no word could be said of a Job of Volcano")
            return AdmissionResponse()

    async def _seen(self, namespace: str, queue: str) -> bool:
        """Whether the namespace was seen, and the queue, unless it does not exist."""
        seen = await self._visibility.namespace(namespace)
        return seen and await self._visibility.queue(queue) is not None

    async def _judge(
        self,
        namespace: str,
        job: WrittenVolcanoJob,
        before: WrittenVolcanoJob | None,
        keys: tuple[str, ...],
    ) -> AdmissionResponse:
        verdict = await in_slices(
            judge_job_write(
                self._ledger,
                job,
                (lambda: before) if before is not None else None,
                namespace=namespace,
            )
        )
        mode = self._ledger.mode_in(namespace)
        return _answer(job.metadata.name or job.metadata.generate_name, verdict, mode, keys)


def _read(request: Request) -> tuple[WrittenVolcanoJob, WrittenVolcanoJob | None]:
    """The Job, and what it was if it is changed. Raises as decoding does."""
    job = _DECODER.decode(request.object)
    job.metadata.name = job.metadata.name or request.name
    return job, _DECODER.decode(request.old_object) if request.operation == "UPDATE" else None


def _answer(name: str, verdict: JobVerdict, mode: Mode, keys: Iterable[str]) -> AdmissionResponse:
    """`keys`: warnings about annotations that mean nothing."""
    audit = mode is Mode.AUDIT
    if verdict.refusal and not audit:
        return deny(verdict.refusal, reason=verdict.reason or "Forbidden")
    told = [verdict.refusal] if verdict.refusal else []
    told += [volcano_job_messages.job_pods_wait(name, text) for text in verdict.waits]
    fit = verdict.fit
    if fit is not None:
        said = (
            shortfall_messages.partly_audited(name, fit.asked, fit.fits)
            if audit
            else shortfall_messages.partly_fits(name, fit.asked, fit.fits, waits=True)
        )
        told += [said, fit.why] if fit.why else [said]
    if audit:
        told = [shortfall_messages.audited(text) for text in told]
    return _warned(*told, *verdict.warnings, *keys)


def _warned(*texts: str) -> AdmissionResponse:
    return AdmissionResponse(warnings=texts)
