"""What is kept of a pod group and of a namespace."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Final

from ... import vocabulary as v
from ...limits import GROUP_CARDS_TEXT, MOST_MEMBERS, kept_name
from ...objects.cluster import Namespace
from ...objects.pod_group import GroupAnnotations, GroupColumns, GroupSpec, PodGroup
from ...stamp import Reservation, read_reservation
from .group_condition import (
    NO_QUOTA_CONDITION,
    StoredCondition,
    StoredQuotaCondition,
    stored_condition,
    stored_quota_condition,
)
from .group_minimum import minimum_problem
from .group_request import GroupRequest, group_request
from .made_for_pods import queue_said
from .stored_group import StoredGroup, stored_group

_NONE = GroupAnnotations()
_NO_TASKS: Final[Mapping[str, int]] = {}


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
    quota_condition: StoredQuotaCondition = NO_QUOTA_CONDITION
    """The one that we write beside Volcano."""


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
        phase=kept_name(group.status.phase or ""),
        running=group.status.running or 0,
        succeeded=group.status.succeeded or 0,
        failed=group.status.failed or 0,
        cards=_kept_cards(group.status.columns),
        condition=stored_condition(group.status.conditions),
        stored=stored_group(meta.annotations, group.spec),
        quota_condition=stored_quota_condition(group.status.conditions),
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


@dataclass(slots=True, frozen=True, kw_only=True)
class NamespaceFacts:
    """One namespace: the queue of pods that name none, and how strict we are there."""

    name: str
    uid: str
    queue: str
    """Empty: it says none."""
    mode: str
    """`enforced`, `audit`, `off`, or empty where the label is absent or unknown."""
    unknown_mode: str
    """What the label says, where that means nothing; empty where it means something."""


def namespace_facts(namespace: Namespace) -> NamespaceFacts:
    """Read a namespace."""
    meta = namespace.metadata
    label = (meta.labels or {}).get(v.NAMESPACE_MODE, "")
    known = label in v.NAMESPACE_MODES
    return NamespaceFacts(
        name=meta.name,
        uid=meta.uid,
        queue=kept_name(meta.annotations.queue or "") if meta.annotations else "",
        mode=label if known else "",
        unknown_mode="" if known else label,
    )
