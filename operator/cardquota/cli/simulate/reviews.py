"""The operator's own reviews, asked as by the API server, of what is created in a simulation."""

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any, Final, TypeVar

import msgspec

from cardquota_webhooks.pod_groups import PodGroupReviews
from cardquota_webhooks.pods import CardlessClaims, PodReviews, VisibilityWait
from cardquota_webhooks.review import AdmissionResponse, GroupResource, Request
from cardquota_webhooks.volcano_jobs import VolcanoJobReviews

from ...cluster.watch.delivery import ChangeNotifier
from ...install.matching import known_to_policies
from ...install.policies.gate_policies import gate_is_set_by_policy
from ...quota.ledger.ledger import Ledger
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import WrittenPodGroup
from ...quota.pods.pod_facts import NamedClaim, pod_facts
from ...settings import Settings
from .fake_cluster import gated
from .inventory import Inventory, VolcanoJob

T = TypeVar("T")
_ENCODER: Final = msgspec.json.Encoder()


class SimulatedReviews:
    """No review waits: what the ledger has is all that there is, every namespace included."""

    def __init__(self, ledger: Ledger, settings: Settings, inventory: Inventory) -> None:
        seen = VisibilityWait(ledger, settings, ChangeNotifier(), _is_not_there)
        self._by_policy = gate_is_set_by_policy(settings)
        self._inventory = inventory
        self._vendors = settings.vendor_table
        claims = CardlessClaims(ledger, settings, self._classes)
        self._pods = PodReviews(ledger, settings, seen, claims, lambda: True)
        self._groups = PodGroupReviews(ledger, settings, seen, lambda: True)
        self._jobs = VolcanoJobReviews(ledger, seen, claims, lambda: True)

    def create(self, body: Pod | WrittenPodGroup | VolcanoJob) -> AdmissionResponse:
        """The answer to whoever creates an object."""
        if isinstance(body, Pod) and self._is_gated_by_policy(body):
            body = gated(body)
        encoded, namespace = msgspec.Raw(_ENCODER.encode(body)), body.metadata.namespace
        request = Request("", GroupResource(), "CREATE", namespace=namespace, object=encoded)
        if isinstance(body, Pod):
            review = self._pods.validate if self._by_policy else self._pods.mutate
            return _at_once(review(request))
        if isinstance(body, WrittenPodGroup):
            return _at_once(self._groups.validate(request))
        return asyncio.run(self._jobs.validate(request))  # it gives way to others between tasks

    def _is_gated_by_policy(self, pod: Pod) -> bool:
        known = known_to_policies(pod, pod_facts(pod), self._vendors)
        return self._by_policy and known and not pod.spec.node_name

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
