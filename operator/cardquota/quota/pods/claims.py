"""Devices that pods ask for as resources, and that a DeviceClass provides (P7).

Dynamic Resource Allocation allocates them like those in `spec.resourceClaims`: by selectors that do
not mention a card's name. So no quota can count them.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final, NamedTuple

from ..amounts import QuantityError, milli
from ..messages import request_messages
from ..objects.pod import PodSpec

PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""The resource name of every DeviceClass is this and the name of the class."""


class DeviceClasses:
    """The additional resource names of DeviceClasses, beside the one that follows from their own.

    Keeps two names for each class, and nothing else.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """By class."""
        self._classes: Counter[str] = Counter()
        """By resource name: how many classes have it."""

    def see(self, name: str, resource: str) -> None:
        """A class was added or changed. `resource` is empty if it has no additional name."""
        self.drop(name)
        if resource:
            self._names[name] = resource
            self._classes[resource] += 1

    def drop(self, name: str) -> None:
        """A class is gone."""
        resource = self._names.pop(name, None)
        if resource is not None:
            self._classes[resource] -= 1
            if not self._classes[resource]:
                del self._classes[resource]

    def gives(self, resource: str) -> bool:
        """Whether a class has this additional resource name."""
        return resource in self._classes

    def __bool__(self) -> bool:
        return bool(self._names)


def claims_devices(spec: PodSpec) -> bool:
    """Whether the pod's own text claims devices: in `spec.resourceClaims`, or by the resource name
    that every DeviceClass has.
    """
    if spec.resource_claims:
        return True
    for containers in (spec.containers, spec.init_containers):
        for container in containers or ():
            resources = container.resources
            if resources is None:
                continue
            for amounts in (resources.limits, resources.requests):
                for name in amounts or ():
                    if name.startswith(PREFIX) and amounts and _some(amounts[name]):
                        return True
    return False


def _some(amount: int | float | str) -> bool:
    """Whether it is more than zero. An unreadable amount may be."""
    try:
        return milli(amount) != 0
    except QuantityError:
        return True


CLAIM: Final = "ResourceClaim"
TEMPLATE: Final = "ResourceClaimTemplate"


class NamedClaim(NamedTuple):
    """What a pod names, in its own namespace."""

    kind: str
    name: str


def named_claims(spec: PodSpec) -> list[NamedClaim]:
    """What the pod names, each once. One that names nothing has an empty name."""
    found = (
        NamedClaim(TEMPLATE, one.resource_claim_template_name)
        if one.resource_claim_template_name is not None
        else NamedClaim(CLAIM, one.resource_claim_name or "")
        for one in spec.resource_claims or ()
    )
    return list(dict.fromkeys(found))


def why_no_quota_counts(
    claim: NamedClaim, classes: Collection[str] | None, without_cards: Collection[str]
) -> str:
    """Why a claim of these DeviceClasses is refused; empty if they are all `without_cards`.
    `classes`: None if there is no such claim.
    """
    if classes is None:
        return request_messages.claim_missing(*claim)
    others = sorted(set(classes).difference(without_cards))
    return request_messages.claim_of(*claim, others[0]) if others else ""
