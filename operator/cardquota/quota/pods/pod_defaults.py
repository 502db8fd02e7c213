"""What the API server adds to a created pod's requests and limits: LimitRange, RuntimeClass.

A pod that reaches us already has them; a pod template or a pod in a file does not. They are applied
as the API server does: a container without a limit of a resource gets the default limit, and one
with neither limit nor request gets the default request. A LimitRange with `max` or `min` and
without a default has one all the same.

Not guaranteed: if several LimitRanges of one namespace differ, the API server takes them in no
fixed order; here they are taken by name. Their other effects on a pod are left out.

Bounded: of a namespace the first eight LimitRanges seen that have defaults, and of each 64 amounts;
1,000 RuntimeClasses with overhead. Nothing is kept of others.
"""

from collections.abc import Iterable
from functools import lru_cache
from sys import intern
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..amounts import Quantity, QuantityError
from ..objects.cluster import LimitRange, LimitRangeItem, RuntimeClass
from ..objects.meta import ResourceList
from ..objects.pod import Container, PodSpec, Resources
from ..vocabulary import COMPUTE_RESOURCES, CPU, MEMORY
from .pod_limits import excess_of_containers
from .pod_total import pod_totals

_OF_CONTAINERS: Final = "Container"
_MOST_IN_NAMESPACE: Final = 8
_MOST_AMOUNTS: Final = 64
_MOST_CLASSES: Final = 1_000

_Items = tuple[tuple[str, Quantity], ...]


class _Defaults(NamedTuple):
    """The defaults of one LimitRange."""

    limits: _Items
    requests: _Items


class PodDefaults:
    """The LimitRanges with defaults and the RuntimeClasses with overhead that have been seen."""

    def __init__(self) -> None:
        self._ranges: dict[str, dict[str, _Defaults]] = {}
        """By namespace and name."""
        self._overheads: dict[str, _Items] = {}
        """By RuntimeClass."""

    def limit_range_seen(self, found: LimitRange) -> None:
        """A LimitRange was added or changed."""
        meta, defaults = found.metadata, _defaults_of(found.spec.limits or ())
        self.limit_range_gone(meta.namespace, meta.name)
        if any(defaults):
            there = self._ranges.setdefault(intern(meta.namespace), {})
            if len(there) < _MOST_IN_NAMESPACE:
                there[meta.name] = _one(defaults)

    def limit_range_gone(self, namespace: str, name: str) -> None:
        """A LimitRange was deleted."""
        there = self._ranges.get(namespace, {})
        there.pop(name, None)
        if not there:
            self._ranges.pop(namespace, None)

    def runtime_class_seen(self, found: RuntimeClass) -> None:
        """A RuntimeClass was added or changed."""
        name = found.metadata.name
        overhead = _counted(found.overhead.pod_fixed if found.overhead else None)
        self.runtime_class_gone(name)
        if overhead and len(self._overheads) < _MOST_CLASSES:
            self._overheads[name] = overhead

    def runtime_class_gone(self, name: str) -> None:
        """A RuntimeClass was deleted."""
        self._overheads.pop(name, None)

    def applied(self, spec: PodSpec, namespace: str) -> PodSpec:
        """The specification that a pod gets if it is created with this one in a namespace.

        Costs in proportion to the limits (P8). A specification with more containers or entries than
        the limits allow stays as it is.
        """
        if excess_of_containers(spec) is not None:
            return spec
        overhead = self._overheads.get(spec.runtime_class_name or "")
        if overhead and not spec.overhead:
            spec = replace(spec, overhead=dict(overhead))
        ranges = self._ranges.get(namespace)
        if not ranges:
            return spec
        # The pod level is completed first, so that no container default changes it.
        level = _pod_level(spec)
        limits, requests = dict[str, Quantity](), dict[str, Quantity]()
        for _, defaults in sorted(ranges.items()):
            limits = {**dict(defaults.limits), **limits}
            requests = {**dict(defaults.requests), **requests}

        def filled(containers: Iterable[Container] | None) -> tuple[Container, ...]:
            return tuple(_filled(one, limits, requests) for one in containers or ())

        return replace(
            spec,
            containers=filled(spec.containers),
            init_containers=filled(spec.init_containers),
            resources=level,
        )


def _defaults_of(items: Iterable[LimitRangeItem]) -> _Defaults:
    """Completed as the API server does. Of several items the last that names a resource counts."""
    limits, requests = dict[str, Quantity](), dict[str, Quantity]()
    for item in items:
        if item.type == _OF_CONTAINERS:
            default = {**(item.max or {}), **(item.default or {})}
            limits.update(default)
            requests.update({**(item.min or {}), **default, **(item.default_request or {})})
    return _Defaults(_counted(limits), _counted(requests))


def _counted(amounts: ResourceList | None) -> _Items:
    """The amounts that can count: cpu, memory, and devices, whose names have a domain."""
    found = [one for one in (amounts or {}).items() if "/" in one[0] or one[0] in COMPUTE_RESOURCES]
    return tuple(sorted(found))[:_MOST_AMOUNTS]


@lru_cache(maxsize=1024)
def _one(defaults: _Defaults) -> _Defaults:
    """One object for equal defaults: most namespaces of a cluster have the same."""
    return defaults


def _filled(container: Container, limits: ResourceList, requests: ResourceList) -> Container:
    own = container.resources or Resources()
    own_limits = own.limits or {}
    own_requests = {**own_limits, **(own.requests or {})}
    resources = Resources(limits={**limits, **own_limits}, requests={**requests, **own_requests})
    return replace(container, resources=resources)


def _pod_level(spec: PodSpec) -> Resources | None:
    """What the API server makes of limits at pod level, from the containers without defaults."""
    level = spec.resources
    if level is None or not level.limits:
        return level
    try:
        totals = pod_totals(replace(spec, overhead=None))
    except QuantityError:
        return level  # the API server refuses such a pod
    requests = dict(level.requests or {})
    if totals.cpu:
        requests.setdefault(CPU, f"{totals.cpu}m")
    if totals.memory:
        requests.setdefault(MEMORY, str(totals.memory))
    return replace(level, requests=requests)
