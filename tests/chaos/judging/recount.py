"""What each queue holds, counted anew from stored objects alone.

It shares no code with what it judges: plain dictionaries, and the keys as they are documented.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GATE = "volcano.sh/card-quota"
NAME = "volcano.sh/card.name"
ALLOCATED = "volcano.sh/card.allocated"
CHARGED_QUEUE = "volcano.sh/card.queue"
TERM = "volcano.sh/card.term"
RESERVATION = "volcano.sh/card.reservation"
QUOTA = "volcano.sh/card.quota"
POLICY = "volcano.sh/card.policy"
QUEUE = "scheduling.volcano.sh/queue-name"
GROUP = "scheduling.k8s.io/group-name"
DEVICE = "nvidia.com/gpu"

Object = Mapping[str, Any]
Place = tuple[str, str]
"""A queue and a card."""


@dataclass
class StoredPod:
    """One pod as it is stored now."""

    key: str
    uid: str
    own_queue: str
    """The one that it names itself."""
    cards: tuple[str, ...]
    """Those it may run on, best first."""
    amount: int
    group: str
    gated: bool
    finished: bool
    succeeded: bool
    node: str
    stamp: dict[str, int] | None
    """What is written on it; None: nothing that can be read."""
    charged_queue: str
    term: str
    charge: dict[Place, int] = field(default_factory=dict)
    """What it holds: nothing while gated or finished."""

    @property
    def waits(self) -> bool:
        """Whether it is at the gate."""
        return self.gated and not self.finished


@dataclass
class Group:
    """One pod group as it is stored now."""

    key: str
    """`namespace/name`, as its members name it."""
    uid: str
    queue: str
    minimum: int
    reserved_in: str
    """The queue of its reservation; empty: it has none."""
    reserved: dict[Place, int]
    """Its reservation."""
    term: str
    """In which that was written."""


class Recount:
    """The cluster at one revision; `apply` takes it to the next."""

    def __init__(self, namespace: str, card_of_node: Mapping[str, str]) -> None:
        self.namespace = namespace
        self._card_of_node = dict(card_of_node)
        self.pods: dict[str, StoredPod] = {}
        self.groups: dict[str, Group] = {}
        self.members: defaultdict[str, dict[str, StoredPod]] = defaultdict(dict)
        """Pods that exist, finished or not, by group and key."""
        self.quota: dict[str, dict[str, int]] = {}
        self.policy: dict[str, str] = {}
        self.held: defaultdict[Place, int] = defaultdict(int)
        """Let through or bound, and not finished."""

    def apply(self, kind: str, key: str, thing: Object | None) -> set[Place]:
        """One change; the queues and cards it may have changed something for."""
        if kind == "pod":
            return self._pod(key, thing)
        if kind == "group":
            return self._group(key, thing)
        if kind == "queue":
            self._queue(key, thing)
            return {(key, card) for card in self.quota.get(key, ())}
        return set()

    def queue_of(self, pod: StoredPod) -> str:
        """The queue that a pod asks for: its group's, else its own."""
        group = self.groups.get(pod.group)
        return (group.queue if group else "") or pod.own_queue

    def card_of(self, node: str) -> str:
        """The card of a node; empty if it has none."""
        return self._card_of_node.get(node, "")

    def reserved(self, place: Place) -> int:
        """What groups hold of it beyond what their members hold."""
        return sum(
            max(0, group.reserved[place] - self.held_by(group.key, place))
            for group in self.groups.values()
            if place in group.reserved
        )

    def room(self, place: Place) -> int:
        """How much more of a card a queue may hold."""
        quota = self.quota.get(place[0], {}).get(place[1], 0)
        return quota - self.held[place] - self.reserved(place)

    def gated_deny(self, place: Place) -> int:
        """What waits in a queue whose pods are refused rather than made to wait."""
        if self.policy.get(place[0]) != "Deny":
            return 0
        room = self.room(place)
        return sum(
            pod.amount
            for pod in self.waiting(place[0])
            # Who waits for a group, or for more than there is, is not on the way.
            if place[1] in pod.cards and pod.amount <= room
            if not pod.group or pod.group in self.groups
        )

    def waiting(self, queue: str) -> list[StoredPod]:
        """Pods at the gate."""
        return [p for p in self.pods.values() if p.waits and self.queue_of(p) == queue]

    def held_by(self, group: str, place: Place) -> int:
        """What the members of a group hold in a queue, by the group's key."""
        return sum(pod.charge.get(place, 0) for pod in self.members[group].values())

    def started(self, group: str) -> int:
        """How many members of a group count for its minimum, by the group's key."""
        members = self.members[group].values()
        return sum(1 for pod in members if not pod.gated and (pod.succeeded or not pod.finished))

    def _pod(self, key: str, thing: Object | None) -> set[Place]:
        touched: set[Place] = set()
        before = self.pods.pop(key, None)
        if before is not None:
            self.members[before.group].pop(key, None)
            touched |= self._count(before, -1)
        if thing is not None:
            pod = self.pods[key] = read_pod(key, thing)
            pod.charge = self._charge(pod)
            if pod.group:
                self.members[pod.group][key] = pod
            touched |= self._count(pod, 1)
        return touched

    def _count(self, pod: StoredPod, sign: int) -> set[Place]:
        for place, amount in pod.charge.items():
            self.held[place] += sign * amount
        return set(pod.charge) | {(self.queue_of(pod), card) for card in pod.cards}

    def _charge(self, pod: StoredPod) -> dict[Place, int]:
        """What is written on it, but never less than what it really uses."""
        if pod.gated or pod.finished:
            return {}
        queue = pod.charged_queue or self.queue_of(pod)
        charge = {(queue, card): amount for card, amount in (pod.stamp or {}).items()}
        real = self._card_of_node.get(pod.node, next(iter(pod.stamp or pod.cards), ""))
        charge[queue, real] = max(charge.get((queue, real), 0), pod.amount)
        return charge

    def _group(self, key: str, thing: Object | None) -> set[Place]:
        whole = f"{self.namespace}/{key}"
        touched = self._touched_by(whole)
        self.groups.pop(whole, None)
        if thing is not None:
            self.groups[whole] = read_group(thing)
        return touched | self._touched_by(whole)

    def _touched_by(self, group: str) -> set[Place]:
        """What it has reserved, and where its members wait."""
        found = self.groups.get(group)
        waiting = [pod for pod in self.members[group].values() if pod.waits]
        places = {(self.queue_of(pod), card) for pod in waiting for card in pod.cards}
        return places | set(found.reserved if found else ())

    def _queue(self, name: str, thing: Object | None) -> None:
        notes = (thing or {"metadata": {}})["metadata"].get("annotations") or {}
        self.quota[name] = json.loads(notes.get(QUOTA, "{}"))
        self.policy[name] = notes.get(POLICY, "")


def read_pod(key: str, thing: Object) -> StoredPod:
    """A stored pod."""
    meta, spec = thing["metadata"], thing.get("spec") or {}
    notes = meta.get("annotations") or {}
    phase = (thing.get("status") or {}).get("phase")
    named = [card.strip() for card in notes.get(NAME, "").split("|")]
    limits = [(c.get("resources") or {}).get("limits") or {} for c in spec.get("containers", ())]
    namespace, group = meta.get("namespace") or "", notes.get(GROUP, "")
    return StoredPod(
        key=key,
        uid=meta.get("uid", ""),
        own_queue=notes.get(QUEUE, ""),
        cards=tuple(card for card in named if card),
        amount=sum(int(limit.get(DEVICE, 0)) for limit in limits),
        group=f"{namespace}/{group}" if group else "",
        gated=any(g["name"] == GATE for g in spec.get("schedulingGates") or ()),
        finished=phase in ("Succeeded", "Failed"),
        succeeded=phase == "Succeeded",
        node=spec.get("nodeName") or "",
        stamp=_amounts(notes.get(ALLOCATED)),
        charged_queue=notes.get(CHARGED_QUEUE, ""),
        term=notes.get(TERM, ""),
    )


def read_group(thing: Object) -> Group:
    """A stored pod group."""
    meta, spec = thing["metadata"], thing.get("spec") or {}
    text = (meta.get("annotations") or {}).get(RESERVATION)
    found = json.loads(text) if text else {}
    queue = found.get("queue", "")
    return Group(
        key=f"{meta.get('namespace') or ''}/{meta['name']}",
        uid=meta.get("uid", ""),
        queue=spec.get("queue", ""),
        minimum=int(spec.get("minMember") or 0),
        reserved_in=queue,
        reserved={(queue, card): int(n) for card, n in found.get("cards", {}).items()},
        term=found.get("term", ""),
    )


def _amounts(text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
        return {str(card): int(amount) for card, amount in found.items()}
    except (ValueError, AttributeError, TypeError):
        return None
