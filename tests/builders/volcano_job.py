"""A Job of Volcano."""

import json
from collections.abc import Mapping
from typing import Any, Self

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.objects import WrittenVolcanoJob

from .body import Body, new_body
from .pod import PodBody


class VolcanoJobBody(Body):
    def in_queue(self, queue: str | None) -> Self:
        return self.put(queue, "spec", "queue")

    def of(self, pods: int | None) -> Self:
        """How many must start together."""
        return self.put(pods, "spec", "minAvailable")

    def with_task(
        self, name: str, replicas: int, template: PodBody, least: int | None = None
    ) -> Self:
        """One more task, or this one anew. `least`: how many of its pods must start."""
        task: dict[str, Any] = {"name": name, "replicas": replicas}
        if least is not None:
            task["minAvailable"] = least
        metadata = {"annotations": template.body["metadata"].get("annotations", {})}
        task["template"] = {"metadata": metadata, "spec": template.body.get("spec", {})}
        others = [one for one in self.body["spec"]["tasks"] if one["name"] != name]
        return self.put([*others, task], "spec", "tasks")

    def requesting(self, cards: Mapping[str, int] | str | None) -> Self:
        """What its minimum will ask for; a text as it stands there."""
        text = cards if cards is None or isinstance(cards, str) else json.dumps(dict(cards))
        return self.annotated(v.REQUEST, text)

    def in_phase(self, phase: str) -> Self:
        return self.put(phase, "status", "state", "phase")

    def written(self) -> WrittenVolcanoJob:
        return msgspec.json.decode(json.dumps(self.body).encode(), type=WrittenVolcanoJob)


def a_volcano_job(name: str = "train", namespace: str = "team") -> VolcanoJobBody:
    return VolcanoJobBody({**new_body(name, namespace=namespace), "spec": {"tasks": []}})
