"""Events on a PodGroup about its gang as a whole: it does not start, it runs in part, or its time
is over.
"""

import logging
from typing import Final

from ...cluster.events import EventRecorder, group_reference
from ...quota import vocabulary as v
from ...quota.amounts import Amount, is_card
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import gang_messages
from ...quota.pods.pod_facts import PodFacts
from ...quota.stamp import Reservation
from ...quota.words import logged
from .group_conditions import GroupConditions

_LOG: Final = logging.getLogger(__name__)
_UNDECIDED: Final = "is undecided"
"""The topic of such an event: something is held for the group. No pod can have this name."""
_KEPT: Final = "is kept"


class GangReports:
    """Belongs to the ledger's loop; awaits nothing."""

    def __init__(
        self,
        ledger: LedgerReader,
        events: EventRecorder,
        conditions: GroupConditions,
        *,
        timeout: float,
    ) -> None:
        """`timeout`: seconds after which a reservation is given back. `conditions` are told which
        groups wait.
        """
        self._ledger = ledger
        self._events = events
        self._conditions = conditions
        self._timeout = timeout

    def not_started(self, gang: PodGroupState, pod: PodFacts, answer: str) -> None:
        """The opening of one pod's gate is refused, so no pod of the gang is started."""
        text = gang_messages.gang_refused(pod.name, answer)
        self._tell(gang, v.GATE_REFUSED, text, pod.name, waits=True)

    def not_reserved(self, gang: PodGroupState, answer: str) -> None:
        """Writing the group's reservation is refused, so no pod of it is started."""
        self._tell(gang, v.GATE_REFUSED, gang_messages.gang_not_reserved(answer), waits=True)

    def enqueued(self, group: PodGroupState, reservation: Reservation) -> None:
        """Its request is reserved, before its pods are there (E1)."""
        if group.facts is None:
            return
        self._events.forget(group.facts.uid)  # that it waits again would be news
        self._conditions.forget(group.key)
        text = gang_messages.enqueued(reservation.queue, reservation.amounts, self._timeout)
        self._events.record(
            group_reference(group.facts), type="Normal", reason=v.ENQUEUED, message=text
        )

    def not_enqueued(self, group: PodGroupState, answer: str) -> None:
        """Writing the reservation of a group that is to be enqueued is refused."""
        self._tell(group, v.GATE_REFUSED, gang_messages.group_not_enqueued(answer), waits=True)

    def unsure(self, gang: PodGroupState, reservation: Reservation, answer: str) -> None:
        """It is not known whether its reservation was written, and writing it again fails."""
        text = gang_messages.gang_undecided(reservation.queue, reservation.amounts, answer)
        self._tell(gang, v.GATE_REFUSED, text, _UNDECIDED)

    def backed_off(self, gang: PodGroupState, namespace: str, failures: int) -> None:
        """There is room, but gates of its namespace do not open; other gangs are tried."""
        text = gang_messages.gang_held_back(namespace, failures)
        self._tell(gang, v.GATE_REFUSED, text, namespace, waits=True)

    def in_part(self, gang: PodGroupState, pod: PodFacts, opened: int) -> None:
        """A gate is refused after other pods of the gang were released."""
        text = gang_messages.gang_in_part(pod.name, opened, gang.minimum, self._timeout)
        self._tell(gang, v.GATE_REFUSED, text, pod.name)

    def expired(self, key: str) -> None:
        """The time of its reservation is over (E8)."""
        gang = self._ledger.groups.get(key)
        if gang is None or gang.reservation is None:
            return
        queue = gang.reservation.queue
        rest = _outstanding(gang, gang.reservation)
        least, running = max(1, gang.minimum), gang.bound + len(gang.succeeded)
        if gang.enqueued:
            text = gang_messages.request_expired(
                queue, gang.members_existing, least, self._timeout, rest
            )
        else:
            cards = {dimension for _, dimension in gang.holds if is_card(dimension)}
            mixed = self._ledger.with_volcano and len(cards) > 1
            text = gang_messages.reservation_expired(
                queue, running, least, self._timeout, rest, mixed=mixed
            )
        if gang.facts is not None:
            self._events.forget(gang.facts.uid)  # each expiry is news
        self._tell(gang, v.RESERVATION_EXPIRED, text, waits=True)

    def not_given_back(self, key: str, answer: str) -> None:
        """Removing a reservation that is over is refused."""
        gang = self._ledger.groups.get(key)
        if gang is None or gang.reservation is None:
            return
        rest = _outstanding(gang, gang.reservation)
        if rest:
            text = gang_messages.reservation_kept(gang.reservation.queue, rest, answer)
            self._tell(gang, v.RESERVATION_EXPIRED, text, _KEPT)

    def _tell(
        self, gang: PodGroupState, reason: str, text: str, topic: str = "", *, waits: bool = False
    ) -> None:
        """`waits`: whether the whole group waits, for this reason."""
        if gang.facts is None:
            return
        if waits:
            self._conditions.waits(gang, reason, text)
        _LOG.warning("%s: %s", logged(gang.key), text)
        # Who is tried again and waits all the same is told of each time: so none is missing long.
        self._events.record(
            group_reference(gang.facts),
            type="Warning",
            reason=reason,
            message=text,
            topic=topic,
            renewable=waits,
        )


def _outstanding(gang: PodGroupState, reservation: Reservation) -> list[Amount]:
    """What is still reserved beyond what its members hold, cards first."""
    rest = [(d, n) for d, _ in reservation.amounts if (n := gang.outstanding(d))]
    return sorted(rest, key=lambda row: (not is_card(row[0]), row[0]))
