"""A pod group."""

import json
from collections.abc import Mapping
from typing import Self

import msgspec

from cardquota.quota import Reservation, canonical, reservation_text
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger.groups import GroupFacts
from cardquota.quota.ledger.groups.group_facts import group_facts
from cardquota.quota.objects import PodGroup, WrittenPodGroup

from .body import Body, new_body


class GroupBody(Body):
    def in_namespace(self, namespace: str) -> Self:
        return self.put(namespace, "metadata", "namespace")

    def in_queue(self, queue: str | None) -> Self:
        return self.put(queue, "spec", "queue")

    def of(self, members: int | None) -> Self:
        """How many must start together."""
        return self.put(members, "spec", "minMember")

    def of_tasks(self, members: Mapping[str, int] | None) -> Self:
        """How many of each task must start together."""
        return self.put(None if members is None else dict(members), "spec", "minTaskMember")

    def requesting(self, cards: Mapping[str, int] | str | None) -> Self:
        """What its minimum will ask for; a text as it stands there."""
        text = cards if cards is None or isinstance(cards, str) else json.dumps(dict(cards))
        return self.annotated(v.REQUEST, text)

    def needing(self, resources: Mapping[str, str | int] | None) -> Self:
        return self.put(None if resources is None else dict(resources), "spec", "minResources")

    def made_by_a_controller(self) -> Self:
        """As Volcano makes it for a Job."""
        owner = {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "name": "train",
            "uid": "train",
            "controller": True,
        }
        return self.put([owner], "metadata", "ownerReferences")

    def made_by_another_controller(self) -> Self:
        """As an operator of somebody else makes it for a job of its own kind."""
        owner = {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "name": "train",
            "uid": "train",
            "controller": True,
        }
        return self.put([owner], "metadata", "ownerReferences")

    def reserving(
        self, queue: str, amounts: Mapping[str, int], term: str = "term-1", mark: str = ""
    ) -> Self:
        found = Reservation(queue, term, canonical(amounts), mark)
        return self.annotated(v.RESERVATION, reservation_text(found))

    def asking(self, cards: Mapping[str, int] | str, **min_resources: str) -> Self:
        """What its minimum will ask for: of cards, and of cpu and memory."""
        found = self.requesting(cards) if cards else self
        return found.needing(min_resources) if min_resources else found

    def enqueued(self, queue: str, amounts: Mapping[str, int], term: str = "term-1") -> Self:
        """With the reservation of what it asks for now."""
        return self.reserving(queue, amounts, term, self.facts().request.mark)

    def of_class(self, name: str) -> Self:
        return self.put(name, "spec", "priorityClassName")

    def in_phase(self, phase: str) -> Self:
        return self.put(phase, "status", "phase")

    def under_condition(
        self, name: str, reason: str, message: str, since: str = "2026-05-01T11:00:00Z"
    ) -> Self:
        """Its only condition, which is True."""
        found = {
            "type": name,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastTransitionTime": since,
        }
        return self.put([found], "status", "conditions")

    def wire(self) -> PodGroup:
        return msgspec.convert(self.body, PodGroup)

    def written(self) -> WrittenPodGroup:
        """As a review reads it."""
        return msgspec.convert(self.body, WrittenPodGroup)

    def facts(self) -> GroupFacts:
        return group_facts(self.wire())


def a_group(name: str = "gang") -> GroupBody:
    """In namespace `team`."""
    return GroupBody(new_body(name, namespace="team"))
