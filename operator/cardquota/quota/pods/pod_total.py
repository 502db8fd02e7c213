"""What a pod asks for in total, by the scheduler's rule (P1).

Containers and sidecars run together and add up. Each init step counts by itself, beside the
sidecars that were started before it. Overhead comes on top. For cpu and memory a request at pod
level replaces the sum. Of extended resources the limit counts (the API server demands that limit
and request are equal); of cpu and memory the request, or the limit if there is none.

The API server writes a missing request from the limit, but not in a pod template. The result here
is the same for both, at pod level too, where the containers' requests come before the limit. Memory
is added up in thousandths of a byte and then rounded up, as the scheduler does.

Costs in proportion to the text, each entry once.

What a pod that is being resized still holds, only its status says: see `with_status`.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..amounts import Devices, Quantity, QuantityError, count, milli, milli_bytes
from ..kept_objects import SizedCache
from ..limits import KIB, RESOURCES
from ..objects.meta import ResourceList
from ..objects.pod import Container, PodSpec, PodStatus, Resources, ResourcesOnNode
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


_MOST_CONTAINERS: Final = 1_024
"""Containers whose cpu and memory are read."""
_MOST_DEVICES: Final = 1_024
"""Device entries above zero that are read."""


def oversized_totals(spec: PodSpec) -> PodTotals:
    """The totals of a pod of any size, of at most as many different devices as other pods may have.

    Devices are read of all containers, but no more entries than a node has devices: each entry
    above zero takes one, so a pod with more can run nowhere. Raises QuantityError.
    """
    containers, entries = _MOST_CONTAINERS, _MOST_DEVICES

    def cut(found: ResourceList | None) -> ResourceList:
        """Cpu and memory of the first containers, and devices up to their bound."""
        nonlocal entries
        amounts = found or _NOTHING
        compute = COMPUTE_RESOURCES if containers > 0 else ()
        devices = (one for one in amounts.items() if "/" in one[0] and one[1] not in ("0", 0))
        kept = dict(islice(devices, entries))
        entries -= len(kept)
        return kept | {name: amounts[name] for name in compute if name in amounts}

    def left(found: Resources | None) -> Resources | None:
        """None if nothing is."""
        nonlocal containers
        if found is None or not (found.limits or found.requests):
            return None
        resources = Resources(limits=cut(found.limits), requests=cut(found.requests))
        containers -= 1
        return resources if resources.limits or resources.requests else None

    def all_of(found: Iterable[Container] | None) -> tuple[Container, ...]:
        kept = ((left(one.resources), one.restart_policy) for one in found or ())
        return tuple(Container(resources=r, restart_policy=policy) for r, policy in kept if r)

    totals = pod_totals(
        PodSpec(
            containers=all_of(spec.containers),
            init_containers=all_of(spec.init_containers),
            overhead=cut(spec.overhead),
            resources=left(spec.resources),
        )
    )
    return totals._replace(devices=totals.devices[: RESOURCES.most])


_READ: Final = {CPU: milli, MEMORY: milli_bytes}
_Statuses = Mapping[str, ResourcesOnNode]


def with_status(spec: PodSpec, status: PodStatus, *, asked: bool) -> PodSpec:
    """The specification with what the pod holds; the same object if that is what it asks for.

    `asked`: whether what it asks for counts, too, where its node says what it has. Raises
    QuantityError.
    """
    every = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    found = {one.name: one for one in every if one.resources is not None}
    own = spec.resources
    if not found and (status.resources is None or own is None):
        return spec
    changes: dict[str, object] = {}
    for name in ("containers", "init_containers"):
        before: tuple[Container, ...] = getattr(spec, name) or ()
        after = tuple(_containers(before, found, asked=asked, sidecars=name != "containers"))
        if any(new is not old for new, old in zip(after, before, strict=True)):
            changes[name] = after
    if own is not None and own.requests and _held(own, status, asked=asked) is not own:
        changes["resources"] = _held(own, status, asked=asked)
    return replace(spec, **changes) if changes else spec


def _containers(
    containers: Iterable[Container], found: _Statuses, *, asked: bool, sidecars: bool
) -> Iterator[Container]:
    for one in containers:
        status = found.get(one.name)
        if status is None or (sidecars and one.restart_policy != SIDECAR):
            yield one
            continue
        before = one.resources or Resources()
        after = _held(before, status, asked=asked)
        yield one if after is before else replace(one, resources=after)


def _held(spec: Resources, status: ResourcesOnNode, *, asked: bool) -> Resources:
    """The same object if nothing differs."""
    done = (status.resources.requests if status.resources else None) or _NOTHING
    kept = status.allocated_resources or _NOTHING
    wanted = {**(spec.limits or _NOTHING), **(spec.requests or _NOTHING)}
    changed: ResourceList = {}
    for name, read in _READ.items():
        on_node: list[Quantity] = [of[name] for of in (kept, done) if name in of]
        if not on_node or all(amount == wanted.get(name) for amount in on_node):
            continue
        if asked and name in wanted:
            on_node.append(wanted[name])
        changed[name] = max(on_node, key=read)
    return replace(spec, requests={**(spec.requests or _NOTHING), **changed}) if changed else spec
