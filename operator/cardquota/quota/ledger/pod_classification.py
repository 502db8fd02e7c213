"""By what waiting pods share a class: one decision on a class holds for all its pods."""

from collections.abc import Hashable
from typing import NamedTuple

from ..pending.gang import Gang
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest
from ..vocabulary import Mode
from .groups.pod_group_state import PodGroupState
from .ledger_reader import LedgerReader


class ClassKey(NamedTuple):
    """Pods with the same key are alike in all that `judgement` reads."""

    request: PodRequest | None
    mode: Mode
    kept_out: str | None
    """The namespace, of a pod whose queue is not open to it."""
    group: str | None
    """The group's key, where the group decides: a gang, one that is missing, one that reserves, or
    one that leads to another queue than the pod names."""
    task: str
    """The pod's task, in a gang that needs some of it to start."""
    alone: bool
    """Whether it goes alone, though it may be in such a group."""
    own_queue: str | None
    """The queue that the pod itself names, where it is in another."""
    problem: str | None
    """What is wrong with the pod by itself."""
    gets_group: bool
    """Whether it waits for Volcano to give it a group."""
    unread: tuple[object, ...] | None
    """Where no card follows from it: what it says of cards, nodes and devices."""


def without_task(key: Hashable) -> Hashable:
    """The key that the pods of a class would have if they were of no task."""
    return key._replace(task="") if isinstance(key, ClassKey) and key.task else key


def task_of(group: PodGroupState | None, record: PodRecord) -> str:
    """The pod's task, where its gang needs some of it to start; else empty. So however many tasks
    pods name, few of them make classes of their own.
    """
    task = record.facts.task
    return task if task and group is not None and task in group.tasks else ""


def class_key_of(state: LedgerReader, record: PodRecord) -> tuple[ClassKey, Gang | None]:
    """The key of a pod's class; and its gang, or its group with a reservation, if it has one."""
    facts, request = record.facts, record.request
    group = state.groups.get(facts.group) if facts.group else None
    agrees = facts.own_queue in ("", record.queue)
    # What a reservation covers changes with every other member, of a gang or not any more. While
    # one is being written none of them goes.
    reserves = group is not None and (group.reservation is not None or group.being_reserved)
    together = group is not None and (group.gang or reserves)
    mode = state.mode_in(facts.namespace)
    # Where nothing is enforced nobody waits for anybody.
    gang = group if together and mode is Mode.ENFORCE else None
    group_key = gang.key if gang is not None else None
    if group is not None and (group.facts is None or reserves or not agrees):
        group_key = group.key
    unread = None
    if request is None or not request.cards:
        unread = (facts.card_text, facts.selector, facts.devices)
    account = state.account(record.queue)
    kept_out = account and account.facts and not account.facts.admits(facts.namespace)
    key = ClassKey(
        request,
        mode,
        facts.namespace if kept_out else None,
        group_key,
        task_of(group, record) if gang is not None else "",
        gang is None,
        None if agrees else facts.own_queue,
        facts.problem,
        state.gets_group(facts),
        unread,
    )
    return key, gang
