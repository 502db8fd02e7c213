"""What is kept of a pod group and of a namespace: what a group asks for before its pods exist, and
what its name tells.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from sys import intern
from typing import Final, NamedTuple

from ... import vocabulary as v
from ...amounts import Amount, QuantityError, milli, whole
from ...cards.quota_text import QuotaTextError, read_request
from ...kept_objects import SizedCache
from ...limits import (
    GROUP_CARDS_TEXT,
    MIN_MEMBER,
    MOST_MEMBERS,
    REQUEST_CARDS,
    REQUEST_TEXT,
    RESOURCE_TEXT,
    RESOURCES,
    TASKS,
    kept_name,
    size_of,
)
from ...messages import group_messages, request_messages
from ...objects.cluster import Namespace
from ...objects.meta import ResourceList
from ...objects.pod_group import GroupAnnotations, GroupColumns, GroupSpec, PodGroup
from ...plan_record import PlanRecord, read_plan
from ...pods.pod_facts import is_preemptable
from ...stamp import Reservation, read_reservation
from ...words import show
from .stored_group import (
    NO_QUOTA_CONDITION,
    StoredCondition,
    StoredGroup,
    StoredQuotaCondition,
    stored_condition,
    stored_group,
    stored_quota_condition,
)

_NONE = GroupAnnotations()
_NO_TASKS: Final[Mapping[str, int]] = {}
_UID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MADE_FOR_PODS: Final = re.compile(f"podgroup-{_UID}")
"""The uid is that of the pods' controller, or of the pod."""
_OF_JOB: Final = re.compile(f"(.+)-{_UID}")
"""`namespace/name` of the group: its Job's name, and the Job's uid."""
_GROUP: Final = 3_600
"""Bytes of a group in a queue of its own, besides its texts: facts, state, indexes."""
_TASK: Final = 130
"""Bytes of a task besides its name."""
_CARD: Final = 200
"""Bytes of a card that it asks for, besides its name."""


class AskedCards(NamedTuple):
    """A number of cards, each of which may be any of `cards`, best first."""

    cards: tuple[str, ...]
    number: int


class GroupRequest(NamedTuple):
    """What the first `minMember` pods of a group will ask for together.

    It counts until those pods exist; then counts what they ask for (T2).
    """

    cards: tuple[AskedCards, ...] = ()
    """From the annotation `card.request`."""
    cpu_memory: tuple[Amount, ...] = ()
    """From `spec.minResources`: milli-cores and bytes, without zeros."""
    resources: tuple[Amount, ...] = ()
    """Its other resource names, where no annotation names cards: which of them are cards, and
    which cards, only the queue tells (V3). They are not asked for before Volcano asks."""
    problem: str = ""
    """Why it cannot be read, in words for the user; it then asks for nothing, and its group waits.
    Empty: it can."""

    def __bool__(self) -> bool:
        """Whether it asks for anything, or would if it could be read."""
        return bool(self.cards or self.cpu_memory or self.problem)

    @property
    def dimensions(self) -> frozenset[str]:
        """What it asks for: of a choice of cards, each of them."""
        cards = (card for row in self.cards for card in row.cards)
        return frozenset((*cards, *(name for name, _ in self.cpu_memory)))

    @property
    def mark(self) -> str:
        """Another one for every other request. It stands in a reservation, which ends when the
        group asks for something else.
        """
        text = repr((self.cards, self.cpu_memory, *self.resources))
        return blake2b(text.encode(errors="replace"), digest_size=12).hexdigest()


NO_REQUEST: Final = GroupRequest()


@dataclass(slots=True, kw_only=True)
class GroupFacts:
    """One pod group; `key` is `namespace/name`."""

    key: str
    namespace: str
    name: str
    uid: str
    revision: int = field(compare=False)
    created: str
    queue: str
    """`spec.queue`; empty where it says none (V5). Priority class and phase are empty where
    Kubernetes has none, too."""
    min_member: int
    tasks: Mapping[str, int]
    """`minTaskMember` in the order of names, as far as it says anything: none of a minimum that is
    wrong (P8), and no task of which none must start.
    """
    priority_class: str
    request: GroupRequest
    """What its minimum will ask for (E1)."""
    reservation: Reservation | None
    phase: str
    running: int
    """`status.running` as stored, and so are the next two."""
    succeeded: int
    failed: int
    cards: str
    """What `kubectl get podgroups` shows of its cards, as stored."""
    condition: StoredCondition
    stored: StoredGroup | None = field(compare=False)
    """What a write of ours may test instead of the version."""
    plan: PlanRecord | None = None
    """What ends for its members (L5)."""
    quota_condition: StoredQuotaCondition = NO_QUOTA_CONDITION
    """The one that we write beside Volcano."""
    preemptable: bool = True
    """Whether its pods may end so that others get their cards, as far as it says so (L4)."""

    @property
    def kept_size(self) -> int:
        """Bytes that it takes (P8): at least what is measured, and not twice that."""
        size = _GROUP + len(self.key)
        size += sum(_TASK + len(task) for task in self.tasks)
        size += sum(_CARD + 2 * len(card) for row in self.request.cards for card in row.cards)
        size += sum(_CARD + len(name) for name, _ in self.request.resources)
        return size + (len(self.stored.judged) if self.stored is not None else 0)


def group_facts(group: PodGroup) -> GroupFacts:
    """Read a pod group. A reservation that is none of ours reads as none."""
    meta = group.metadata
    notes = meta.annotations or _NONE
    return GroupFacts(
        key=f"{meta.namespace}/{meta.name}",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        revision=int(meta.resource_version or 0),
        created=meta.creation_timestamp or "",
        queue=kept_name(queue_said(meta.name, group.spec.queue)),
        priority_class=kept_name(group.spec.priority_class_name or ""),
        request=group_request(notes.request, group.spec.min_resources),
        tasks=_tasks(group.spec),
        min_member=min(max(0, group.spec.min_member or 0), MOST_MEMBERS),
        reservation=read_reservation(notes.reservation) if notes.reservation else None,
        plan=read_plan(notes.plan) if notes.plan else None,
        phase=kept_name(group.status.phase or ""),
        running=group.status.running or 0,
        succeeded=group.status.succeeded or 0,
        failed=group.status.failed or 0,
        cards=_kept_cards(group.status.columns),
        condition=stored_condition(group.status.conditions),
        stored=stored_group(meta.annotations, group.spec),
        quota_condition=stored_quota_condition(group.status.conditions),
        preemptable=is_preemptable(meta),
    )


def _kept_cards(columns: GroupColumns | None) -> str:
    """A text that is too long is none of ours, and is written anew."""
    text = (columns.cards if columns is not None else None) or ""
    return intern(text) if len(text) <= GROUP_CARDS_TEXT.most else ""


def _tasks(spec: GroupSpec) -> Mapping[str, int]:
    by_task = spec.min_task_member
    if not by_task or minimum_problem(spec.min_member, by_task):
        return _NO_TASKS
    return {kept_name(task): least for task, least in sorted(by_task.items()) if least}


def minimum_problem(min_member: int | None, by_task: Mapping[str, int] | None) -> str:
    """What is wrong with a group's minimum, in words; empty if nothing is.

    An absent minimum is a group that is no gang. Stored all the same, less than one is read as
    absent, and of a minimum by task nothing is read.
    """
    if min_member is not None:
        if min_member < 1:
            return group_messages.minimum_too_small(min_member)
        if min_member > MIN_MEMBER.most:
            return request_messages.beyond_limit(MIN_MEMBER, min_member, of="the group")
    if not by_task:
        return ""
    if len(by_task) > TASKS.most:
        return request_messages.beyond_limit(TASKS, len(by_task), of="the group")
    for task, minimum in by_task.items():
        if minimum < 0:
            return group_messages.task_minimum_negative(task, minimum)
    together = sum(by_task.values())
    if min_member is not None and together > min_member:
        return group_messages.task_minimums_too_large(together, min_member)
    return ""


# --- what its minimum will ask for, before its pods exist (E1) -----------------------------------

_LONGEST_REASON: Final = 300
"""Characters. It repeats what users wrote."""
_READ: Final = SizedCache[str, GroupRequest]()


def group_request(text: str | None, min_resources: ResourceList | None) -> GroupRequest:
    """Read `card.request` and `spec.minResources`. What cannot be read is the result's problem."""
    found = _cards(text) if text is not None else NO_REQUEST
    if found.problem or not min_resources:
        return found
    try:
        amounts = (
            (v.CPU, milli(min_resources.get(v.CPU, 0))),
            (v.MEMORY, whole(min_resources.get(v.MEMORY, 0))),
        )
    except QuantityError as error:
        return GroupRequest(problem=f"spec.minResources: {error}")
    for dimension, amount in amounts:
        if amount < 0:
            return GroupRequest(problem=f"spec.minResources: <{dimension}> is negative")
    others = () if found.cards else tuple(_others(min_resources))
    return found._replace(cpu_memory=tuple(one for one in amounts if one[1]), resources=others)


def _others(min_resources: ResourceList) -> Iterator[Amount]:
    """What `minResources` names beside cpu and memory. What is no whole number of any is none."""
    for name in islice(min_resources, RESOURCES.most):
        if "/" not in name or size_of(name) > RESOURCE_TEXT.most:
            continue
        with suppress(QuantityError):
            amount = whole(min_resources[name])
            if amount > 0:
                yield name, amount


def _cards(text: str) -> GroupRequest:
    size = size_of(text)
    if size > REQUEST_TEXT.most:
        return _unreadable(f"it has {size} bytes, at most {REQUEST_TEXT.most} are read")
    known = _READ.get(text)
    if known is not None:
        return known
    try:
        rows = read_request(text)
    except QuotaTextError as error:
        return _READ.put(text, _unreadable(str(error)), 2 * size)
    named = sum(map(len, rows))
    if named > REQUEST_CARDS.most:
        found = _unreadable(f"it names {named} cards, at most {REQUEST_CARDS.most} are read")
    elif not rows:
        found = _unreadable("it names no card; leave the annotation out instead")
    else:
        asked = (AskedCards(cards, number) for cards, number in rows.items())
        found = GroupRequest(tuple(asked))
    return _READ.put(text, found, 4 * size)


def _unreadable(why: str) -> GroupRequest:
    return GroupRequest(
        problem=f"the annotation {v.REQUEST} cannot be read: {show(why, most=_LONGEST_REASON)}"
    )


# --- of a namespace ------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True, kw_only=True)
class NamespaceFacts:
    """One namespace: the queue of pods that name none, and how strict we are there."""

    name: str
    uid: str
    queue: str
    """Empty: it says none."""
    mode: str
    """`enforced`, `audit`, `off`; where the label is absent or unknown, empty or `uncovered`."""
    unknown_mode: str
    """What the label says, where that means nothing; empty where it means something."""


def namespace_facts(namespace: Namespace, *, labelled: bool = False) -> NamespaceFacts:
    """Read a namespace. `labelled`: whether one without a label that means something is none of
    ours.
    """
    meta = namespace.metadata
    label = (meta.labels or {}).get(v.NAMESPACE_MODE, "")
    known = label in v.NAMESPACE_MODES
    return NamespaceFacts(
        name=meta.name,
        uid=meta.uid,
        queue=kept_name(meta.annotations.queue or "") if meta.annotations else "",
        mode=label if known else v.NAMESPACE_UNCOVERED if labelled else "",
        unknown_mode="" if known else label,
    )


# --- names: a user's own group of such a name is the same ----------------------------------------


def job_of(key: str) -> str:
    """`namespace/name` of the Job that a group was made for, as its key tells; empty: for none."""
    found = _OF_JOB.fullmatch(key)
    return found[1] if found is not None else ""


def made_for_pods(name: str) -> bool:
    """Whether Volcano gave a group this name, for pods that were there before it."""
    return _MADE_FOR_PODS.fullmatch(name) is not None


def queue_said(name: str, queue: str | None) -> str:
    """The queue that a pod group of this name says; empty if it says none.

    Volcano has the queue of a group of its own making from the pod's annotation, and makes the
    group after the pod: what stands there is no news, or was written by somebody since (V5).
    """
    return "" if made_for_pods(name) else queue or ""
