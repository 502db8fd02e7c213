"""Whether a pod exceeds the limits of what we read (P8).

Checked before anything is built from it. Costs in proportion to the limits, not to the pod: each
check bounds the cost of the next.
"""

from collections.abc import Iterable
from typing import Final

from .. import limits
from ..amounts import Devices
from ..limits import Excess, Limit, size_of
from ..objects.meta import Owner
from ..objects.node import Expression, NodeAffinity, Term
from ..objects.pod import Container, LargePod, Pod, PodAnnotations, PodSpec

_SHORT: Final = 2 * limits.ALTERNATIVES.most
"""Characters below the limit of every text, whatever their number of bytes, and too few for more
alternatives than there may be."""


def excess(pod: Pod, *, waits: bool) -> Excess | None:
    """The first limit that a pod exceeds, or None.

    `waits`: whether it has no node yet. For a pod with a node, where it may run is not kept.
    """
    meta, spec = pod.metadata, pod.spec
    if isinstance(pod, LargePod):
        return Excess(limits.BODY, pod.size)
    return (
        (_of_annotations(meta.annotations) if meta.annotations is not None else None)
        or excess_of_containers(spec)
        or (_of_owners(meta.owner_references) if meta.owner_references else None)
        or (_of_what_waits(spec) if waits else None)
    )


def excess_of_containers(spec: PodSpec) -> Excess | None:
    """The first limit that its containers and their resources exceed, or None."""
    containers = spec.containers or ()
    if spec.init_containers:
        containers += spec.init_containers
    if len(containers) > limits.CONTAINERS.most:
        return Excess(limits.CONTAINERS, len(containers))
    entries = len(spec.overhead) if spec.overhead else 0
    for resources in (spec.resources, *[container.resources for container in containers]):
        if resources is not None:
            entries += len(resources.limits or ()) + len(resources.requests or ())
    if entries <= limits.RESOURCES.most:  # so no more names than that either
        return None
    return over(limits.RESOURCE_ENTRIES, entries) or over(
        limits.RESOURCES, len(_resource_names(containers, spec))
    )


def long_name(devices: Devices) -> Excess | None:
    """The first resource name that is too long, or None."""
    for name, _ in devices:
        if len(name) > _SHORT and (found := over(limits.RESOURCE_TEXT, size_of(name))):
            return found
    return None


def over(limit: Limit, found: int) -> Excess | None:
    """The excess if `found` is above the limit, else None."""
    return Excess(limit, found) if found > limit.most else None


def _of_annotations(notes: PodAnnotations) -> Excess | None:
    for limit, text in (
        (limits.CARD_TEXT, notes.card_name),
        (limits.CARD_TEXT, notes.card_alias),
        (limits.QUEUE_TEXT, notes.queue),
        (limits.QUEUE_TEXT, notes.queue_volcano_job),
        (limits.GROUP_TEXT, notes.group),
    ):
        if text is None or len(text) <= _SHORT:
            continue
        found = over(limit, size_of(text))
        if found is None and limit is limits.CARD_TEXT:
            found = over(limits.ALTERNATIVES, text.count("|") + 1)
        if found is not None:
            return found
    return None


def _resource_names(containers: Iterable[Container], spec: PodSpec) -> set[str]:
    names = set(spec.overhead or ())
    for resources in (spec.resources, *(container.resources for container in containers)):
        if resources is not None:
            names.update(resources.limits or (), resources.requests or ())
    return names


def _of_what_waits(spec: PodSpec) -> Excess | None:
    return (
        (_of_selector(spec) if spec.affinity is not None or spec.node_selector else None)
        or (_of_tolerations(spec) if spec.tolerations else None)
        or (_of_gates(spec) if spec.scheduling_gates else None)
    )


def _of_selector(spec: PodSpec) -> Excess | None:
    labels = spec.node_selector or {}
    affinity = spec.affinity.node_affinity if spec.affinity else None
    terms = _terms(affinity)
    found = over(limits.TERMS, len(terms))
    if found is not None:
        return found
    lists = [one for term in terms for one in (term.match_expressions, term.match_fields) if one]
    found = over(limits.EXPRESSIONS, len(labels) + sum(map(len, lists)))
    if found is not None:
        return found
    expressions = [expression for one in lists for expression in one]
    compared = sum(1 for expression in expressions if expression.operator in ("Gt", "Lt"))
    return (
        over(limits.COMPARISONS, compared)
        or over(limits.VALUES, sum(len(e.values or ()) for e in expressions))
        or over(
            limits.SELECTOR_TEXT, _size(labels) + _size(labels.values()) + _written(expressions)
        )
    )


def _terms(affinity: NodeAffinity | None) -> tuple[Term, ...]:
    return affinity.required.node_selector_terms if affinity and affinity.required else ()


def _written(expressions: Iterable[Expression]) -> int:
    return sum(size_of(e.key) + size_of(e.operator) + _size(e.values or ()) for e in expressions)


def _size(texts: Iterable[str]) -> int:
    return sum(map(size_of, texts))


def _of_tolerations(spec: PodSpec) -> Excess | None:
    tolerations = spec.tolerations or ()
    return over(limits.TOLERATIONS, len(tolerations)) or over(
        limits.TOLERATION_TEXT,
        sum(_size(filter(None, (t.key, t.operator, t.value, t.effect))) for t in tolerations),
    )


def _of_gates(spec: PodSpec) -> Excess | None:
    gates = spec.scheduling_gates or ()
    return over(limits.GATES, len(gates)) or over(
        limits.GATE_TEXT, _size(gate.name for gate in gates)
    )


def _of_owners(owners: tuple[Owner, ...]) -> Excess | None:
    found = over(limits.OWNERS, len(owners))
    if found is not None:
        return found
    longest = max(size_of(owner.kind) + size_of(owner.name) for owner in owners)
    return over(limits.OWNER_TEXT, longest)
