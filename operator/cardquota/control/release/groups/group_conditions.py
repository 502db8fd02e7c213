"""The condition of a pod group: why it waits and at which place, or that it was let through.

A group has at most one of our two conditions, and it is True: `Unschedulable` while it waits, with
the reason and the sentence of its event, and `Scheduled` from when its minimum is let through. A
condition is written when its reason changes. Its numbers, the place and who holds what the group
lacks are those of then: whoever wants those of now asks for them (F5).
"""

from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple

from ....cluster.events.event import MESSAGE_BYTES, cut
from ....quota import vocabulary as v
from ....quota.decisions.holders import with_holders_of
from ....quota.ledger.groups.group_condition import FOREIGN, NO_CONDITION, StoredCondition
from ....quota.ledger.groups.group_facts import GroupFacts
from ....quota.ledger.groups.pod_group_state import PodGroupState
from ....quota.ledger.ledger_reader import LedgerReader
from ....quota.messages import gang_messages, gate_messages
from ....quota.pending.candidate import Candidate
from ....quota.pods.pod_record import PodRecord
from ...later import Later, Timer, in_loop_later

MOMENT: Final = 2.0
"""Seconds for which a write waits that may soon be needless, or in somebody's way."""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class GroupWait(NamedTuple):
    """Why a group waits, as its event said."""

    uid: str
    """The group's."""
    queue: str
    reason: str
    asked: Hashable
    """What the group asked for then."""
    text: str


class WantedCondition(NamedTuple):
    """The only condition that a group should have. Without a type: none."""

    type: str = ""
    reason: str = ""
    message: str = ""

    def is_kind_of(self, stored: StoredCondition) -> bool:
        """Whether the stored one differs in its message at most."""
        return (self.type, self.reason) == (stored.type, stored.reason)

    def is_urgent(self, stored: StoredCondition) -> bool:
        """Whether it must be written for its own sake. That a group which never waited was let
        through is written with its phase.
        """
        if self.is_kind_of(stored):
            return False
        waited = stored.type in (v.GroupCondition.UNSCHEDULABLE, FOREIGN)
        return waited or self.type == v.GroupCondition.UNSCHEDULABLE


class GroupConditions:
    """The conditions of one term. Belongs to the ledger's loop; awaits nothing.

    Guarantees: memory is bounded by the groups that wait, about a KiB for each.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        *,
        term: str,
        now: Callable[[], str] = _now,
        later: Later = in_loop_later,
        stored: Callable[[GroupFacts], StoredCondition] = lambda facts: facts.condition,
    ) -> None:
        """`stored`: which condition of a group is ours. `now`: the time of day, RFC 3339. `later`
        calls a function after a number of seconds.
        """
        self._ledger = ledger
        self._term = term
        self._now = now
        self._later = later
        self._stored = stored
        self._look_again: Callable[[str], None] = lambda _: None
        self._waits: dict[str, GroupWait] = {}
        """By key of the group."""
        self._moments: dict[str, Timer] = {}
        """By key: when a group is written that was put off for a moment."""
        self._due: set[str] = set()
        """Groups whose moment is over."""
        self._stopped = False

    def listen(self, look_again: Callable[[str], None]) -> None:
        """`look_again` has a group brought up to date. Called with its key."""
        self._look_again = look_again

    def stop(self) -> None:
        """The term is over: nothing is due any more."""
        self._stopped = True
        for timer in self._moments.values():
            timer.cancel()
        self._moments.clear()
        self._waits.clear()
        self._due.clear()

    # --- what is told -------------------------------------------------------------------------

    def has(self, group: PodGroupState, reason: str, queue: str) -> bool:
        """Whether it is known that the group waits for this reason, and it has not asked for
        anything else since.
        """
        wait, facts = self._waits.get(group.key), group.facts
        if wait is None or facts is None:
            return False
        return wait[:-1] == (facts.uid, queue, reason, _asked(facts))

    def waits(
        self,
        group: PodGroupState,
        reason: str,
        text: str,
        queue: str = "",
        lacks: tuple[str, ...] = (),
        pod: PodRecord | None = None,
    ) -> str:
        """The group waits. Returns the sentence with its place, and with who holds what it lacks.

        `queue`: where it waits, if that is not the one that the group names. `lacks`: the
        dimensions of which it is told who holds them. `pod`: of a group that is no gang, the member
        that waits.
        """
        facts = group.facts
        if facts is None or self._stopped:
            return text
        queue = queue or facts.queue
        text = self._whole_message(group, text, queue, lacks, pod)
        self._waits[group.key] = GroupWait(facts.uid, queue, reason, _asked(facts), text)
        stored = self._stored(facts)
        if (stored.type, stored.reason) != (v.GroupCondition.UNSCHEDULABLE, reason):
            self._look_again(group.key)
        return text

    def _whole_message(
        self,
        group: PodGroupState,
        text: str,
        queue: str,
        lacks: tuple[str, ...],
        pod: PodRecord | None,
    ) -> str:
        """With its place, if it has one, and who holds what it lacks, if there are bytes for it."""
        account, candidate = self._ledger.account(queue), self._candidate(group, queue, pod)
        if account is None or candidate is None:
            return cut(text)
        number, of = account.pending.place_of(candidate)
        place = "; " + gate_messages.waits_in_order(queue, number, of)
        text = cut(text, MESSAGE_BYTES - len(place.encode())) + place
        return with_holders_of(self._ledger, group.key, queue, text, lacks, most=MESSAGE_BYTES)

    def _candidate(
        self, group: PodGroupState, queue: str, pod: PodRecord | None
    ) -> Candidate | None:
        account = self._ledger.account(queue)
        if account is None:
            return None
        if group.asks is not None or group.gang:
            return account.pending.candidate_of(group)
        pod_class = account.pending.classes.get(pod.class_key) if pod is not None else None
        return pod_class.candidate if pod_class is not None else None

    # --- what is written ----------------------------------------------------------------------

    def wanted(
        self, group: PodGroupState, phase: v.GroupPhase, *, reserved: bool
    ) -> WantedCondition | None:
        """What the group's condition should be. None: as it is, for it waits and this term has not
        told it why yet. `reserved`: whether its reservation continues.
        """
        facts = group.facts
        if facts is None:
            return None
        wait = self._waits.get(group.key)
        if self._holds_for_nothing(group, facts):
            if wait is None or wait.reason != v.RESERVATION_EXPIRED:
                return None
            return WantedCondition(v.GroupCondition.UNSCHEDULABLE, wait.reason, wait.text)
        if _is_let_through(group, phase, reserved=reserved):
            text = gang_messages.group_let_through(facts.queue)
            return WantedCondition(v.GroupCondition.SCHEDULED, v.RELEASED, text)
        if group.waits:
            if wait is not None and wait.uid == facts.uid:
                return WantedCondition(v.GroupCondition.UNSCHEDULABLE, wait.reason, wait.text)
            begins = phase is v.GroupPhase.INQUEUE and facts.phase != phase
            if self._stored(facts).type == v.GroupCondition.UNSCHEDULABLE and not begins:
                return None
        if phase is v.GroupPhase.UNKNOWN:
            running = group.bound + len(group.succeeded)
            text = gang_messages.group_runs_in_part(running, max(1, group.minimum))
            reason = v.Reason.GANG_INCOMPLETE
            return WantedCondition(v.GroupCondition.UNSCHEDULABLE, reason, text)
        return WantedCondition()

    def _holds_for_nothing(self, group: PodGroupState, facts: GroupFacts) -> bool:
        """Whether its minimum was let through and not bound in its time (E8): that stays true when
        another leader comes.
        """
        if not group.waits_for_nodes or group.reservation is not None:
            return False
        return group.lost_place or self._stored(facts).reason == v.RESERVATION_EXPIRED

    def body(self, group: PodGroupState, wanted: WantedCondition) -> list[dict[str, Any]]:
        """The list of conditions to be written. Conditions of other types are not kept: where we
        write the status of groups, nobody else does. The time is that of the last change of type.
        """
        if not wanted.type:
            return []
        stored = self._stored(group.facts) if group.facts is not None else NO_CONDITION
        since = stored.since if stored.type == wanted.type and stored.since else self._now()
        return [
            {
                "type": wanted.type,
                "status": "True",
                "transitionID": self._term,
                "lastTransitionTime": since,
                "reason": wanted.reason,
                "message": wanted.message,
            }
        ]

    def forget(self, key: str) -> None:
        """The group waits no longer."""
        self._waits.pop(key, None)

    def drop(self, key: str) -> None:
        """The group is gone."""
        self._waits.pop(key, None)
        self._due.discard(key)
        timer = self._moments.pop(key, None)
        if timer is not None:
            timer.cancel()

    def in_a_moment(self, key: str) -> None:
        """Have the group written after a moment, if that is needed still."""
        if key not in self._moments and not self._stopped:
            self._moments[key] = self._later(MOMENT, partial(self._moment_is_over, key))

    def take_due(self, key: str) -> bool:
        """Whether the group was put off and its moment is over. Ends that."""
        due = key in self._due
        self._due.discard(key)
        return due

    def _moment_is_over(self, key: str) -> None:
        del self._moments[key]
        self._due.add(key)
        self._look_again(key)


def _asked(facts: GroupFacts) -> Hashable:
    """What a group asks for, as far as its sentence says it."""
    return facts.min_member, facts.request


def _is_let_through(group: PodGroupState, phase: v.GroupPhase, *, reserved: bool) -> bool:
    if phase in (v.GroupPhase.RUNNING, v.GroupPhase.COMPLETED):
        return True
    starts = reserved and not group.to_be_replaced and not group.reserved_elsewhere
    return starts or group.let_through >= max(1, group.minimum)
