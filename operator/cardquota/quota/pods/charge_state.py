"""Where a pod's charge stands."""

from enum import IntEnum


class ChargeState(IntEnum):
    """Where a pod's charge stands. A pod has one of these."""

    ALLOCATED = 0
    RELEASED = 1
    """Let through, not bound."""
    GATED_DENY = 2
    """Gated, policy Deny: judged at create, on its way."""
    GATED_GATE = 3
    """Gated, policy Gate: waits for quota. Of any policy: waits for a node with its card."""
