"""Who is refused a Binding, or the group of a pod, since he is not in `volcano.accounts`.

It is told wherever somebody looks: an event on the pod, a metric, the log, and `/readyz`. Each
replica tells what it was asked; the policies have refused it already, or will.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cardquota.cluster.events.event import ObjectReference
from cardquota.cluster.events.events import EventRecorder
from cardquota.metrics import Metrics
from cardquota.quota.messages.volcano import volcano_messages as messages
from cardquota.quota.reports.strangers import LASTING
from cardquota.quota.vocabulary import VOLCANO_UNKNOWN, RefusedWrite

_LOG = logging.getLogger(__name__)
MOST: Final = 16
"""Users, for each of the two. Then the one that was not refused for longest is forgotten, and the
log is told of no other."""
LONGEST_USER: Final = 600
"""Characters of a name that are kept."""
MOST_PODS: Final = 100
"""Of one user, that get an event, and are counted one by one."""


_EVENTS: Final = {
    RefusedWrite.BINDING: messages.binding_refused,
    RefusedWrite.GROUP: messages.group_refused,
}
_FAULTS: Final = {
    RefusedWrite.BINDING: messages.strangers_bind,
    RefusedWrite.GROUP: messages.strangers_group,
}


@dataclass(slots=True)
class _Stranger:
    last: float
    pods: set[tuple[str, str]] = field(default_factory=set)


class RefusedWrites:
    """What was refused in the last minutes. Bounded, whoever sends whatever."""

    def __init__(self, events: EventRecorder, metrics: Metrics, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._events = events
        self._counter = metrics.refused_writes
        self._clock = clock
        self._found: dict[tuple[RefusedWrite, str], _Stranger] = {}
        for what in RefusedWrite:
            self._counter.labels(what.value)

    def note(self, what: RefusedWrite, user: str, pod: ObjectReference) -> None:
        """It was refused to this user for a pod, of which the uid may be missing."""
        self._counter.labels(what.value).inc()
        self._forget_old()
        user = user[:LONGEST_USER]
        known = self._found.pop((what, user), None)
        if known is None:
            known = _Stranger(0.0)
            if sum(one is what for one, _ in self._found) >= MOST:
                # Not logged: whoever may make users could write a line with each of their writes.
                del self._found[next(key for key in self._found if key[0] is what)]
            else:
                _LOG.warning("%s", _FAULTS[what](user, 1))
        self._found[what, user] = known
        known.last = self._clock()
        key = pod.namespace, pod.name
        if key in known.pods or len(known.pods) >= MOST_PODS:
            return
        known.pods.add(key)
        if pod.uid:
            self._events.record(
                pod, type="Warning", reason=VOLCANO_UNKNOWN, message=_EVENTS[what](user)
            )

    @property
    def faults(self) -> list[str]:
        """What is to be put right, in words for people."""
        self._forget_old()
        return [
            _FAULTS[what](user, len(stranger.pods))
            for (what, user), stranger in self._found.items()
        ]

    def _forget_old(self) -> None:
        """The one that was refused last is the last."""
        since = self._clock() - LASTING
        while self._found:
            key = next(iter(self._found))
            if self._found[key].last > since:
                return
            del self._found[key]
