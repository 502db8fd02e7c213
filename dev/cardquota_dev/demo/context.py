"""Who plays: a tenant, an administrator, and the screen that a step may speak through."""

from collections.abc import Callable
from dataclasses import dataclass

from .screen import Screen
from .user import Person


@dataclass(frozen=True)
class Cast:
    """What a step is played with."""

    tenant: Person
    """Runs workloads; may read queues and not write them."""
    admin: Person
    """Decides about queues."""
    screen: Screen


@dataclass(frozen=True)
class Step:
    """A part of the story."""

    title: str
    play: Callable[[Cast], None]
