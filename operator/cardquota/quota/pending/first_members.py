"""Which waiting members start a gang: its minimum of each task, then others in order (E2)."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ..pods.pod_record import SortKey
from .candidate import PodClass


def first_members(
    classes: Iterable[PodClass], number: int, by_task: Mapping[str, int]
) -> list[SortKey]:
    """The first `number` of the pods of these classes, in the order of release, among them as many
    of each task as `by_task` says; fewer where too few are there.

    Costs by the number, and by the classes.
    """
    if not by_task:
        return list(islice(heapq.merge(*(one.sort_keys for one in classes)), number))
    rows: dict[str, list[list[SortKey]]] = {}
    for pod_class in classes:
        rows.setdefault(pod_class.task, []).append(pod_class.sort_keys)
    chosen, others = list[SortKey](), list[Iterator[SortKey]]()
    for task, some in rows.items():
        in_order = iter(heapq.merge(*some))
        chosen += islice(in_order, by_task.get(task, 0))
        others.append(in_order)
    chosen += islice(heapq.merge(*others), max(0, number - len(chosen)))
    return sorted(chosen)
