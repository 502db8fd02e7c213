"""What became of one job of a trace. Times are seconds after the first arrival."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ....quota.amounts import NO_AMOUNTS
from .trace_job import TraceJob


class JobState(StrEnum):
    """How far a job came before nothing happened any more."""

    ENDED = "ended"
    DENIED = "denied"
    """A pod of it was refused at create; its other pods are deleted."""
    GATED = "gated"
    """It waits at the gate, and never came past it."""
    PENDING = "pending"
    """It was let through, and some of its pods never got a node."""


class Placement(NamedTuple):
    """Cards that pods of one job hold on a node, from `at` until the job ends."""

    at: int
    node: str
    card: str
    cards: int


@dataclass(slots=True)
class JobRecord:
    """One job. A time is None if it never came."""

    job: TraceJob
    state: JobState = JobState.GATED
    text: str = ""
    """Why it was denied, or never started."""
    wanted: tuple[str, ...] = ()
    """The cards of which it may get one; empty if it was denied."""
    let_through: int | None = None
    """When the gates of all its pods were open: from then on it is charged."""
    charged: Mapping[str, int] = field(default_factory=lambda: NO_AMOUNTS)
    """By card."""
    started: int | None = None
    """When all its pods had a node."""
    ended: int | None = None
    placements: list[Placement] = field(default_factory=list)
    """In the order of time."""

    @property
    def wait(self) -> int | None:
        """Seconds from its arrival until all its pods have a node."""
        return None if self.started is None else self.started - self.job.arrival
