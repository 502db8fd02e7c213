"""All policies, in the order in which they are rendered."""

from ..settings import Settings
from .gate_policies import born_gated, gate_owner, gate_term
from .identity_policies import lease, service_account
from .key_policies import fixed, keys, reservation_owner, reservation_term
from .policy import Policy, joined


def policies(settings: Settings) -> tuple[Policy, ...]:
    """What the API server keeps by itself, whether or not we run."""
    return (
        born_gated(settings),
        pods(settings),
        gate_term(settings),
        reservation_owner(settings),
        reservation_term(settings),
        lease(settings),
    )


def pods(settings: Settings) -> Policy:
    """What may be written on a pod, and by whom. The only one that most updates meet."""
    clauses = [make(settings) for make in (gate_owner, keys, fixed, service_account)]
    return joined("pods", "pods", clauses)
