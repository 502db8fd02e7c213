"""A queue with its quota and rules."""

import json
from collections.abc import Mapping
from typing import Self

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import QueueFacts
from cardquota.quota.accounts.queue_facts import queue_facts
from cardquota.quota.objects import Queue

from .body import Body, new_body


class QueueBody(Body):
    def with_quota(self, rows: Mapping[str, int]) -> Self:
        return self.with_quota_text(json.dumps(dict(rows)))

    def with_quota_text(self, text: str | None) -> Self:
        return self.annotated(v.QUOTA, text)

    def limited_to(self, cpu: str | None = None, memory: str | None = None) -> Self:
        found = {k: a for k, a in (("cpu", cpu), ("memory", memory)) if a is not None}
        return self.put(found, "spec", "capability")

    def guaranteeing(self, **amounts: str) -> Self:
        """Of cpu and memory."""
        return self.put(amounts, "spec", "guarantee", "resource")

    def guaranteeing_cards(self, rows: Mapping[str, int | str]) -> Self:
        """Whatever the others ask for (W1)."""
        return self.put(dict(rows), "spec", "guarantee", "resource")

    def deserving_cards(self, rows: Mapping[str, int]) -> Self:
        return self.annotated(v.DESERVED, json.dumps(dict(rows)))

    def lending(self, rows: Mapping[str, int]) -> Self:
        return self.annotated(v.LENDABLE, json.dumps(dict(rows)))

    def weighing(self, weight: int | None) -> Self:
        return self.put(weight, "spec", "weight")

    def deserving(self, **amounts: str) -> Self:
        return self.put(amounts, "spec", "deserved")

    def with_policy(self, policy: str | None) -> Self:
        return self.annotated(v.POLICY, policy)

    def open_to(self, *namespaces: str) -> Self:
        return self.annotated(v.NAMESPACES, json.dumps(namespaces))

    def closed(self) -> Self:
        return self.annotated(v.QUEUE_STATE, "Closed")

    def in_state(self, state: str) -> Self:
        """As Volcano's tools write it."""
        return self.put(state, "status", "state")

    def with_priority(self, priority: int) -> Self:
        return self.put(priority, "spec", "priority")

    def fifo(self) -> Self:
        return self.put("fifo", "spec", "dequeueStrategy")

    def reclaiming(self, mode: str | None) -> Self:
        """What is done for what waits in it (L6)."""
        return self.annotated(v.QUEUE_RECLAIM, mode)

    def reclaimable(self, value: bool | None) -> Self:
        """Whether others may have its cards back (L4)."""
        return self.put(value, "spec", "reclaimable")

    def having_reported(self, card: str, quota: int, resource: str | None) -> Self:
        """A row of the status we wrote."""
        rows = self.body.get("status", {}).get("cards", [])
        row = {"name": card, "quota": quota, "resource": resource}
        return self.put([*rows, row], "status", "cards")

    def wire(self) -> Queue:
        return msgspec.convert(self.body, Queue)

    def facts(self, *, open_to_all: bool = True) -> QueueFacts:
        return queue_facts(self.wire(), open_to_all=open_to_all)


def a_queue(name: str = "queue") -> QueueBody:
    return QueueBody(new_body(name))
