"""Claims of devices that are no cards, such as channels between nodes (P7).

Only a claim, or its template, says of which DeviceClass it is: `spec.resourceClaims` names it.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from ..messages import request_messages
from ..objects.pod import PodSpec

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
