"""What a pod asks for in total, by the scheduler's rule (P1).

Containers and sidecars run together and add up. Each init step counts by itself, beside the
sidecars that were started before it. Overhead comes on top. For cpu and memory a request at pod
level replaces the sum. Of extended resources the limit counts (the API server demands that limit
and request are equal); of cpu and memory the request, or the limit if there is none.

The API server writes a missing request from the limit, but not in a pod template. The result here
is the same for both, at pod level too, where the containers' requests come before the limit. Memory
is added up in thousandths of a byte and then rounded up, as the scheduler does.

Costs in proportion to the text, each entry once.

What a pod that is being resized still holds, only its status says: see `resized`.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..amounts import Devices
from ..limits import KIB
from ..objects.pod import Container, PodSpec, Resources
from ..objects.wire import ResourceList
from ..quantity import Quantity, QuantityError, count, milli, milli_bytes
from ..sized_cache import SizedCache
from ..vocabulary import COMPUTE_RESOURCES, CPU, MEMORY
from ..words import show

SIDECAR: Final = "Always"
"""Restart policy of an init container that goes on running."""
_NOTHING: Final[ResourceList] = {}


class PodTotals(NamedTuple):
    """What a pod asks for in total."""

    devices: Devices
    cpu: int
    """Milli-cores."""
    memory: int
    """Bytes."""


def pod_totals(spec: PodSpec) -> PodTotals:
    """The totals of a pod. Usually the same object for pods with the same text.

    Raises QuantityError for an unreadable amount, and for a fractional or negative number of
    devices; it names the resource. The total itself may be of any size.
    """
    key = (
        tuple([_frozen(c.resources) for c in spec.containers or ()]),
        tuple(
            [
                (_frozen(c.resources), c.restart_policy == SIDECAR)
                for c in spec.init_containers or ()
            ]
        ),
        _frozen(spec.resources),
        tuple(spec.overhead.items()) if spec.overhead else (),
    )
    found = _TOTALS.get(key)
    return found if found is not None else _TOTALS.put(key, _totals(spec), _size_of(key))


def _totals(spec: PodSpec) -> PodTotals:
    total = _of_containers(spec.containers or (), spec.init_containers or ())
    if spec.resources is not None:
        total.update(_pod_level(spec.resources, total))
    for name, value in (spec.overhead or _NOTHING).items():
        if name in COMPUTE_RESOURCES or _is_extended(name):
            total[name] = total.get(name, 0) + _read(name, value)
    cpu, memory = total.pop(CPU, 0), total.pop(MEMORY, 0)
    devices = sorted(one for one in total.items() if one[1])
    return PodTotals(tuple(devices), cpu, -(-memory // 1000))


_Items = tuple[tuple[str, Quantity], ...]
_Frozen = tuple[_Items, _Items]
"""Limits and requests."""
_NONE: Final[_Frozen] = ((), ())
_Key = tuple[tuple[_Frozen, ...], tuple[tuple[_Frozen, bool], ...], _Frozen, _Items]
"""All of a pod that its totals follow from: containers; init containers, and whether each is a
sidecar; the pod's own level; overhead. A plain tuple, for it is made with every pod.
"""
_TOTALS: Final = SizedCache[_Key, PodTotals](2048 * KIB)
"""Thousands of pods come from one template."""


def _frozen(resources: Resources | None) -> _Frozen:
    if resources is None:
        return _NONE
    limits, requests = resources.limits, resources.requests
    return (tuple(limits.items()) if limits else (), tuple(requests.items()) if requests else ())


def _size_of(key: _Key) -> int:
    containers, steps, level, overhead = key
    size = 0
    for limits, requests in (*containers, *(step for step, _ in steps), level, (overhead, ())):
        size += 200 + sum(200 + len(name) + len(str(n)) for name, n in (*limits, *requests))
    return size


def _of_containers(containers: Iterable[Container], steps: Iterable[Container]) -> dict[str, int]:
    """By resource; memory in thousandths of a byte. Resources without any amount are missing."""
    together: dict[str, int] = {}
    for container in containers:
        for name, amount in _asked(container.resources):
            together[name] = together.get(name, 0) + amount
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for step in steps:
        sidecar = step.restart_policy == SIDECAR
        for name, amount in _asked(step.resources):
            beside = sidecars.get(name, 0) + amount
            peak[name] = max(peak.get(name, 0), beside)
            if sidecar:
                sidecars[name] = beside
    for name, amount in sidecars.items():
        together[name] = together.get(name, 0) + amount
    for name, amount in peak.items():
        together[name] = max(together.get(name, 0), amount)
    return together


def _asked(resources: Resources | None) -> Iterable[tuple[str, int]]:
    """What one container asks for: of devices the limit comes first, of the rest the request."""
    if resources is None:
        return
    limits, requests = resources.limits or _NOTHING, resources.requests or _NOTHING
    for name, value in limits.items():
        if name in COMPUTE_RESOURCES:
            if name not in requests:
                yield name, _read(name, value)
        elif _is_extended(name):
            yield name, _read(name, value)
    for name, value in requests.items():
        if name in COMPUTE_RESOURCES or (name not in limits and _is_extended(name)):
            yield name, _read(name, value)


def _is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _read(name: str, value: Quantity) -> int:
    try:
        if name == CPU:
            return milli(value)
        if name == MEMORY:
            return milli_bytes(value)
        return _device_count(value)
    except QuantityError as error:
        raise QuantityError(f"resource {show(name, most=317)}: {error}") from None


def _device_count(value: Quantity) -> int:
    amount = count(value)
    if amount < 0:
        raise QuantityError(f"<{value}> is negative")
    return amount


def _pod_level(level: Resources, asked: Iterable[str]) -> Iterable[tuple[str, int]]:
    """Requests at pod level, which Kubernetes has for cpu and memory. They replace the sum.

    The API server makes a missing request from what the containers ask for, and uses the limit at
    pod level only if no container names the resource.
    """
    limits, requests = level.limits or _NOTHING, level.requests or _NOTHING
    for name in COMPUTE_RESOURCES:
        if name in requests:
            yield name, _read(name, requests[name])
        elif name in limits and name not in asked:
            yield name, _read(name, limits[name])
