"""Pods and pod groups as they are stored, read by the keys as they are documented."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

GATE = "volcano.sh/card-quota"
NAME = "volcano.sh/card.name"
ALLOCATED = "volcano.sh/card.allocated"
CHARGED_QUEUE = "volcano.sh/card.queue"
TERM = "volcano.sh/card.term"
REQUEST = "volcano.sh/card.request"
RESERVATION = "volcano.sh/card.reservation"
PLAN = "volcano.sh/card.reclaim-plan"
QUEUE = "scheduling.volcano.sh/queue-name"
QUEUE_OF_JOB = "volcano.sh/queue-name"
"""The same on pods of Volcano's Jobs."""
GROUP = "scheduling.k8s.io/group-name"
DEVICE = "nvidia.com/gpu"
_VOLCANOS_JOBS = "batch.volcano.sh/"
_TO_BE_ENQUEUED = ("", "Pending")
EVICTED = "EvictionByEvictionAPI"
"""The reason of the condition that says so."""
OR = "|"

Object = Mapping[str, Any]
QueuePosition = tuple[str, str]
"""A queue and a card."""
Asks = dict[tuple[str, ...], int]
"""Cards, each of which may be any of some, and how many."""


@dataclass(frozen=True)
class StoredPlan:
    """What ends for a pod that waits."""

    way: str
    card: str
    victims: frozenset[str]
    """Uids."""


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
    created: str = ""
    maker: str = ""
    """The ReplicaSet that made it."""
    bound_as: tuple[str, str, str] = ("", "", "")
    """Its place among the members of its group, in the order in which they were bound."""
    charge: dict[QueuePosition, int] = field(default_factory=dict)
    """What it holds: nothing while gated or finished."""
    priority: int = 0
    plan: StoredPlan | None = None
    evicted: bool = False
    """Whether the API server has accepted an Eviction of it."""
    deleted: bool = False
    """Whether it is being deleted."""

    @property
    def ends(self) -> bool:
        """Whether it goes by itself, and what it holds comes."""
        return self.evicted or self.deleted

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
    asks: Asks
    """What it says that its minimum will ask for, before its pods are there."""
    completed: bool
    reserved_in: str
    """The queue of its reservation; empty: it has none."""
    reserved: dict[QueuePosition, int]
    """Its reservation."""
    enqueued: bool
    """Whether that was written for what it says, and not for members that start."""
    term: str
    """In which that was written."""
    reserved_for: Asks = field(default_factory=dict)
    """What an enqueued one said when that was written."""
    lost: bool = False
    """Whether it was enqueued with what it says now, and that was given back."""
    phase: str = ""
    job: str = ""
    """The Job of Volcano that it is of, by name; empty: it is of none."""
    counted: int = 0
    """How many cards its `spec.minResources` counts, whichever these are."""

    @property
    def waits(self) -> bool:
        """Whether Volcano has yet to enqueue it: it makes no pods for it by now."""
        return self.phase in _TO_BE_ENQUEUED

    def follow(self, before: "Group") -> None:
        """Take over what the history says of it. `before`: the same group until now."""
        same = (before.queue, before.minimum, before.asks) == (self.queue, self.minimum, self.asks)
        gone = before.enqueued and not self.reserved_in and before.reserved_for == self.asks
        self.lost = same and (before.lost or gone)
        if self.enqueued and before.enqueued:
            self.reserved_for = before.reserved_for


def read_pod(key: str, thing: Object) -> StoredPod:
    """A stored pod."""
    meta, spec, status = thing["metadata"], thing.get("spec") or {}, thing.get("status") or {}
    notes = meta.get("annotations") or {}
    phase = status.get("phase")
    limits = [(c.get("resources") or {}).get("limits") or {} for c in spec.get("containers", ())]
    namespace, group = meta.get("namespace") or "", notes.get(GROUP, "")
    uid, conditions = meta.get("uid", ""), status.get("conditions") or ()
    scheduled = (
        one.get("lastTransitionTime") or ""
        for one in conditions
        if one.get("type") == "PodScheduled"
    )
    return StoredPod(
        key=key,
        uid=uid,
        own_queue=notes.get(QUEUE, "") or notes.get(QUEUE_OF_JOB, ""),
        cards=cards_of(notes.get(NAME, "")),
        amount=sum(int(limit.get(DEVICE, 0)) for limit in limits),
        group=f"{namespace}/{group}" if group else "",
        gated=any(g["name"] == GATE for g in spec.get("schedulingGates") or ()),
        finished=phase in ("Succeeded", "Failed"),
        succeeded=phase == "Succeeded",
        node=spec.get("nodeName") or "",
        stamp=_amounts(notes.get(ALLOCATED)),
        charged_queue=notes.get(CHARGED_QUEUE, ""),
        term=notes.get(TERM, ""),
        created=meta.get("creationTimestamp") or "",
        maker=_maker(meta.get("ownerReferences") or ()),
        bound_as=(next(scheduled, ""), meta.get("creationTimestamp") or "", uid),
        priority=spec.get("priority") or 0,
        plan=_plan(notes.get(PLAN)),
        evicted=any(one.get("reason") == EVICTED for one in conditions),
        deleted=bool(meta.get("deletionTimestamp")),
    )


def _plan(text: str | None) -> StoredPlan | None:
    found = json.loads(text) if text else {}
    return StoredPlan(found["way"], found["card"], frozenset(found["victims"])) if found else None


def _maker(owners: Iterable[Object]) -> str:
    made_by = (o for o in owners if o.get("controller") and o.get("kind") == "ReplicaSet")
    return str(next((owner["name"] for owner in made_by), ""))


def read_group(thing: Object) -> Group:
    """A stored pod group."""
    meta, spec = thing["metadata"], thing.get("spec") or {}
    notes = meta.get("annotations") or {}
    found = json.loads(notes.get(RESERVATION) or "{}")
    asked = json.loads(notes.get(REQUEST) or "{}")
    queue, enqueued = found.get("queue", ""), bool(found.get("request"))
    asks = {cards_of(text): int(number) for text, number in asked.items()}
    phase = (thing.get("status") or {}).get("phase") or ""
    owners = meta.get("ownerReferences") or ()
    jobs = (o["name"] for o in owners if o.get("apiVersion", "").startswith(_VOLCANOS_JOBS))
    return Group(
        key=f"{meta.get('namespace') or ''}/{meta['name']}",
        uid=meta.get("uid", ""),
        queue=spec.get("queue", ""),
        minimum=int(spec.get("minMember") or 0),
        asks=asks,
        completed=phase == "Completed",
        reserved_in=queue,
        reserved={(queue, cards): int(n) for cards, n in found.get("cards", {}).items()},
        enqueued=enqueued,
        term=found.get("term", ""),
        reserved_for=asks if enqueued else {},
        phase=phase,
        job=next(jobs, ""),
        counted=int((spec.get("minResources") or {}).get(DEVICE, 0)),
    )


def cards_of(text: str) -> tuple[str, ...]:
    """The cards of a choice."""
    return tuple(dict.fromkeys(card.strip() for card in text.split(OR) if card.strip()))


def _amounts(text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
        return {str(card): int(amount) for card, amount in found.items()}
    except (ValueError, AttributeError, TypeError):
        return None
