"""The product with one of its safeguards taken out, to show that a run finds it.

What is broken is broken in the process of one replica, by a test: the product has no switches.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from cardquota.cluster import delivery, takeover
from cardquota.cluster.api_error import ApiError, OutcomeUnknown
from cardquota.cluster.wire import decode_identity, revision_of
from cardquota.control import gate, groups, leadership, release
from cardquota.control.pod_patch import pod_path, precondition
from cardquota.quota import vocabulary as v


@dataclass(frozen=True)
class Breakage:
    """One safeguard less."""

    what: str
    apply: Callable[[], None]
    without: tuple[str, ...] = ()
    """Bindings of policies that are taken away too."""


def _no_fence() -> None:
    whole = takeover.settle_and_catch_up

    async def at_once(elector: Any, reflectors: Any, client: Any, **times: Any) -> None:
        await whole(elector, reflectors, client, **{**times, "settle": 0.0, "renew_deadline": 0.0})

    patch.object(leadership, whole.__name__, at_once).start()  # fails if it is not there


def _no_precondition() -> None:
    patch.object(gate, precondition.__name__, lambda facts: {}).start()


def _uncharged_by_reading() -> None:
    async def settle(self: Any, facts: Any, stamp: Any) -> gate.Opened:
        try:
            pod = gate._POD.decode(await self._settler.get(pod_path(facts)))
        except (ApiError, OutcomeUnknown):
            pod = None
        if pod and v.GATE not in [one.name for one in pod.spec.scheduling_gates or ()]:
            self._ledger.confirm(facts.uid, int(pod.metadata.resource_version))
            return gate.Opened.YES
        self._ledger.retract(facts.uid, hold_back=True)
        return gate.Opened.NO

    gate.GateOpener.settle = settle  # type: ignore[method-assign]


def _no_catch_up() -> None:
    async def nothing(*_: Any, **__: Any) -> None:
        pass

    takeover._catch_up = nothing


def _charged_after() -> None:
    send, opened = release.ReleaseDoor._send, gate.GateOpener.open

    def send_uncharged(self: Any, pods: Any) -> Any:
        for facts, _, _ in pods:
            self._ledger.retract(facts.uid, hold_back=True)
        return send(self, pods)

    async def charge_what_landed(self: Any, facts: Any, stamp: Any, resource: str) -> gate.Opened:
        answer = await opened(self, facts, stamp, resource)
        record = self._ledger.pods.get(facts.uid)
        if answer is gate.Opened.YES and record is not None and record.gated:
            self._ledger.assume(facts.uid, stamp)
        return answer

    release.ReleaseDoor._send = send_uncharged  # type: ignore[method-assign]
    gate.GateOpener.open = charge_what_landed  # type: ignore[method-assign]


def _no_write_ahead() -> None:
    async def reserve(self: Any, facts: Any, reservation: Any) -> bool:
        return True

    groups.GroupKeeper.reserve = reserve  # type: ignore[method-assign]


def _dropped_event() -> None:
    changed, deleted = delivery.Delivery.changed, delivery.Delivery.deleted

    def lost(self: Any) -> bool:
        return self._kind == "pods" and random.random() < 0.02

    def sometimes(self: Any, raw: Any, *, newer_than: int = -1, listed: Any = None) -> int:
        if listed is None and lost(self):
            return revision_of(decode_identity(raw).metadata.resource_version)
        return changed(self, raw, newer_than=newer_than, listed=listed)

    def sometimes_gone(self: Any, raw: Any) -> int:
        if lost(self):
            return revision_of(decode_identity(raw).metadata.resource_version)
        return deleted(self, raw)

    delivery.Delivery.changed = sometimes  # type: ignore[method-assign]
    delivery.Delivery.deleted = sometimes_gone  # type: ignore[method-assign]


BREAKAGES = {
    "no-fence": Breakage(
        "no fence in the API server, and no settle time",
        _no_fence,
        ("cardquota-gate-term", "cardquota-reservation-term"),
    ),
    "no-precondition": Breakage("no uid and resourceVersion in the patch", _no_precondition),
    "uncharged-by-reading": Breakage(
        "a patch of unknown outcome is un-charged once the pod is read gated",
        _uncharged_by_reading,
    ),
    "no-catch-up": Breakage("take-over without catching up", _no_catch_up),
    "charged-after": Breakage("a pod is charged after its patch, not before", _charged_after),
    "no-write-ahead": Breakage("a gang's reservation is not written", _no_write_ahead),
    "dropped-event": Breakage("one in 50 watch events of pods is lost", _dropped_event),
}
