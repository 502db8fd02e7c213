"""What a pod asks for in total, by the rule that the scheduler uses (P1).

Containers and sidecars run together and add up; each init step runs beside the sidecars that
were started before it and counts by itself; overhead comes on top. For cpu and memory a request
at pod level replaces the sum. Of extended resources the limit counts (the API server demands that
limit and request are equal), of cpu and memory the request, and the limit where there is none.
"""

from collections.abc import Callable, Iterable
from typing import Final

from .objects import Amounts, Container, PodSpec, Resources
from .quantity import Quantity, QuantityError, count, milli, whole
from .vocabulary import CPU, MEMORY

_SIDECAR: Final = "Always"


def cpu_total(spec: PodSpec) -> int:
    """Requested cpu in milli-cores. Raises QuantityError."""
    return _total(spec, CPU, milli, _request)


def memory_total(spec: PodSpec) -> int:
    """Requested memory in bytes. Raises QuantityError."""
    return _total(spec, MEMORY, whole, _request)


def extended_totals(spec: PodSpec) -> tuple[tuple[str, int], ...]:
    """Devices asked for, by resource name, sorted; zeros are left out.

    Extended resources are those with a domain (`nvidia.com/gpu`) that is not Kubernetes' own.
    Raises QuantityError for a fraction, a negative or an unreadable amount, naming the resource.
    """
    names = {
        name
        for container in _containers(spec)
        for amounts in _both(container.resources)
        for name in amounts
        if _is_extended(name)
    }
    if not names:
        return ()
    totals = []
    for name in sorted(names):
        try:
            total = _total(spec, name, _device_count, _limit)
        except QuantityError as error:
            raise QuantityError(f"resource {name}: {error}") from None
        if total:
            totals.append((name, total))
    return tuple(totals)


def _is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _device_count(value: Quantity) -> int:
    amount = count(value)
    if amount < 0:
        raise QuantityError(f"<{value}> is negative")
    return amount


def _containers(spec: PodSpec) -> Iterable[Container]:
    yield from spec.containers or ()
    yield from spec.init_containers or ()


def _both(resources: Resources | None) -> Iterable[Amounts]:
    if resources is not None:
        yield resources.limits or {}
        yield resources.requests or {}


def _limit(resources: Resources | None, name: str) -> Quantity:
    return _first((resources.limits, resources.requests), name) if resources else 0


def _request(resources: Resources | None, name: str) -> Quantity:
    return _first((resources.requests, resources.limits), name) if resources else 0


def _first(choices: Iterable[Amounts | None], name: str) -> Quantity:
    for amounts in choices:
        if amounts is not None and name in amounts:
            return amounts[name]
    return 0


def _total(
    spec: PodSpec,
    name: str,
    read: Callable[[Quantity], int],
    pick: Callable[[Resources | None, str], Quantity],
) -> int:
    running = sum(read(pick(c.resources, name)) for c in spec.containers or ())
    sidecars = peak = 0
    for step in spec.init_containers or ():
        amount = read(pick(step.resources, name))
        if step.restart_policy == _SIDECAR:
            sidecars += amount
            peak = max(peak, sidecars)
        else:
            peak = max(peak, sidecars + amount)
    total = max(running + sidecars, peak)
    pod_level = _pod_level(spec.resources, name)
    if pod_level is not None:
        total = read(pod_level)
    if spec.overhead and name in spec.overhead:
        total += read(spec.overhead[name])
    return total


def _pod_level(resources: Resources | None, name: str) -> Quantity | None:
    """A request at pod level, which Kubernetes has for cpu and memory."""
    if resources is None or name not in (CPU, MEMORY):
        return None
    for amounts in (resources.requests, resources.limits):
        if amounts is not None and name in amounts:
            return amounts[name]
    return None
