"""Pods without our gate for which no node had room: the scheduler's queue of them."""

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from ..simulated_nodes import PodShape
from ..simulation import Simulation


class _QueuedPod(NamedTuple):
    """The smallest comes first: by priority, then by when it was added, as kube-scheduler does."""

    negated_priority: int
    number: int
    uid: str


class UnschedulablePods:
    """They are tried again when nodes have room again, in order, and do not hold up each other."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._by_shape: dict[PodShape, list[_QueuedPod]] = {}
        """Heaps. What has no room for the first has none for the others of its shape."""
        self._number = 0

    def add(self, uid: str) -> None:
        """A pod that was tried, in vain."""
        self._number += 1
        place = _QueuedPod(-(self._simulation.pod(uid).spec.priority or 0), self._number, uid)
        heapq.heappush(self._by_shape.setdefault(self._simulation.shape_of(uid), []), place)

    def bind(self) -> Iterator[str]:
        """Bind those that nodes have room for now. Yields their uids."""
        may_fit = self._simulation.may_have_room
        firsts = [(pods[0], shape) for shape, pods in self._by_shape.items() if may_fit(shape)]
        heapq.heapify(firsts)
        while firsts:
            place, shape = heapq.heappop(firsts)
            if not self._simulation.try_to_bind(place.uid):
                continue
            pods = self._by_shape[shape]
            heapq.heappop(pods)
            if pods:
                heapq.heappush(firsts, (pods[0], shape))
            else:
                del self._by_shape[shape]
            yield place.uid
