"""Opening one gate: one patch, fenced, and settled when nobody knows whether it landed.

The pod is charged before this begins. Its charge is taken back only when the gate certainly was
not opened and no patch of ours can open it any more.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from ..cluster.api_error import ApiError, OutcomeUnknown
from ..cluster.backoff import Backoff
from ..quota import vocabulary as v
from ..quota.ledger import Ledger
from ..quota.pod_facts import PodFacts
from ..quota.selector import decode
from ..quota.stamp import Stamp, allocated_text
from ..settings import ANSWER_MARGIN

_LOG = logging.getLogger(__name__)


class Writer(Protocol):
    """What is needed of a client."""

    async def patch(
        self, path: str, body: object, *, params: dict[str, str] | None = ..., timeout: float = ...
    ) -> bytes:
        """A merge patch. Raises ApiError or OutcomeUnknown."""

    async def get(self, path: str) -> bytes:
        """A quorum read. Raises ApiError or OutcomeUnknown."""


class Opened(StrEnum):
    """How an attempt to open a gate ended."""

    YES = "yes"
    NO = "no"
    """It is shut, and nothing of ours can open it any more."""
    TOO_LATE = "too late"
    """It was not tried: the term would have ended before the answer."""


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = "0"
    annotations: dict[str, str] | None = None


class _Gate(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    scheduling_gates: tuple[_Gate, ...] | None = None


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec


_DECODER = msgspec.json.Decoder(_Pod)


class GateOpener:
    """Opens gates under the current term. One call per pod at a time."""

    def __init__(
        self,
        ledger: Ledger,
        client: Writer,
        time_left: Callable[[], float],
        *,
        patch_timeout: float,
        fresh: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        """`time_left`: seconds before the renew deadline. `fresh`: a value never used before."""
        self._ledger = ledger
        self._client = client
        self._time_left = time_left
        self._patch_timeout = patch_timeout
        self._fresh = fresh

    def in_time(self) -> bool:
        """Whether a patch sent now would be answered before the renew deadline."""
        return self._time_left() >= self._patch_timeout + ANSWER_MARGIN

    async def open(self, facts: PodFacts, stamp: Stamp, resource: str) -> Opened:
        """Open the gate of a pod that the ledger has charged, and tell the ledger how it went.

        Cancelled, it leaves the charge to whoever ends the term.
        """
        if not self.in_time():
            self._ledger.retract(facts.uid)
            return Opened.TOO_LATE
        body = gate_patch(self._ledger, facts, stamp, resource)
        try:
            answer = _DECODER.decode(await self._patch(facts, body))
        except ApiError as error:
            return self._shut(facts, error)
        except (OutcomeUnknown, msgspec.MsgspecError) as error:
            _LOG.warning("opening %s/%s: %s", facts.namespace, facts.name, error)
            return await self._settle(facts, stamp)
        self._ledger.confirm(facts.uid, int(answer.metadata.resource_version))
        return Opened.YES

    async def _patch(self, facts: PodFacts, body: dict[str, Any]) -> bytes:
        return await self._client.patch(
            _path(facts),
            body,
            params={"timeout": f"{self._patch_timeout:g}s", "fieldManager": v.FIELD_MANAGER},
            timeout=self._patch_timeout + ANSWER_MARGIN,
        )

    async def _settle(self, facts: PodFacts, stamp: Stamp) -> Opened:
        """Write something else under the same resourceVersion until one of the two has won.

        Reading alone proves nothing: a patch may land long after its time-out.
        """
        backoff = Backoff(cap=2.0)
        while True:
            note = {"annotations": {v.SETTLE: self._fresh()}}
            try:
                await self._patch(facts, {"metadata": {**_precondition(facts), **note}})
            except ApiError as error:
                if error.status == 409:
                    found = await self._read(facts, stamp)
                    if found is not None:
                        return found
                elif error.status in (404, 422):
                    return self._shut(facts, error)
                wait = error.retry_after
            except OutcomeUnknown as error:
                wait = error.retry_after
            else:
                self._ledger.retract(facts.uid, hold_back=True)
                return Opened.NO
            await asyncio.sleep(backoff.next(wait))

    async def _read(self, facts: PodFacts, stamp: Stamp) -> Opened | None:
        """The pod moved on, so nothing under the old version lands any more: did ours?"""
        try:
            pod = _DECODER.decode(await self._client.get(_path(facts)))
        except ApiError as error:
            return self._shut(facts, error) if error.status == 404 else None
        except OutcomeUnknown:
            return None
        gates = [gate.name for gate in pod.spec.scheduling_gates or ()]
        if v.GATE not in gates and (pod.metadata.annotations or {}).get(v.TERM) == stamp.term:
            self._ledger.confirm(facts.uid, int(pod.metadata.resource_version))
            return Opened.YES
        self._ledger.retract(facts.uid, hold_back=True)
        return Opened.NO

    def _shut(self, facts: PodFacts, error: ApiError) -> Opened:
        """The API server refused: a conflict is tried again when the pod's news arrive."""
        level = logging.DEBUG if error.status in (404, 409) else logging.WARNING
        _LOG.log(level, "gate of %s/%s stays shut: %s", facts.namespace, facts.name, error)
        self._ledger.retract(facts.uid, hold_back=True)
        return Opened.NO


def gate_patch(ledger: Ledger, facts: PodFacts, stamp: Stamp, resource: str) -> dict[str, Any]:
    """The merge patch that opens a gate: stamps, the other gates, affinity to the card (P5)."""
    spec: dict[str, Any] = {"schedulingGates": [{"name": name} for name in facts.foreign_gates]}
    cards = [ledger.known_card(name, resource) for name, amount in stamp.cards if amount]
    if cards:
        terms = decode(facts.selector).narrowed(cards)
        spec["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
            }
        }
    annotations = {
        v.ALLOCATED: allocated_text(stamp.cards),
        v.CHARGED_QUEUE: stamp.queue,
        v.TERM: stamp.term,
    }
    return {"metadata": {**_precondition(facts), "annotations": annotations}, "spec": spec}


def _precondition(facts: PodFacts) -> dict[str, Any]:
    return {"uid": facts.uid, "resourceVersion": str(facts.revision)}


def _path(facts: PodFacts) -> str:
    return f"/api/v1/namespaces/{facts.namespace}/pods/{facts.name}"
