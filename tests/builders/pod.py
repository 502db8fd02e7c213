"""A pod, from one that only exists to one that is bound."""

import json
from collections.abc import Mapping
from typing import Any, Self

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.objects import Pod
from cardquota.quota.pods import PodFacts
from cardquota.quota.pods.pod_facts import pod_facts

from .body import Body, new_body
from .names import GPU

BORN = "2026-01-01T00:00:00Z"


class PodBody(Body):
    def in_namespace(self, namespace: str) -> Self:
        return self.put(namespace, "metadata", "namespace")

    def in_queue(self, queue: str | None) -> Self:
        return self.annotated(v.QUEUE_NAME, queue)

    def in_group(self, group: str | None) -> Self:
        return self.annotated(v.GROUP_NAME, group)

    def of_task(self, task: str | None) -> Self:
        return self.annotated(v.TASK, task)

    def naming(self, cards: str | None) -> Self:
        return self.annotated(v.CARD_NAME, cards)

    def asking_for(self, amount: int | str, resource: str = GPU) -> Self:
        """Of the only container; asked for twice, both resources stand there."""
        return self._container("limits", resource, amount)

    def with_cpu(self, amount: str) -> Self:
        return self._container("requests", "cpu", amount)

    def with_memory(self, amount: str) -> Self:
        return self._container("requests", "memory", amount)

    def gated(self, *others: str) -> Self:
        return self.put([{"name": name} for name in (v.GATE, *others)], "spec", "schedulingGates")

    def ungated(self) -> Self:
        return self.put(None, "spec", "schedulingGates")

    def stamped(self, queue: str, cards: Mapping[str, int], term: str = "term-1") -> Self:
        """Its gate is open, and what it is charged for stands on it."""
        return (
            self.ungated()
            .annotated(v.ALLOCATED, json.dumps(dict(cards)))
            .annotated(v.CHARGED_QUEUE, queue)
            .annotated(v.TERM, term)
            .managed()
        )

    def managed(self) -> Self:
        """Marked by the operator: what stands on it as if we had written it, we have written."""
        return self.put(v.IS_MANAGED, "metadata", "labels", v.MANAGED)

    def on_node(self, node: str, at: str | None = "2026-01-01T01:00:00Z") -> Self:
        bound = self.ungated().put(node, "spec", "nodeName")
        if at is None:
            return bound
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
        return bound.put([{"type": "Ready"}, condition], "status", "conditions")

    def asking_for_memory(self, amount: int | str) -> Self:
        """Of one card, in the node's unit."""
        return self.asking_for(amount, v.GPU_MEMORY)

    def on_card(self, node: str, card: int | str, amount: int | str) -> Self:
        """Bound, and holding memory of one card of its node."""
        return (
            self.asking_for_memory(amount)
            .on_node(node)
            .annotated(v.GPU_MEMORY_CARD, str(card))
            .annotated(v.GPU_MEMORY_OF_POD, str(amount))
            .annotated(v.GPU_MEMORY_ASSIGNED, "false")
        )

    def in_phase(self, phase: str) -> Self:
        return self.put(phase, "status", "phase")

    def terminating(self) -> Self:
        return self.put("2026-01-02T00:00:00Z", "metadata", "deletionTimestamp")

    def owned_by(self, kind: str, group: str = "batch/v1", name: str = "o") -> Self:
        owner = {"apiVersion": group, "kind": kind, "name": name, "uid": "o", "controller": True}
        return self.put([{"kind": "Other", "uid": "h"}, owner], "metadata", "ownerReferences")

    def made_for(self, *nodes: str) -> Self:
        """As a DaemonSet's controller does it."""
        field = {"key": "metadata.name", "operator": "In", "values": list(nodes)}
        key = "requiredDuringSchedulingIgnoredDuringExecution"
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        return self.with_spec(affinity={"nodeAffinity": {key: required}})

    def with_priority(self, priority: int) -> Self:
        return self.put(priority, "spec", "priority")

    def claiming_devices(self) -> Self:
        return self.put([{"name": "claim"}], "spec", "resourceClaims")

    def on_nodes_labelled(self, labels: Mapping[str, str]) -> Self:
        return self.put(dict(labels), "spec", "nodeSelector")

    def requiring(self, *terms: list[tuple[str, str, list[str]]]) -> Self:
        """Required node affinity: terms of (key, operator, values); `metadata.name` is a field."""
        found = []
        for term in terms:
            asked = [{"key": k, "operator": o, "values": vs} for k, o, vs in term]
            fields = [one for one in asked if one["key"] == "metadata.name"]
            labels = {"matchExpressions": [one for one in asked if one not in fields]}
            found.append(labels | ({"matchFields": fields} if fields else {}))
        return self.put(
            {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": found}},
            "spec",
            "affinity",
            "nodeAffinity",
        )

    def with_spec(self, **spec: Any) -> Self:
        """Whole fields of the specification, as they stand in JSON."""
        found = self
        for key, value in spec.items():
            found = found.put(value, "spec", key)
        return found

    def _container(self, what: str, resource: str, amount: int | str) -> Self:
        containers = self.body.get("spec", {}).get("containers") or [{"name": "main"}]
        first = dict(containers[0])
        resources = dict(first.get("resources", {}))
        resources[what] = {**resources.get(what, {}), resource: amount}
        first["resources"] = resources
        return self.put([first, *containers[1:]], "spec", "containers")

    def wire(self) -> Pod:
        return msgspec.convert(self.body, Pod)

    def facts(self) -> PodFacts:
        return pod_facts(self.wire())


def a_pod(name: str = "pod") -> PodBody:
    """In namespace `team`, ungated, asking for nothing."""
    return PodBody(new_body(name, namespace="team", creationTimestamp=BORN))
