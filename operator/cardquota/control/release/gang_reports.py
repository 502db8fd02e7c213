"""What is told of a gang as a whole, by events on its PodGroup: that it does not start, that it
runs in part, that its time is over.
"""

import logging
from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota import messages
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.ledger.pod_group_state import PodGroupState
from ...quota.pods.pod_facts import PodFacts
from ...quota.stamp import Reservation
from ...quota.vocabulary import CPU, MEMORY
from ...quota.words import logged
from ..references import group_reference

_LOG: Final = logging.getLogger(__name__)
_UNDECIDED: Final = "is undecided"
"""What such an event is about: something is held for the group. No pod is called like this."""
_KEPT: Final = "is kept"


class GangReports:
    """Belongs to the ledger's loop; awaits nothing."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder, *, timeout: float) -> None:
        """`timeout`: seconds after which a reservation is given back."""
        self._ledger = ledger
        self._events = events
        self._timeout = timeout

    def not_started(self, gang: PodGroupState, pod: PodFacts, answer: str) -> None:
        """Somebody does not let the gate of one of its pods be opened: none of them is."""
        self._tell(gang, v.GATE_REFUSED, messages.gang_refused(pod.name, answer), pod.name)

    def not_reserved(self, gang: PodGroupState, answer: str) -> None:
        """Somebody does not let the group's reservation be written: no pod of it is started."""
        self._tell(gang, v.GATE_REFUSED, messages.gang_not_reserved(answer))

    def unsure(self, gang: PodGroupState, reservation: Reservation, answer: str) -> None:
        """Nobody knows whether its reservation was written, and it cannot be written again."""
        text = messages.gang_undecided(reservation.queue, reservation.amounts, answer)
        self._tell(gang, v.GATE_REFUSED, text, _UNDECIDED)

    def held_back(self, gang: PodGroupState, namespace: str, failures: int) -> None:
        """There is room for it, but gates of its namespace do not open, and others are tried."""
        text = messages.gang_held_back(namespace, failures)
        self._tell(gang, v.GATE_REFUSED, text, namespace)

    def in_part(self, gang: PodGroupState, pod: PodFacts, opened: int) -> None:
        """The same, found out when others had been let through."""
        text = messages.gang_in_part(pod.name, opened, gang.minimum, self._timeout)
        self._tell(gang, v.GATE_REFUSED, text, pod.name)

    def expired(self, key: str) -> None:
        """The time of its reservation is over (E8)."""
        gang = self._ledger.groups.get(key)
        if gang is None or gang.reservation is None:
            return
        queue = gang.reservation.queue
        rest = _outstanding(gang, gang.reservation)
        running = gang.bound + len(gang.succeeded)
        text = messages.reservation_expired(queue, running, gang.minimum, self._timeout, rest)
        if gang.facts is not None:
            self._events.forget(gang.facts.uid)  # each time is news
        self._tell(gang, v.RESERVATION_EXPIRED, text)

    def not_given_back(self, key: str, answer: str) -> None:
        """Somebody does not let a reservation that is over be taken away."""
        gang = self._ledger.groups.get(key)
        if gang is None or gang.reservation is None:
            return
        rest = _outstanding(gang, gang.reservation)
        if rest:
            text = messages.reservation_kept(gang.reservation.queue, rest, answer)
            self._tell(gang, v.RESERVATION_EXPIRED, text, _KEPT)

    def _tell(self, gang: PodGroupState, reason: str, text: str, topic: str = "") -> None:
        if gang.facts is None:
            return
        _LOG.warning("%s: %s", logged(gang.key), text)
        self._events.record(
            group_reference(gang.facts), type="Warning", reason=reason, message=text, topic=topic
        )


def _outstanding(gang: PodGroupState, reservation: Reservation) -> list[tuple[str, int]]:
    """What is still reserved beyond what its members hold, cards first."""
    rest = [(d, n) for d, _ in reservation.amounts if (n := gang.outstanding(d))]
    return sorted(rest, key=lambda row: (row[0] in (CPU, MEMORY), row[0]))
