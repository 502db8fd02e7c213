"""What a pod holds while its node has not carried out a resize (P1, I3).

A resize changes the specification at once, and the node follows later, or never. Of cpu and memory
the largest counts of what is asked, what the node has set aside and what it has carried out, as for
kube-scheduler and ResourceQuota: for each container, each sidecar, and the pod's own level. Unlike
there, what a node can never give (`Infeasible`) counts until it is taken back: the condition is old
while a new resize is judged.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from ..objects.pod import Container, PodSpec, PodStatus, Resources, ResourcesOnNode
from ..objects.wire import ResourceList
from ..quantity import Quantity, milli, milli_bytes
from ..vocabulary import CPU, MEMORY
from .pod_total import SIDECAR

_NONE: Final[ResourceList] = {}
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
    done = (status.resources.requests if status.resources else None) or _NONE
    kept = status.allocated_resources or _NONE
    wanted = {**(spec.limits or _NONE), **(spec.requests or _NONE)}
    changed: ResourceList = {}
    for name, read in _READ.items():
        on_node: list[Quantity] = [of[name] for of in (kept, done) if name in of]
        if not on_node or all(amount == wanted.get(name) for amount in on_node):
            continue
        if asked and name in wanted:
            on_node.append(wanted[name])
        changed[name] = max(on_node, key=read)
    return replace(spec, requests={**(spec.requests or _NONE), **changed}) if changed else spec
