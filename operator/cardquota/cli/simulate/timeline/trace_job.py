"""One job of a trace: when it comes, what it asks for, how long it runs; and the bounds of that."""

from dataclasses import dataclass
from typing import Final

MOST_JOBS: Final = 200_000
"""Jobs of one trace."""
MOST_PODS: Final = 500_000
"""Pods of all jobs of one trace together. Those that exist at one time are kept: some 2 KB each."""
MOST_PODS_OF_ONE: Final = 10_000
"""Pods of one job."""
MOST_CARDS: Final = 1_000
"""Cards of one pod. More than any node has, shares and slices included."""
LONGEST: Final = 10 * 366 * 86_400
"""Seconds from the first arrival to the last, and of one job: ten years."""
LONGEST_NAME: Final = 200
"""Characters of a job's name. Its pods' names are longer."""
DEFAULT_NAMESPACE: Final = "default"


@dataclass(slots=True, frozen=True, kw_only=True)
class TraceJob:
    """A job of one pod, or a gang of several alike, which start together.

    Times are whole seconds; `arrival` counts from the first arrival of the trace.
    """

    name: str
    """Its own within the namespace, and a valid object name."""
    namespace: str = DEFAULT_NAMESPACE
    queue: str
    card: str
    """As in the annotation `card.name`: one name, or several, best first: `A|B`."""
    cards: int
    """Of each pod."""
    pods: int = 1
    arrival: int
    duration: int
    """From the moment when all its pods have a node."""
    priority: str = ""
    """The name of its priority class; empty: the default one."""
    cpu: str = ""
    """What each pod requests, as a Kubernetes quantity; empty: nothing."""
    memory: str = ""
    """As `cpu`."""

    @property
    def all_cards(self) -> int:
        """The cards of all its pods."""
        return self.cards * self.pods
