"""By what waiting pods share a class: one decision on a class holds for all its pods."""

from collections.abc import Hashable
from typing import NamedTuple

from ..pods.pod_request import PodRequest
from ..vocabulary import Mode


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
