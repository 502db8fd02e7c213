"""The leader's writes in one term: few at a time, none that could be answered after its end, and
settled where nobody knows whether they landed.

Reading alone proves nothing: a write may land long after its time-out. So another write is sent
under the same resourceVersion, until one of the two has won.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from ..loop.timing import Backoff
from ..quota import vocabulary as v
from ..quota.pods.pod_facts import PodFacts
from ..quota.words import logged
from ..settings import ANSWER_MARGIN
from .api.api_error import ApiError, OutcomeUnknown
from .api.client import MERGE_PATCH, Client

_LOG = logging.getLogger(__name__)

_FOR_TERM: Final = re.compile(
    r'(?:[^ ]+ "[^"]*" is forbidden: )?ValidatingAdmissionPolicy '
    rf"'cardquota-(?:{'|'.join(v.TERM_POLICIES)})' "
)
"""How the API server introduces it. What a webhook says begins with that it is a webhook's."""


def refused_for_term(error: ApiError) -> bool:
    """Whether the API server refuses a decision because of the term that it names."""
    return _FOR_TERM.match(error.message) is not None


class TermGuard(Protocol):
    """Who knows whether the API server accepts what the current term decides."""

    @property
    def closed(self) -> bool:
        """Whether it is known not to."""

    def refused(self, repeat: Callable[[], Awaitable[object]]) -> None:
        """It has not. `repeat`: sends the refused write again, as a dry run."""


class StoredMeta(msgspec.Struct, rename="camel"):
    """The part of an object's metadata that tells what became of a write."""

    uid: str = ""
    resource_version: str = "0"
    annotations: dict[str, str] | None = None


class WrittenObject(msgspec.Struct):
    """An object as a read, or the answer to a write, shows it."""

    metadata: StoredMeta


decode_stored = msgspec.json.Decoder(WrittenObject).decode


class TooLateError(Exception):
    """Not sent: the term could have ended before the answer, or its decisions are refused now."""


class FencedWriter:
    """Sends patches and creates under the current term, and reads what became of them.

    Guarantees: at most `at_a_time` requests at once, so slow or stuck requests hold up no other
    writer. Nothing is sent, however long credentials or a connection take, once `timeout` plus the
    margin for the answer have passed since the check of the renew deadline.
    """

    def __init__(
        self,
        client: Client,
        time_left: Callable[[], float],
        *,
        timeout: float,
        at_a_time: int,
        guard: TermGuard | None = None,
    ) -> None:
        """`time_left`: seconds before the renew deadline. `timeout`: seconds for one patch.
        `guard`: for a writer of decisions, which name their term.
        """
        self._client = client
        self._time_left = time_left
        self._timeout = timeout
        self._slots = asyncio.Semaphore(at_a_time)
        self._guard = guard

    @property
    def closed(self) -> bool:
        """Whether nothing is sent now, since decisions of this term are refused."""
        return self._guard is not None and self._guard.closed

    def in_time(self) -> bool:
        """Whether a patch sent now would be answered before the renew deadline."""
        return self._time_left() >= self._timeout + ANSWER_MARGIN

    async def patch(
        self,
        path: str,
        body: object,
        *,
        content_type: str = MERGE_PATCH,
        dry_run: bool = False,
    ) -> bytes:
        """Send a patch when a slot is free. Returns the object's metadata.

        `dry_run`: webhooks and policies are asked, and nothing is written. Raises ApiError,
        OutcomeUnknown, TooLateError.
        """
        params = {"timeout": f"{self._timeout:g}s", "fieldManager": v.FIELD_MANAGER}
        if dry_run:
            params["dryRun"] = "All"
        send = partial(
            self._client.patch,
            path,
            body,
            content_type=content_type,
            timeout=self._timeout + ANSWER_MARGIN,
            metadata_only=True,
        )
        return await self._send(f"PATCH {path}", send, params)

    async def post(self, path: str, body: object, *, dry_run: bool = False) -> bytes:
        """Create something when a slot is free, as a Binding. Returns what the API server says.

        `dry_run`: as for a patch. Raises ApiError, OutcomeUnknown, TooLateError.
        """
        params = {"timeout": f"{self._timeout:g}s", "fieldManager": v.FIELD_MANAGER}
        if dry_run:
            params["dryRun"] = "All"
        timeout = self._timeout + ANSWER_MARGIN
        send = partial(self._client.post, path, body, timeout=timeout)
        return await self._send(f"POST {path}", send, params)

    async def get(self, path: str) -> bytes:
        """A quorum read, when a slot is free. Raises ApiError or OutcomeUnknown."""
        async with self._slots:
            return await self._client.get(path)

    async def _send(
        self, what: str, send: Callable[..., Awaitable[bytes]], params: dict[str, str]
    ) -> bytes:
        async with self._slots:
            if not self.in_time():
                raise TooLateError(f"{what}: too near to the renew deadline")
            if self.closed:
                raise TooLateError(f"{what}: decisions of this term are refused now")
            try:
                return await send(params=params)
            except ApiError as error:
                if self._guard is not None and refused_for_term(error):
                    self._guard.refused(partial(send, params={**params, "dryRun": "All"}))
                    raise TooLateError(f"{what}: {error}") from error
                raise


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
