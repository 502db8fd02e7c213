"""The condition of a pod group: why it waits and at which place, or that it was let through.

A group has at most one of our two conditions, and it is True: `Unschedulable` while it waits, with
the reason and the sentence of its event, and `Scheduled` from when its minimum is let through. As
many groups may wait as there are, and whenever one of them goes the place of all others changes. So
a condition is written when its reason changes; where only its numbers have changed, a few groups in
a second are written again, one after the other. Who holds what a group lacks comes last; it is told
as it is whenever a condition is written, and none is written for it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from ....cluster.events.event import MESSAGE_BYTES, cut
from ....quota import vocabulary as v
from ....quota.advice import NO_ADVICE, Advice, advice_of
from ....quota.decisions.holders import lacked, with_holders_of
from ....quota.ledger.groups.group_condition import (
    FOREIGN,
    NO_CONDITION,
    StoredCondition,
    digest_of,
)
from ....quota.ledger.groups.group_facts import GroupFacts
from ....quota.ledger.groups.pod_group_state import PodGroupState
from ....quota.ledger.ledger_reader import LedgerReader
from ....quota.limits import GROUP_MESSAGE_TEXT
from ....quota.messages import order_messages
from ....quota.messages.groups import gang_messages
from ....quota.pending.candidate import Candidate
from ....quota.pods.pod_record import PodRecord
from ....quota.release.release_judge import ReleaseJudge, Wait
from ...later import Later, Timer, in_loop_later

LOOKED_AT: Final = 16
"""Groups that are looked at, at most, to find one whose numbers have changed."""
FIRST_ALONE: Final = 2.0
"""Seconds for which the first condition of a group waits for another one's: both written at once
would be refused to one."""
_MEMBERS_LOOKED_AT: Final = 256
"""Members, at most, to find one that waits."""
MOST_JUDGED: Final = 1_000
"""Members that start together, up to which a sentence is worked out anew because of numbers."""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class GroupWait(NamedTuple):
    """Why a group waits, as its event said."""

    uid: str
    """The group's."""
    queue: str
    reason: str
    text: str
    pod: str
    """If it is no gang: the uid of its member that waits."""
    advice: Advice
    """What the sentence advises."""
    asked: Hashable
    """Another one for every other request of the group."""
    lacks: tuple[str, ...] = ()
    """The dimensions of which it is told who holds them."""


class WantedCondition(NamedTuple):
    """The only condition that a group should have. Without a type: none."""

    type: str = ""
    reason: str = ""
    message: str | None = ""
    """None: that of a group which waits, with its place. It is worked out when it is written."""

    def is_kind_of(self, stored: StoredCondition) -> bool:
        """Whether the stored one differs in numbers at most."""
        return (self.type, self.reason) == (stored.type, stored.reason)

    def is_as(self, stored: StoredCondition) -> bool:
        """Whether nothing differs, the place apart."""
        if not self.is_kind_of(stored):
            return False
        return not self.type or self.message is None or digest_of(self.message) == stored.digest

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

    Guarantees: memory is bounded by the groups that wait, about a KiB for each. What is due at one
    time because of numbers alone is one group.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        *,
        term: str,
        per_second: float,
        now: Callable[[], str] = _now,
        later: Later = in_loop_later,
        stored: Callable[[GroupFacts], StoredCondition] = lambda facts: facts.condition,
    ) -> None:
        """`per_second`: groups that are written because of numbers alone, at most; 0: none.
        `stored`: which condition of a group is ours. `now`: the time of day, RFC 3339. `later`
        calls a function after a number of seconds.
        """
        self._ledger = ledger
        self._term = term
        self._per_second = per_second
        self._now = now
        self._later = later
        self._stored = stored
        self._look_again: Callable[[str], None] = lambda _: None
        self._waits: dict[str, GroupWait] = {}
        """By key of the group."""
        self._turns: OrderedDict[str, None] = OrderedDict()
        """Groups of which numbers may have changed; the next is first."""
        self._differing: set[str] = set()
        """Those of them that are known to differ in more than their place."""
        self._due: set[str] = set()
        """Groups to be written although only numbers differ."""
        self._timer: Timer | None = None
        self._firsts: dict[str, Timer] = {}
        """By key: when a group without any condition gets its first."""
        self._stopped = False

    def listen(self, look_again: Callable[[str], None]) -> None:
        """`look_again` has a group brought up to date. Called with its key."""
        self._look_again = look_again

    def stop(self) -> None:
        """The term is over: nothing is due any more."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for timer in self._firsts.values():
            timer.cancel()
        self._firsts.clear()
        self._waits.clear()
        self._turns.clear()
        self._differing.clear()
        self._due.clear()

    # --- what is told -------------------------------------------------------------------------

    def has(
        self, group: PodGroupState, reason: str, queue: str, advice: Advice | None = None
    ) -> bool:
        """Whether it is known that the group waits for this reason; with an advice, also that it
        gets no other, and has not asked for anything else since.
        """
        wait, account = self._waits.get(group.key), self._ledger.account(queue)
        return (
            wait is not None
            and group.facts is not None
            and (wait.uid, wait.reason, wait.queue) == (group.facts.uid, reason, queue)
            and (
                advice is None
                or not advice.outdates(wait.advice, account.limit if account is not None else None)
            )
            and (advice is None or wait.asked == _asked(group.facts))
        )

    def waits(
        self,
        group: PodGroupState,
        reason: str,
        text: str,
        queue: str = "",
        pod: str = "",
        advice: Advice = NO_ADVICE,
        lacks: tuple[str, ...] = (),
    ) -> str:
        """The group waits, for a reason or with an advice that is news. Returns the sentence with
        its place, and with who holds what it lacks.

        `queue`: where it waits, if that is not the one that the group names. `pod`: of a group that
        is no gang, the uid of the member that waits. `lacks`: the dimensions of which it is told
        who holds them.
        """
        facts = group.facts
        if facts is None or self._stopped:
            return text
        queue, asked = queue or facts.queue, _asked(facts)
        wait = GroupWait(facts.uid, queue, reason, cut(text), pod, advice, asked, lacks)
        self._waits[group.key] = wait
        self._take_turns(group.key)
        stored = self._stored(facts)
        if (stored.type, stored.reason) != (v.GroupCondition.UNSCHEDULABLE, reason):
            self._look_again(group.key)
        return self._whole_message(group, wait)

    def wait_of(self, group: PodGroupState) -> GroupWait | None:
        """Why a group waits, with the numbers and the place of now, as its condition will say. None
        if it does not wait, or this term has not told it yet.
        """
        facts, wait = group.facts, self._waits.get(group.key)
        if facts is None or wait is None or wait.uid != facts.uid or not group.waits:
            return None
        wait = self._waits[group.key] = self._judged_again(group, wait)
        return wait._replace(text=self._whole_message(group, wait))

    def asks_its_queue(self, group: PodGroupState) -> GroupWait | None:
        """Why a group waits, if only a look at its queue gives the words of now: it waits behind
        others, or for another reason than it was told. Of one that is no gang, with a member that
        waits now.
        """
        facts, wait = group.facts, self._waits.get(group.key)
        if facts is None or wait is None or wait.uid != facts.uid or not group.waits:
            return None
        wait = self._with_member(group, wait)
        candidate = self._candidate(group, wait)
        if candidate is None or not _waits_otherwise(candidate, wait):
            return None
        return wait

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
            known = wait is not None and wait.reason == v.RESERVATION_EXPIRED
            lost = WantedCondition(v.GroupCondition.UNSCHEDULABLE, v.RESERVATION_EXPIRED, None)
            return lost if known else None
        if _is_let_through(group, phase, reserved=reserved):
            text = gang_messages.group_let_through(facts.queue)
            return WantedCondition(v.GroupCondition.SCHEDULED, v.RELEASED, text)
        if group.waits:
            if wait is not None and wait.uid == facts.uid:
                return WantedCondition(v.GroupCondition.UNSCHEDULABLE, wait.reason, None)
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
        wait, message = self._waits.get(group.key), wanted.message
        if message is None:
            message = self._whole_message(group, wait) if wait is not None else ""
        since = stored.since if stored.type == wanted.type and stored.since else self._now()
        return [
            {
                "type": wanted.type,
                "status": "True",
                "transitionID": self._term,
                "lastTransitionTime": since,
                "reason": wanted.reason,
                "message": message,
            }
        ]

    def differs(self, key: str) -> None:
        """Only numbers of the group differ from what is stored: have it written at its turn."""
        if self._per_second and not self._stopped:
            self._differing.add(key)
            self._take_turns(key)

    def is_first(self, key: str) -> None:
        """The group has no condition of anybody: it is written in a moment, if that is so still."""
        if key not in self._firsts and not self._stopped:
            self._firsts[key] = self._later(FIRST_ALONE, partial(self._is_alone, key))

    def forget(self, key: str) -> None:
        """The group waits no longer."""
        self._waits.pop(key, None)

    def drop(self, key: str) -> None:
        """The group is gone."""
        self._waits.pop(key, None)
        self._turns.pop(key, None)
        self._differing.discard(key)
        timer = self._firsts.pop(key, None)
        if timer is not None:
            timer.cancel()

    def is_written(self, key: str) -> None:
        """Nothing of the group differs from what is stored, its place apart."""
        self._differing.discard(key)
        if key not in self._waits:
            self._turns.pop(key, None)

    def take_due(self, key: str) -> bool:
        """Whether it is this group's turn to be written although only numbers differ. Ends it."""
        due = key in self._due
        self._due.discard(key)
        return due

    def _is_alone(self, key: str) -> None:
        del self._firsts[key]
        group = self._ledger.groups.get(key)
        if group is not None and group.facts is not None and not self._stored(group.facts).type:
            self._due.add(key)
            self._look_again(key)

    # --- turns --------------------------------------------------------------------------------

    def _take_turns(self, key: str) -> None:
        if self._per_second and not self._stopped:
            self._turns.setdefault(key)
            if self._timer is None:
                self._timer = self._later(1 / self._per_second, self._next_turn)

    def _next_turn(self) -> None:
        """Find the next group whose numbers have changed, among a few, and have it written. The
        sentence of the first of these is worked out anew, too.
        """
        self._timer = None
        for number, key in enumerate(list(islice(self._turns, LOOKED_AT))):
            if self._differs(key, judge=not number):
                self._due.add(key)
                self._look_again(key)
                break
        if self._turns:
            self._timer = self._later(1 / self._per_second, self._next_turn)

    def _differs(self, key: str, *, judge: bool) -> bool:
        """Whether a group is to be written. It gets another turn only while it waits."""
        group, wait = self._ledger.groups.get(key), self._waits.get(key)
        facts = group.facts if group is not None else None
        self._turns.move_to_end(key)
        if key in self._differing:
            self._differing.discard(key)
            return True
        if group is None or facts is None or wait is None or wait.uid != facts.uid:
            del self._turns[key]
            return False
        if not group.waits:
            return False
        if judge:
            # Who tells of other advice has still to see that it is news.
            judged = self._judged_again(group, wait)
            judged = judged._replace(advice=wait.advice, asked=wait.asked)
            wait = self._waits[key] = judged
        return digest_of(self._message(group, wait)) != self._stored(facts).digest

    def _judged_again(self, group: PodGroupState, wait: GroupWait) -> GroupWait:
        """With the numbers of now. What it waits for may have changed too: then what is told of it
        is on the way.
        """
        wait = self._with_member(group, wait)
        candidate = self._candidate(group, wait)
        account = self._ledger.account(wait.queue)
        if group.facts is None or candidate is None or account is None:
            return wait
        if group.gang and group.minimum > MOST_JUDGED:
            return wait
        if _waits_otherwise(candidate, wait):
            return wait
        found = ReleaseJudge(self._ledger, account).judge(candidate)
        if not isinstance(found, Wait) or found.verdict.reason != wait.reason:
            return wait
        text, advice = cut(found.verdict.text), advice_of(found.verdict)
        asked, lacks = _asked(group.facts), lacked(found.verdict)
        return wait._replace(text=text, advice=advice, asked=asked, lacks=lacks)

    def _with_member(self, group: PodGroupState, wait: GroupWait) -> GroupWait:
        """With another member that waits, where the one that was told does not any more. The same
        if none is found, or it is a gang.
        """
        if not wait.pod or self._waits_here(group.members.get(wait.pod), wait):
            return wait
        members = islice(group.members.items(), _MEMBERS_LOOKED_AT)
        found = (uid for uid, record in members if self._waits_here(record, wait))
        return wait._replace(pod=next(found, wait.pod))

    @staticmethod
    def _waits_here(record: PodRecord | None, wait: GroupWait) -> bool:
        return record is not None and record.class_key is not None and record.queue == wait.queue

    def _whole_message(self, group: PodGroupState, wait: GroupWait) -> str:
        """With who holds what it lacks, as far as there are bytes for it."""
        text = self._message(group, wait)
        if text == wait.text:
            return text  # no place tells where who holds what begins
        most = min(GROUP_MESSAGE_TEXT.most, MESSAGE_BYTES)
        return with_holders_of(self._ledger, group.key, wait.queue, text, wait.lacks, most=most)

    def _message(self, group: PodGroupState, wait: GroupWait) -> str:
        """The sentence, with its place if it has one."""
        candidate = self._candidate(group, wait)
        account = self._ledger.account(wait.queue)
        if candidate is None or account is None:
            return wait.text
        number, of = account.pending.place_of(candidate)
        place = "; " + order_messages.waits_in_order(wait.queue, number, of)
        return cut(wait.text, GROUP_MESSAGE_TEXT.most - len(place.encode())) + place

    def _candidate(self, group: PodGroupState, wait: GroupWait) -> Candidate | None:
        account = self._ledger.account(wait.queue)
        if account is None:
            return None
        if group.asks is not None or group.gang:
            return account.pending.candidate_of(group)
        record = self._ledger.pods.get(wait.pod)
        pod_class = account.pending.classes.get(record.class_key) if record is not None else None
        return pod_class.candidate if pod_class is not None else None


def _asked(facts: GroupFacts) -> Hashable:
    """What a group asks for, as far as its sentence says it."""
    return facts.min_member, facts.request


def _waits_otherwise(candidate: Candidate, wait: GroupWait) -> bool:
    """Whether it waits behind others, or for another reason than it was told."""
    inadmissible = candidate.inadmissible
    if wait.reason == v.Reason.BEHIND or candidate.classes[0].reason != wait.reason:
        return True
    return inadmissible is not None and inadmissible.shortage.reason != wait.reason


def _is_let_through(group: PodGroupState, phase: v.GroupPhase, *, reserved: bool) -> bool:
    if phase in (v.GroupPhase.RUNNING, v.GroupPhase.COMPLETED):
        return True
    starts = reserved and not group.to_be_replaced and not group.reserved_elsewhere
    return starts or group.let_through >= max(1, group.minimum)
