"""The condition of a pod group: why it waits and at which place, or that it was released.

A group has at most one of our two conditions, and it is True: `Unschedulable` while it waits, with
the reason and the sentence of its event, and `Scheduled` from when its minimum is released. A
condition is written when its reason changes. Its numbers, the place and who holds what the group
lacks are those of then: whoever wants those of now asks for them (F5).

Volcano writes the status of groups itself, and its own condition `Unschedulable` stays for ever and
says the same of every group that waits. There we write one condition, `CardQuota`: `True` with the
reason and the sentence of the event while the group waits for quota, so that Volcano copies it to
the Job, and `False` once it was released; a group that never waited gets none.
"""

import logging
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import JSON_PATCH
from ...cluster.events import MESSAGE_BYTES, cut
from ...cluster.writes import FencedWriter, TooLateError, decode_stored
from ...loop.timing import Later, Timer, in_loop_later, now_text
from ...quota import vocabulary as v
from ...quota.decisions.verdict_texts import with_holders_of
from ...quota.ledger.groups.group_facts import GroupFacts
from ...quota.ledger.groups.pod_group_state import PodGroupState, Stage
from ...quota.ledger.groups.stored_group import (
    FOREIGN,
    NO_CONDITION,
    NO_QUOTA_CONDITION,
    QUOTA_CONDITION,
    StoredCondition,
)
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import gang_messages, gate_messages
from ...quota.pending.candidate import Candidate
from ...quota.pods.pod_record import PodRecord
from ...quota.words import logged

MOMENT: Final = 2.0
"""Seconds for which a write waits that may soon be needless, or in somebody's way."""


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
        """Whether it must be written for its own sake. That a group which never waited was released
        is written with its phase.
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
        now: Callable[[], str] = now_text,
        later: Later = in_loop_later,
        stored: Callable[[GroupFacts], StoredCondition] = lambda facts: facts.condition,
        look_again: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`stored`: which condition of a group is ours. `now`: the time of day, RFC 3339. `later`
        calls a function after a number of seconds. `look_again` has a group brought up to date, by
        its key.
        """
        self._ledger = ledger
        self._term = term
        self._now = now
        self._later = later
        self._stored = stored
        self._look_again = look_again
        self._waits: dict[str, GroupWait] = {}
        """By key of the group."""
        self._moments: dict[str, Timer] = {}
        """By key: when a group is written that was put off for a moment."""
        self._due: set[str] = set()
        """Groups whose moment is over."""
        self._stopped = False

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
        if _is_released(group, phase, reserved=reserved):
            text = gang_messages.group_released(facts.queue)
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
        """Whether its minimum was released and not bound in its time (E8): that stays true when
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


def _is_released(group: PodGroupState, phase: v.GroupPhase, *, reserved: bool) -> bool:
    if phase in (v.GroupPhase.RUNNING, v.GroupPhase.COMPLETED):
        return True
    starts = reserved and not group.to_be_replaced and not group.reserved_elsewhere
    return starts or group.released >= max(1, group.minimum)


_LOG: Final = logging.getLogger(__name__)
_CONDITIONS: Final = "/status/conditions"
_FIRST: Final = f"{_CONDITIONS}/0"


class QuotaConditions:
    """Writes the condition of one term. One call per group at a time; nothing waits for it.

    Guarantees: nothing but this condition is changed, and there is one of it. No version is named,
    so that Volcano's writes are in nobody's way.
    What was refused since it was stale is looked at again when the group's change is seen.
    """

    def __init__(
        self, ledger: LedgerReader, writer: FencedWriter, conditions: GroupConditions
    ) -> None:
        self._ledger = ledger
        self._writer = writer
        self.conditions: Final = conditions
        self._written: dict[str, int] = {}
        """By key: the version of our last write, until it is seen."""
        self._notified: set[str] = set()
        """Groups that this term has told why they wait, by key."""

    async def update(self, key: str) -> bool:
        """Write the condition if that is due. Returns whether nothing is left to do."""
        group, due = self._ledger.groups.get(key), self.conditions.take_due(key)
        if group is None or group.facts is None:
            self.conditions.drop(key)
            self._written.pop(key, None)
            self._notified.discard(key)
            return True
        facts = group.facts
        if facts.revision < self._written.get(key, 0):
            return True  # its event is on the way
        self._written.pop(key, None)
        reserved = group.reservation is not None and group.assumed is None
        phase = phase_of(group, reserved=reserved)
        wanted = self.conditions.wanted(group, phase, reserved=reserved)
        if wanted is not None and wanted.type:
            self._notified.add(key)
        if wanted is None or not self._is_stale(facts, wanted) or not facts.phase:
            return True
        to_be_asked = key not in self._notified and _is_to_be_asked_about(group, facts)
        if not wanted.type and (group.enqueued or to_be_asked):
            # It has its reservation, and that it was released is said once its pods are. Or its
            # reason is an earlier leader's, and Volcano asks about it in its next session.
            return True
        if facts.quota_condition == NO_QUOTA_CONDITION and not due:
            # Volcano's session will say something about it in a moment: both at once would be
            # refused to one.
            self.conditions.in_a_moment(key)
            return True
        try:
            patch = self._patch(group, facts, wanted)
            answer = await self._writer.patch(group_path(facts), patch, content_type=JSON_PATCH)
            self._written[key] = int(decode_stored(answer).metadata.resource_version)
        except ApiError as error:
            if error.moved or error.failed_test:
                return True  # its event is on the way
            _LOG.warning("condition of pod group %s: %s", logged(key), error)
            return False
        except (OutcomeUnknown, TooLateError, msgspec.MsgspecError, ValueError) as error:
            _LOG.warning("condition of pod group %s: %s", logged(key), error)
            return False
        return True

    def _is_stale(self, facts: GroupFacts, wanted: WantedCondition) -> bool:
        """Whether it has another reason by now."""
        stored = facts.quota_condition.stored
        if wanted.type != v.GroupCondition.UNSCHEDULABLE:
            self.conditions.forget(facts.key)
            if not stored.type:
                return False
        return not wanted.is_kind_of(stored)

    def _patch(
        self, group: PodGroupState, facts: GroupFacts, wanted: WantedCondition
    ) -> list[dict[str, Any]]:
        """Tests that the group is this one, and that its condition stands where it was seen."""
        place, first = facts.quota_condition.place, facts.quota_condition.first
        tests: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": facts.uid}]
        where = f"{_CONDITIONS}/{place}"
        if place >= 0:
            kind = {"op": "test", "path": f"{where}/type", "value": QUOTA_CONDITION}
            tests.append(kind)
        if not wanted.type:
            return [*tests, {"op": "remove", "path": where}]
        waits = wanted.type == v.GroupCondition.UNSCHEDULABLE
        body = {
            **self.conditions.body(group, wanted)[0],
            "type": QUOTA_CONDITION,
            "status": str(waits),
        }
        if place >= 0:
            return [*tests, {"op": "replace", "path": where, "value": body}]
        if not first:
            none = {"op": "test", "path": _CONDITIONS, "value": None}
            return [*tests, none, {"op": "add", "path": _CONDITIONS, "value": [body]}]
        # In front of the others, which Volcano keeps where they are. No test can say that none of
        # ours is in the list: a write that was not answered, or one of another leader, may have
        # added one that we have not seen. It would be the first.
        other = {"op": "test", "path": f"{_FIRST}/type", "value": first}
        return [*tests, other, {"op": "add", "path": _FIRST, "value": body}]


def _is_to_be_asked_about(group: PodGroupState, facts: GroupFacts) -> bool:
    """Whether Volcano has not enqueued it and has not asked about it in this term, and it does not
    wait for anything here so far.
    """
    pending = facts.phase == v.GroupPhase.PENDING
    return pending and not (group.voted_on or group.waits or group.stage is not Stage.WAITING)


def group_path(facts: GroupFacts) -> str:
    """Of the object, at the API server."""
    return f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{facts.namespace}/podgroups/{facts.name}"


def phase_of(
    group: PodGroupState, *, reserved: bool, to_come: bool = False, enforced: bool = True
) -> v.GroupPhase:
    """The phase that people see. `reserved`: whether its reservation continues. `to_come`:
    whether its pods are still to come and nothing needs to be reserved for that (E1). `enforced`:
    whether a part of its minimum was bound only after all of it was released.

    It follows from what exists and from the stored phase alone, so every leader finds the same.
    """
    done, least = len(group.succeeded), max(1, group.minimum)
    stored = group.facts.phase if group.facts is not None else ""
    if stored == v.GroupPhase.COMPLETED and not group.members and not reserved:
        return v.GroupPhase.COMPLETED  # its pods may have been cleaned up
    if group.bound + done >= least:
        return v.GroupPhase.RUNNING if group.members else v.GroupPhase.COMPLETED
    has_quota = reserved or group.released >= least
    ran = stored in (v.GroupPhase.RUNNING, v.GroupPhase.UNKNOWN)
    in_part = enforced and stored == v.GroupPhase.INQUEUE and not has_quota
    if group.bound and (ran or in_part):
        return v.GroupPhase.UNKNOWN
    return v.GroupPhase.INQUEUE if has_quota or to_come else v.GroupPhase.PENDING
