"""Who is refused Bindings, or groups, of pods of which queue, since he is not named as Volcano
(V1). What was noticed is kept in memory alone: whoever goes on is noticed again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..ledger.ledger_reader import LedgerReader
from ..messages.volcano.volcano_messages import LONGEST_STRANGER
from ..vocabulary import RefusedWrite

LASTING: Final = 600.0
"""Seconds for which a refusal counts. Volcano tries again every second."""
MOST_USERS: Final = 16
"""Of one queue that are remembered. Then the one with the fewest pods is forgotten: a tenant makes
as many service accounts as he likes, and Volcano tries to bind all pods."""
MOST_PODS: Final = 20
"""Of one of them that are counted one by one."""
UNCHANGED: Final = 60.0
"""Seconds for which what is shown of a queue stays as it is. Each change is a write."""
SETTLING: Final = 60.0
"""Seconds of a term in which what was not noticed may still be so: the other replicas tell a new
leader within this time."""


class RefusedUser(NamedTuple):
    """What one user was refused in the last minutes, for pods of one queue."""

    what: RefusedWrite
    user: str
    pods: int
    more: bool
    """Whether there may be more pods than are counted."""


class QueueStrangers(NamedTuple):
    """What is shown of one queue."""

    known: bool
    """Whether it would have been noticed by now."""
    users: tuple[RefusedUser, ...]
    """Who has most pods is the first."""


@dataclass(slots=True)
class _RefusedPods:
    last: dict[str, float] = field(default_factory=dict)
    """By uid of a pod: when it was refused last. The one of longest ago is the first."""
    cut: float = float("-inf")
    """When there were more than are counted."""

    def note(self, pods: Iterable[str], now: float) -> None:
        """It was refused for these."""
        for uid in pods:
            if self.last.pop(uid, None) is None and len(self.last) >= MOST_PODS:
                self.cut = now
                del self.last[next(iter(self.last))]
            self.last[uid] = now

    def forget(self, since: float) -> None:
        """What was before that."""
        for uid in [uid for uid, at in self.last.items() if at <= since]:
            del self.last[uid]


@dataclass(slots=True)
class _RefusedOfQueue:
    found: dict[tuple[RefusedWrite, str], _RefusedPods] = field(default_factory=dict)
    shown: tuple[RefusedUser, ...] = ()
    may_change: float = float("-inf")
    """From when on something else may be shown."""
    due: float = float("-inf")
    """When it is to be looked at again."""

    def note(self, what: RefusedWrite, user: str, pods: Iterable[str], now: float) -> None:
        """It was refused to this user."""
        key = what, user
        if key not in self.found and len(self.found) >= MOST_USERS:
            del self.found[min(self.found, key=lambda one: len(self.found[one].last))]
        self.found.setdefault(key, _RefusedPods()).note(pods, now)

    def look(self, now: float) -> bool:
        """Forget what is old. Returns whether something else is shown since."""
        since = now - LASTING
        for key, pods in list(self.found.items()):
            pods.forget(since)
            if not pods.last:
                del self.found[key]
        users = sorted(
            (
                RefusedUser(what, user, len(pods.last), pods.cut > since)
                for (what, user), pods in self.found.items()
            ),
            key=lambda one: -one.pods,
        )
        current = tuple(users)
        changed = current != self.shown and now >= self.may_change
        if changed:
            self.shown, self.may_change = current, now + UNCHANGED
        firsts = (next(iter(pods.last.values())) for pods in self.found.values())
        ends = min(firsts, default=float("-inf")) + LASTING
        self.due = ends if self.found and current == self.shown else self.may_change
        return changed

    @property
    def over(self) -> bool:
        """Whether nothing of it is to be remembered, once it is due."""
        return not self.found and not self.shown


class Strangers:
    """What was noticed in one term of the leader.

    Guarantees: memory is bounded by the queues, whoever is refused whatever; what is shown of a
    queue changes at most once in UNCHANGED seconds, and only where `note` or `look` says so.
    Not guaranteed: that all users are shown where there are more than MOST_USERS.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic. The term begins now."""
        self._clock = clock
        self._known_from = clock() + SETTLING
        self._queues: dict[str, _RefusedOfQueue] = {}

    def __len__(self) -> int:
        """Queues that are remembered."""
        return len(self._queues)

    @property
    def known(self) -> bool:
        """Whether a queue of which nothing was noticed has nothing to tell."""
        return self._clock() >= self._known_from

    def of(self, queue: str) -> QueueStrangers:
        """What is shown of a queue."""
        found = self._queues.get(queue)
        users = found.shown if found is not None else ()
        return QueueStrangers(bool(users) or self.known, users)

    def note(self, what: RefusedWrite, user: str, queue: str, pods: Iterable[str]) -> bool:
        """It was refused to this user for pods of this queue, by uid. Returns whether something
        else is shown of the queue since.
        """
        found = self._queues.setdefault(queue, _RefusedOfQueue())
        found.note(what, user[:LONGEST_STRANGER], pods, self._clock())
        return found.look(self._clock())

    def due(self) -> list[str]:
        """Queues to be looked at, since time has passed."""
        now = self._clock()
        return [queue for queue, found in self._queues.items() if found.due <= now]

    def look(self, queue: str) -> bool:
        """Look at a queue that is due. Returns whether something else is shown of it since."""
        found, now = self._queues[queue], self._clock()
        changed = found.look(now)
        if found.over and now >= found.may_change:
            del self._queues[queue]
        return changed


def queue_of_pod(ledger: LedgerReader, uid: str) -> str | None:
    """The queue of a pod, if there is one and the pod is known by its uid.

    Pods are not found by their names: a Binding need not say the uid, but Volcano's do.
    """
    record = ledger.pods.get(uid)
    account = ledger.account(record.queue) if record is not None else None
    return account.name if account is not None and account.facts is not None else None
