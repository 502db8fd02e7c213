"""Devices of Dynamic Resource Allocation, which no quota can count (P7).

They are allocated by selectors that do not mention a card's name: those that `spec.resourceClaims`
names, and those that a pod asks for as resources which a DeviceClass provides. Only a claim, or its
template, says of which DeviceClass it is; some have no cards, such as channels between nodes.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from ..messages import request_messages
from ..objects.pod import PodSpec


class DeviceClasses:
    """The additional resource names of DeviceClasses, beside the one that follows from their own.

    Keeps two names for each class, and nothing else.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """By class."""
        self._given: frozenset[str] = frozenset()

    def see(self, name: str, resource: str) -> None:
        """A class was added or changed, or is gone. `resource` is empty if it has no additional
        name.
        """
        self._names[name] = resource
        if not resource:
            del self._names[name]
        self._given = frozenset(self._names.values())

    def gives(self, resource: str) -> bool:
        """Whether a class has this additional resource name."""
        return resource in self._given

    def __bool__(self) -> bool:
        return bool(self._names)


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
