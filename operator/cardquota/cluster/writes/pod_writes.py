"""What writes of pods have in common, and what became of one that was not answered.

Reading alone proves nothing: a write may land long after its time-out. So another write is sent
under the same resourceVersion, until one of the two has won.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from ...quota import vocabulary as v
from ...quota.pods.pod_facts import PodFacts
from ...quota.words import logged
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.backoff import Backoff
from .fenced_writer import FencedWriter, TooLateError, decode_stored

_LOG = logging.getLogger(__name__)


def precondition(facts: PodFacts) -> dict[str, Any]:
    """Metadata of a patch that lands on this pod as it was seen, or not at all (409)."""
    return {"uid": facts.uid, "resourceVersion": str(facts.revision)}


def pod_path(facts: PodFacts) -> str:
    """The pod's path at the API server."""
    return f"/api/v1/namespaces/{facts.namespace}/pods/{facts.name}"


def guard(facts: PodFacts) -> dict[str, Any]:
    """Metadata that gives the pod our label; none if it has it, whatever the value."""
    return {} if facts.labelled else {"labels": {v.MANAGED: v.IS_MANAGED}}


async def settle_pod(
    writer: FencedWriter,
    facts: PodFacts,
    *,
    fresh: Callable[[], str],
    unsure: Callable[[str], None],
) -> bytes | None:
    """Return once no write under the revision of `facts` can land any more.

    The pod as it was read after it had changed; None if the settling write has won, or if the pod
    is gone. Tries until then: whatever ends the term cancels this. `fresh`: returns a value never
    used before. `unsure` is called if it cannot be written for more than a moment, with the reason,
    once for each.
    """
    backoff = Backoff(cap=2.0)
    lost, said = False, ""
    while True:
        read, why = False, ""
        note = {"annotations": {v.SETTLE: fresh()}}
        try:
            await writer.patch(pod_path(facts), {"metadata": {**precondition(facts), **note}})
        except ApiError as error:
            read = not error.busy
            if read and not error.moved:
                why = error.message
            wait = error.retry_after
        except OutcomeUnknown as error:
            if lost:
                read, why = True, str(error)
            lost, wait = True, error.retry_after
        except TooLateError:
            wait = None
        else:
            return None
        if read:
            # A webhook may refuse the write before the API server sees that the pod changed.
            try:
                return await _read(writer, facts)
            except LookupError:
                pass
        if why not in ("", said):
            said = why
            _LOG.warning("settling a write of pod %s: %s", logged(facts.namespace, facts.name), why)
            unsure(why)
        await asyncio.sleep(backoff.next(wait))


async def _read(writer: FencedWriter, facts: PodFacts) -> bytes | None:
    """The pod, if it has changed; None if it is gone.

    Raises LookupError if that is not known, or if it has not changed.
    """
    try:
        pod = await writer.get(pod_path(facts))
        revision = int(decode_stored(pod).metadata.resource_version)
    except ApiError as error:
        if error.status == 404:
            return None
        raise LookupError from None
    except (OutcomeUnknown, msgspec.MsgspecError, ValueError):
        raise LookupError from None
    if revision == facts.revision:
        raise LookupError
    return pod
