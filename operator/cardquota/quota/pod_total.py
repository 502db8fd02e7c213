"""What a pod asks for in total, by the rule that the scheduler uses (P1).

Containers and sidecars run together and add up; each init step runs beside the sidecars that
were started before it and counts by itself; overhead comes on top. For cpu and memory a request
at pod level replaces the sum. Of extended resources the limit counts (the API server demands that
limit and request are equal), of cpu and memory the request, and the limit where there is none.

The API server writes a missing request from the limit; of a pod template it does not. Here both
come to the same: at pod level too, where what the containers ask for comes before the limit.
Memory is added up in thousandths of a byte and then rounded up, as the scheduler does.

Not counted: what a pod that is being resized still holds, which stands in its status alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from .objects.pod import Container, PodSpec, Resources
from .objects.wire import Amounts
from .quantity import Quantity, QuantityError, count, milli, milli_bytes
from .vocabulary import CPU, MEMORY

_SIDECAR: Final = "Always"


class PodTotals(NamedTuple):
    """What a pod asks for in total."""

    devices: tuple[tuple[str, int], ...]
    """By resource name, sorted; zeros are left out. Extended resources are those with a domain
    (`nvidia.com/gpu`) that is not Kubernetes' own."""
    cpu: int
    """Milli-cores."""
    memory: int
    """Bytes."""


def pod_totals(spec: PodSpec) -> PodTotals:
    """The totals of a pod; the same object for pods that are written alike.

    Raises QuantityError for an amount that cannot be read, and for a fraction or a negative
    number of devices, naming the resource. The total itself may be of any size.
    """
    return _totals(
        tuple([_frozen(c.resources) for c in spec.containers or ()]),
        tuple([(_frozen(c.resources), _is_sidecar(c)) for c in spec.init_containers or ()]),
        _frozen(spec.resources),
        tuple(spec.overhead.items()) if spec.overhead else (),
    )


_Items = tuple[tuple[str, Quantity], ...]
_Frozen = tuple[_Items, _Items]
"""Limits and requests."""
_NONE: Final[_Frozen] = ((), ())


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == _SIDECAR


def _frozen(resources: Resources | None) -> _Frozen:
    if resources is None:
        return _NONE
    limits, requests = resources.limits, resources.requests
    return (tuple(limits.items()) if limits else (), tuple(requests.items()) if requests else ())


@lru_cache(maxsize=2048)
def _totals(
    containers: tuple[_Frozen, ...],
    steps: tuple[tuple[_Frozen, bool], ...],
    pod_level: _Frozen,
    overhead: _Items,
) -> PodTotals:
    """Thousands of pods are made from one template: the answer is kept."""
    pod = _Pod(
        [_thawed(one) for one in containers],
        [(_thawed(one), sidecar) for one, sidecar in steps],
        _thawed(pod_level),
        dict(overhead),
    )
    return PodTotals(
        tuple(_devices(pod)),
        _total(pod, CPU, milli, _request),
        -(-_total(pod, MEMORY, milli_bytes, _request) // 1000),
    )


def _thawed(frozen: _Frozen) -> Resources:
    return Resources(dict(frozen[0]), dict(frozen[1]))


class _Pod(NamedTuple):
    containers: list[Resources]
    steps: list[tuple[Resources, bool]]
    """Init containers; whether each is a sidecar."""
    level: Resources
    overhead: Mapping[str, Quantity]

    @property
    def everywhere(self) -> Iterator[Resources]:
        """Of all containers."""
        yield from self.containers
        for step, _ in self.steps:
            yield step


def _devices(pod: _Pod) -> Iterable[tuple[str, int]]:
    names = {
        name for one in pod.everywhere for name in (*(one.limits or ()), *(one.requests or ()))
    }
    for name in sorted(filter(_is_extended, names | pod.overhead.keys())):
        total = _total(pod, name, _device_count, _limit)
        if total:
            yield name, total


def _is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _device_count(value: Quantity) -> int:
    amount = count(value)
    if amount < 0:
        raise QuantityError(f"<{value}> is negative")
    return amount


def _limit(resources: Resources, name: str) -> Quantity:
    return _first((resources.limits, resources.requests), name)


def _request(resources: Resources, name: str) -> Quantity:
    return _first((resources.requests, resources.limits), name)


def _first(choices: Iterable[Amounts | None], name: str) -> Quantity:
    for amounts in choices:
        if amounts is not None and name in amounts:
            return amounts[name]
    return 0


def _total(
    pod: _Pod,
    name: str,
    read: Callable[[Quantity], int],
    pick: Callable[[Resources, str], Quantity],
) -> int:
    try:
        return _sum(pod, name, read, pick)
    except QuantityError as error:
        raise QuantityError(f"resource {name}: {error}") from None


def _sum(
    pod: _Pod,
    name: str,
    read: Callable[[Quantity], int],
    pick: Callable[[Resources, str], Quantity],
) -> int:
    running = sum(read(pick(resources, name)) for resources in pod.containers)
    sidecars = peak = 0
    for resources, sidecar in pod.steps:
        amount = read(pick(resources, name))
        if sidecar:
            sidecars += amount
            peak = max(peak, sidecars)
        else:
            peak = max(peak, sidecars + amount)
    total = max(running + sidecars, peak)
    pod_level = _pod_level(pod, name)
    if pod_level is not None:
        total = read(pod_level)
    return total + read(pod.overhead.get(name, 0))


def _pod_level(pod: _Pod, name: str) -> Quantity | None:
    """A request at pod level, which Kubernetes has for cpu and memory.

    Where it is missing, the API server makes it from what the containers ask for, and only where
    none of them names the resource from the limit at pod level.
    """
    if name not in (CPU, MEMORY):
        return None
    limits, requests = pod.level.limits or {}, pod.level.requests or {}
    if name in requests:
        return requests[name]
    return None if any(_names(one, name) for one in pod.everywhere) else limits.get(name)


def _names(resources: Resources, name: str) -> bool:
    return name in (resources.limits or ()) or name in (resources.requests or ())
