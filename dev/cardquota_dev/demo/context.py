"""What a step uses: a tenant, an administrator, the screen, and a real node if there is one."""

from collections.abc import Callable
from dataclasses import dataclass

from .screen import Screen
from .user import User


@dataclass(frozen=True)
class Context:
    """The arguments of a step."""

    tenant: User
    """Runs workloads; may read queues and not write them."""
    admin: User
    """Decides about queues."""
    screen: Screen
    operator: str
    """The URL of a replica's port of the metrics."""
    node_lacks: str
    """Why there is no real node on the plane. Empty: there is one."""


@dataclass(frozen=True)
class Step:
    """A part of the demo."""

    title: str
    run: Callable[[Context], None]
