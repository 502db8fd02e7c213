"""What a step uses: a tenant, an administrator, and the screen."""

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


@dataclass(frozen=True)
class Step:
    """A part of the demo."""

    title: str
    run: Callable[[Context], None]
