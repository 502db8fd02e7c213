"""The state of a pod's charge."""

from enum import IntEnum


class ChargeState(IntEnum):
    """The state of a pod's charge: exactly one of these."""

    ALLOCATED = 0
    RELEASED = 1
    """Let through, not bound."""
    GATED_DENY = 2
    """Gated, policy Deny: judged at create, will be let through."""
    GATED_GATE = 3
    """Gated, policy Gate: waits for quota. Under any policy: waits for a node with its card."""
