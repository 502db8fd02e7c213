"""What may be read of one queue's totals."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, Protocol

from ..amounts import Amounts
from ..pending.pending_queue import PendingQueue
from .queue_facts import QueueFacts
from .row import Row
from .unadmitted_pods import UnadmittedPods


class OverQuota(NamedTuple):
    """A dimension in which more is charged than the queue may hold (Q7)."""

    dimension: str
    charged: int
    limit: int


class Borrowed(NamedTuple):
    """A card of which more is charged than the quota, where rolling updates may borrow."""

    card: str
    amount: int
    """Cards beyond the quota, as far as they may be borrowed."""
    lent: int
    """Cards that may be borrowed."""


class AccountReader(Protocol):
    """An account without all that charges it."""

    @property
    def name(self) -> str:
        """The queue's; OUTSIDE for pods outside every queue."""

    @property
    def facts(self) -> QueueFacts | None:
        """The Queue; None while there is none of this name."""

    @property
    def quota(self) -> Amounts:
        """Cards, the last good one (Q4)."""

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards of the quota, sorted."""

    @property
    def quota_mark(self) -> object:
        """Another one with every other quota."""

    @property
    def rows(self) -> Mapping[str, Row]:
        """The counters of each dimension that has any."""

    @property
    def changes(self) -> int:
        """Different whenever a row has changed."""

    @property
    def unadmitted(self) -> UnadmittedPods:
        """The pods that hold something though we opened no gate of theirs (I3)."""

    @property
    def unstamped(self) -> Collection[str]:
        """Uids of the pods without a stamp of ours: who waits, and who came past us."""

    @property
    def pending(self) -> PendingQueue:
        """The pods that wait."""

    def row(self, dimension: str) -> Row:
        """The counters of a dimension; all zero where nothing was ever charged."""

    def limit(self, dimension: str) -> int | None:
        """What the queue may hold of a dimension (Q1, Q2); None: not limited."""

    def lent(self, card: str) -> int:
        """How many of a card rolling updates may borrow beyond the quota (R6)."""

    def borrowed(self) -> list[Borrowed]:
        """The cards of which some is borrowed (R6)."""

    def over(self) -> Iterator[OverQuota]:
        """Dimensions that stand above their limit (Q7)."""
