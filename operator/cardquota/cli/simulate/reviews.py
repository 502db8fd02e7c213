"""The operator's own reviews, asked as by the API server, of what is created in a simulation."""

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any, Final, TypeVar

import msgspec

from cardquota_webhooks.pod_groups import PodGroupReviews
from cardquota_webhooks.pod_judge import CardlessClaims, VisibilityWait
from cardquota_webhooks.pods import PodReviews
from cardquota_webhooks.review import AdmissionResponse, GroupResource, Request
from cardquota_webhooks.volcano_jobs import VolcanoJobReviews

from ...cluster.watch.change_notifier import ChangeNotifier
from ...quota.ledger.ledger import Ledger
from ...quota.objects.pod import Pod, PodSpec
from ...quota.objects.pod_group import WrittenPodGroup
from ...quota.pods.pod_facts import NamedClaim
from ...settings import Settings
from .inventory import Inventory, VolcanoJob

T = TypeVar("T")
_ENCODER: Final = msgspec.json.Encoder()


class SimulatedReviews:
    """No review waits: what the ledger has is all that there is, every namespace included."""

    def __init__(self, ledger: Ledger, settings: Settings, inventory: Inventory) -> None:
        seen = VisibilityWait(ledger, settings, ChangeNotifier(), _is_not_there)
        self._inventory = inventory
        self._claims = CardlessClaims(ledger, settings, self._classes)
        self._pods = PodReviews(ledger, settings, seen, self._claims, lambda: True)
        self._groups = PodGroupReviews(ledger, settings, seen, lambda: True)
        self._jobs = VolcanoJobReviews(ledger, seen, self._claims, lambda: True)

    def create(self, body: Pod | WrittenPodGroup | VolcanoJob) -> AdmissionResponse:
        """The answer to whoever creates an object."""
        encoded, namespace = msgspec.Raw(_ENCODER.encode(body)), body.metadata.namespace
        request = Request("", GroupResource(), "CREATE", namespace=namespace, object=encoded)
        if isinstance(body, Pod):
            return _at_once(self._pods.mutate(request))
        if isinstance(body, WrittenPodGroup):
            return _at_once(self._groups.validate(request))
        return asyncio.run(self._jobs.validate(request))  # it gives way to others between tasks

    def leave_out_claims(self, spec: PodSpec, namespace: str) -> None:
        """Empty the claims of `spec` if none of them is of a card, where claims are refused."""
        _at_once(self._claims.leave_out(spec, namespace))

    async def _classes(self, namespace: str, kind: str, name: str) -> Collection[str] | None:
        found = self._inventory.claims.get((namespace, NamedClaim(kind, name)))
        return None if found is None else set(found.device_classes())


async def _is_not_there(_: str) -> bool:
    """Of a queue that was not seen."""
    return False


def _at_once(review: Coroutine[Any, Any, T]) -> T:
    """The answer of a review that has nothing to wait for."""
    try:
        review.send(None)
    except StopIteration as answered:
        found: T = answered.value
        return found
    raise AssertionError("a review waits for something")
