"""What the leader's release decides, charged before it is sent and until it is seen."""

from collections.abc import Callable, Iterator, Mapping

from ..amounts import Charge
from ..stamp import Reservation, Stamp
from .charges import Charges
from .groups.group_facts import GroupRequest
from .groups.pod_group_state import PodGroupState
from .ledger_reader import KeptRoom
from .ledger_state import LedgerState
from .reassessment import Reassessment


class ReleaseDecisions:
    """For the leader's release alone: on other replicas nothing is ever decided."""

    def __init__(self, state: LedgerState, charges: Charges, reassessment: Reassessment) -> None:
        self._state = state
        self._charges = charges
        self._reassessment = reassessment

    def assume(self, uid: str, stamp: Stamp) -> None:
        """Charge a gated pod before its gate is opened."""
        record = self._state.pods[uid]
        self._charges.uncharge(record)
        record.assumed = stamp
        self._charges.charge(record)

    def confirm(self, uid: str, stamp: Stamp, revision: int) -> None:
        """The patch landed at `revision`. Older events of the pod are ignored from now on.

        Does nothing unless this very stamp, not an equal one, still charges the pod.
        """
        record = self._state.pods.get(uid)
        if record is not None and record.assumed is stamp:
            record.settled_revision = revision

    def retract(self, uid: str, stamp: Stamp, *, back_off: bool = False) -> None:
        """The gate is closed, and no patch of ours can open it any more. Takes the charge back.

        With `back_off` the pod is not tried again before it changes or is `put_back`. Does nothing
        unless this very stamp still charges the pod: an equal one is a later decision.
        """
        record = self._state.pods.get(uid)
        if record is not None and record.assumed is stamp:
            self._charges.uncharge(record)
            record.assumed, record.settled_revision = None, 0
            record.backed_off = back_off
            self._charges.charge(record)

    def back_off(self, uid: str) -> None:
        """Do not try a gated pod before it changes or is `put_back`."""
        record = self._state.pods.get(uid)
        if record is not None and record.gated and not record.backed_off:
            self._charges.uncharge(record)
            record.backed_off = True
            self._charges.charge(record)

    def put_back(self, uid: str) -> None:
        """A pod that was held back may be tried again."""
        record = self._state.pods.get(uid)
        if record is not None and record.backed_off:
            self._charges.uncharge(record)
            record.backed_off = False
            self._charges.charge(record)

    def hold_back_gang(self, key: str) -> None:
        """Do not try a gang that has not started before it is `put_back_gang`."""
        group = self._state.groups.get(key)
        if group is not None and not group.backed_off:
            group.backed_off = True
            self._state.mark_group(group)

    def put_back_gang(self, key: str, queue: str) -> None:
        """A gang that was held back in a queue may be tried again."""
        group = self._state.groups.get(key)
        if group is not None and group.backed_off:
            group.backed_off = False
            self._state.mark_group(group)
            self._state.dirty.pending.add(queue)

    def end_term_in_steps(self) -> Iterator[None]:
        """We decide no longer. From here on only what the watches show counts.

        One step for each pod and group that we decided on. The caller must iterate to the end.
        Events may come between two steps.
        """
        decided = [
            (key, group)
            for key, group in self._state.groups.items()
            if group.assumed or group.unwritten or group.backed_off
        ]
        for key, group in decided:
            for reservation in (*group.unwritten, group.assumed):
                if reservation is not None:
                    self.retract_reservation(key, reservation)
            if group.backed_off:
                group.backed_off = False
                self._state.mark_group(group)
            yield
        for uid in list(self._state.unconfirmed):
            record = self._state.pods.get(uid)
            if record is not None and record.assumed is not None:
                self.retract(uid, record.assumed)
            self.put_back(uid)
            yield

    def begin_term(self) -> None:
        """We decide from now on. Marks everything as to be looked at."""
        state, dirty = self._state, self._state.dirty
        dirty.pending.update(state.accounts_by_queue)
        dirty.groups.update(state.groups)
        dirty.incorrect.update(state.misplaced, state.unnoted)
        dirty.unadmitted.clear()  # pods that came before are not reported
        state.nodes.problems.tell_all()

    def all_seen(self) -> Callable[[], bool]:
        """Returns a question to ask at every event: did the watches bring back all that is decided
        by now?

        Making it goes through all groups; asking it, through what was on its way.
        """
        pods = [uid for uid in self._state.unconfirmed if self._state.pods[uid].assumed]
        groups = [key for key, group in self._state.groups.items() if group.assumed]

        def seen() -> bool:
            found = [self._state.pods[uid].assumed for uid in pods if uid in self._state.pods]
            return not any(found) and not any(
                self._state.groups[key].assumed for key in groups if key in self._state.groups
            )

        return seen

    def reserve(self, key: str, queue: str, term: str, asked: Charge) -> Reservation:
        """Charge a gang's minimum before its reservation is written (T2).

        `asked`: the charge of all members that start, which was just judged to fit.
        """
        group = self._state.groups[key]
        reservation = group.reserve(queue, term, asked)
        self._posted_anew(group)
        return reservation

    def enqueue(self, key: str, queue: str, term: str, amounts: Charge) -> Reservation:
        """Charge what a group asks for before its reservation is written (E1, T2).

        `amounts`: as just judged. The pods of the group are not there yet.
        """
        group = self._state.groups[key]
        mark = group.facts.request.mark if group.facts else ""
        reservation = group.enqueue(queue, term, amounts, mark)
        self._posted_anew(group)
        return reservation

    def ask(self, key: str, request: GroupRequest | None) -> None:
        """A scheduler wants to enqueue a group now, and this is asked for it (V3). None: it does
        not want that any more.
        """
        group = self._state.groups.get(key)
        if group is not None:
            self.reject(key, rejected=False)
            group.asked = request
            self._state.ask(group)

    def note_vote(self, key: str, *, voted_on: bool) -> None:
        """A scheduler asks about a group, or the term is over in which it did (V3)."""
        group = self._state.groups.get(key)
        if group is not None and group.voted_on is not voted_on:
            group.voted_on = voted_on
            self._state.dirty.groups.add(key)

    def reject(self, key: str, *, rejected: bool) -> None:
        """A scheduler was told not to enqueue a group of which nothing can be reserved, or no
        longer (V3): so it waits, though nothing of it is there.
        """
        group = self._state.groups.get(key)
        if group is not None and group.rejected is not rejected:
            group.rejected = rejected
            self._state.dirty.groups.add(key)

    def confirm_reservation(self, key: str, reservation: Reservation, revision: int) -> None:
        """The reservation was written at `revision`.

        Does nothing for a reservation that the group no longer has: the group may have been made
        again under its name.
        """
        group = self._state.groups.get(key)
        if group is not None and group.decided(reservation):
            if group.assumed is reservation:
                facts = group.facts
                # Where it stood there already the write changed nothing, and no event will come.
                stood = facts and facts.revision >= revision and facts.reservation == reservation
                group.assumed = None if stood else reservation
                group.settled_revision = 0 if stood else revision
                self._state.repost(group)
            self._state.written(group, reservation)

    def retract_reservation(self, key: str, reservation: Reservation) -> None:
        """The reservation was not written and cannot be any more. Another one is left alone."""
        group = self._state.groups.get(key)
        if group is None:
            return
        pending = group.decided(reservation)
        if group.assumed is reservation:
            group.assumed, group.settled_revision = None, 0
            self._posted_anew(group)
        elif pending:
            self._state.written(group, reservation)

    def lose_place(self, key: str) -> None:
        """The gang did not use its reservation in time. Pods that fit go first from now on (E8)."""
        group = self._state.groups.get(key)
        if group is not None:
            group.lost_place, group.asked = True, None
            self._state.mark_group(group)

    def keep_rooms(self, rooms: Mapping[str, KeptRoom]) -> None:
        """From now on the cards of these rooms are released for those alone for whom they are kept,
        in the queues that the room says, and all others for anybody (L5). By uid of the pod, or
        `namespace/name` of the group.
        """
        state, before = self._state, self._state.kept_rooms
        if rooms == before:
            return
        state.kept_rooms = dict(rooms)
        for key in before.keys() ^ rooms.keys():
            record, group = state.pods.get(key), state.groups.get(key)
            if record is not None and record.releasable:
                self._charges.uncharge(record)  # it waits in a class of its own, or no longer does
                self._charges.charge(record)
            if group is not None:
                state.mark_group(group)
        closed = {place for room in rooms.values() for place in room.places}
        for room in before.values():
            if not room.places <= closed:
                here = state.waiting.keys() & {room.queue} if room.queue else state.waiting
                state.dirty.pending.update(here)

    def rest(self) -> None:
        """Forget the marks, on a replica that does not lead: a term begins with everything."""
        self._state.dirty.clear()
        self._state.nodes.problems.forget_untold()
        self._state.card_memory.forget_untold()

    def _posted_anew(self, group: PodGroupState) -> None:
        self._state.mark_group(group)
        self._state.repost(group)
        if not group.gang:
            # Its pods share classes with others only while nothing is reserved for it.
            self._reassessment.reassess(group.members)
