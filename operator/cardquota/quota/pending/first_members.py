"""Which waiting members start a gang: its minimum of each task, then others in order (E2)."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from ..pods.pod_record import SortKey
from .candidate import PodClass

_MERGED: Final = 64
"""Classes up to which only the first of each are looked at. To merge ten thousand costs more than
to sort all of their pods.
"""


def first_members(
    classes: Iterable[PodClass], number: int, by_task: Mapping[str, int]
) -> list[SortKey]:
    """The first `number` of the pods of these classes, in the order of release, among them as many
    of each task as `by_task` says; fewer where too few are there.

    Costs by the number, and by the classes.
    """
    if not by_task:
        return list(islice(_in_order([one.sort_keys for one in classes], number), number))
    rows: dict[str | None, list[list[SortKey]]] = {}
    for pod_class in classes:
        task = pod_class.task if pod_class.task in by_task else None
        rows.setdefault(task, []).append(pod_class.sort_keys)
    chosen, others = list[SortKey](), list[Iterator[SortKey]]()
    for task, some in rows.items():
        in_order = _in_order(some, number)
        chosen += islice(in_order, by_task[task] if task is not None else 0)
        others.append(in_order)
    chosen += islice(heapq.merge(*others), max(0, number - len(chosen)))
    return sorted(chosen)


def _in_order(rows: Sequence[list[SortKey]], number: int) -> Iterator[SortKey]:
    """The pods of these rows in the order of release, the first `number` at least."""
    if len(rows) <= _MERGED:
        return iter(heapq.merge(*rows))
    return iter(sorted(chain.from_iterable(islice(row, number) for row in rows)))
