"""All policies, in the order in which they are rendered."""

from ..settings import Settings
from .gate_policies import born_gated, gate_owner, gate_term
from .identity_policies import lease, service_account
from .key_policies import fixed, keys, reservation_owner, reservation_term
from .policy import Policy


def policies(settings: Settings) -> tuple[Policy, ...]:
    """What the API server keeps by itself, whether or not we run."""
    return tuple(
        make(settings)
        for make in (
            born_gated,
            gate_owner,
            gate_term,
            keys,
            fixed,
            reservation_owner,
            reservation_term,
            lease,
            service_account,
        )
    )
