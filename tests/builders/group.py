"""A pod group."""

from collections.abc import Mapping
from typing import Self

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.amounts import canonical
from cardquota.quota.ledger.group_facts import GroupFacts, group_facts
from cardquota.quota.objects.pod_group import PodGroup
from cardquota.quota.stamp import Reservation, reservation_text

from .body import Body, new_body


class GroupBody(Body):
    def in_namespace(self, namespace: str) -> Self:
        return self.put(namespace, "metadata", "namespace")

    def in_queue(self, queue: str | None) -> Self:
        return self.put(queue, "spec", "queue")

    def of(self, members: int | None) -> Self:
        """How many must start together."""
        return self.put(members, "spec", "minMember")

    def reserving(self, queue: str, amounts: Mapping[str, int], term: str = "term-1") -> Self:
        found = Reservation(queue, term, canonical(amounts))
        return self.annotated(v.RESERVATION, reservation_text(found))

    def in_phase(self, phase: str) -> Self:
        return self.put(phase, "status", "phase")

    def wire(self) -> PodGroup:
        return msgspec.convert(self.body, PodGroup)

    def facts(self) -> GroupFacts:
        return group_facts(self.wire())


def a_group(name: str = "gang") -> GroupBody:
    """In namespace `team`."""
    return GroupBody(new_body(name, namespace="team"))
