"""What is read of a stored pod that exceeds its limits (P8, I3).

It waits if it has our gate. A pod that came past admission is charged like any other: the part that
is not read here could run on no node, or is nothing.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from ..limits import RESOURCES
from ..objects.pod import Container, PodSpec, Resources
from ..objects.wire import ResourceList
from ..vocabulary import COMPUTE_RESOURCES
from .pod_total import PodTotals, pod_totals

_MOST_CONTAINERS: Final = 1_024
"""Containers whose cpu and memory are read."""
_MOST_DEVICES: Final = 1_024
"""Device entries above zero that are read."""


def oversized_totals(spec: PodSpec) -> PodTotals:
    """The totals of a pod of any size, of at most as many different devices as other pods may have.

    Devices are read of all containers, but no more entries than a node has devices: each entry
    above zero takes one, so a pod with more can run nowhere. Raises QuantityError.
    """
    cut = _Cut()
    found = pod_totals(
        PodSpec(
            containers=cut.containers(spec.containers or ()),
            init_containers=cut.containers(spec.init_containers or ()),
            overhead=cut.amounts(spec.overhead),
            resources=cut.resources(spec.resources),
        )
    )
    return found._replace(devices=found.devices[: RESOURCES.most])


class _Cut:
    """Cuts off what may not be read, container by container."""

    def __init__(self) -> None:
        self._containers = _MOST_CONTAINERS
        self._devices = _MOST_DEVICES

    def containers(self, found: Iterable[Container]) -> tuple[Container, ...]:
        """The containers that ask for something that is read."""
        kept = []
        for one in found:
            if self._containers <= 0 and self._devices <= 0:
                break
            resources = self.resources(one.resources)
            if resources is not None:
                kept.append(Container(resources=resources, restart_policy=one.restart_policy))
        return tuple(kept)

    def resources(self, found: Resources | None) -> Resources | None:
        """None if nothing is left."""
        if found is None or not (found.limits or found.requests):
            return None
        self._containers -= 1
        limits, requests = self.amounts(found.limits), self.amounts(found.requests)
        return Resources(limits=limits, requests=requests) if limits or requests else None

    def amounts(self, found: ResourceList | None) -> ResourceList:
        """Cpu and memory of the first containers, and devices up to their bound."""
        if not found:
            return {}
        kept: ResourceList = {}
        if self._containers >= 0:
            kept.update((name, found[name]) for name in COMPUTE_RESOURCES if name in found)
        devices = (one for one in found.items() if "/" in one[0] and one[1] not in ("0", 0))
        read = list(islice(devices, self._devices))
        kept.update(read)
        self._devices -= len(read)
        return kept
