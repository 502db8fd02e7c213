"""V3: beside Volcano one condition of a group is ours, and nothing else of its status."""

from typing import Any

import pytest

from builders import H200, a_group, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.cluster.api import JSON_PATCH
from cardquota.control.release import MOMENT, GroupConditions, QuotaConditions
from cardquota.loop import Later, in_loop_later
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import QUOTA_CONDITION

from ...fakes import TERM, Answer, Script, a_world, a_writer, denied, lost, refused, stored
from .test_reservation_timeouts import Timers

pytestmark = pytest.mark.fake_clock

KEY = "team/gang"
NOW, EARLIER = "2026-05-01T12:00:00Z", "2026-05-01T11:00:00Z"
GANG = a_group().in_queue("queue").of(2).in_phase("Pending")
UID = {"op": "test", "path": "/metadata/uid", "value": GANG.uid}
THEIRS = {"type": "Unschedulable", "status": "True", "reason": "NotEnoughTasks"}
CLOSED = {"type": QUOTA_CONDITION, "status": "True", "reason": "QueueNotOpen", "message": "closed"}


def with_conditions(*conditions: dict[str, Any]) -> GroupBody:
    return GANG.put([dict(one) for one in conditions], "status", "conditions")


def runs(name: str) -> PodBody:
    pod = a_pod(name).in_queue("queue").in_group("gang").naming(H200).asking_for(1)
    return pod.stamped("queue", {H200: 1}).on_node("h200-a")


def waits(name: str) -> PodBody:
    return a_pod(name).in_queue("queue").in_group("gang").naming(H200).asking_for(1).gated()


class ConditionTerm:
    """One term over a group and its pods."""

    def __init__(
        self,
        group: GroupBody,
        *pods: PodBody,
        answers: tuple[Answer, ...] = (),
        later: Later = in_loop_later,
    ) -> None:
        self.ledger: Ledger = a_world(a_queue().with_quota({H200: 3}), group, *pods)
        self.script = Script(*answers)
        self.conditions = GroupConditions(
            self.ledger,
            term=TERM,
            later=later,
            now=lambda: NOW,
            stored=lambda facts: facts.quota_condition.stored,
        )
        writer = a_writer(self.script, lambda: 60.0)
        self.writes = QuotaConditions(self.ledger, writer, self.conditions)

    def told(self, reason: str = v.Reason.INSUFFICIENT_CARD, text: str = "no room") -> None:
        self.conditions.waits(self.ledger.groups[KEY], reason, text)

    async def update(self) -> list[Any]:
        """What was sent."""
        before = len(self.script.patches)
        assert await self.writes.update(KEY)
        return [call.body for call in self.script.patches[before:]]


def ours(status: str, reason: str, message: str, since: str = NOW) -> dict[str, Any]:
    about = {"type": QUOTA_CONDITION, "status": status, "transitionID": TERM}
    return {**about, "lastTransitionTime": since, "reason": reason, "message": message}


FIRST = {"op": "test", "path": "/status/conditions/0/type", "value": "Unschedulable"}


async def test_why_it_waits_is_put_before_what_volcano_says() -> None:
    term = ConditionTerm(with_conditions(THEIRS), waits("a"), waits("b"))
    term.told()
    ((uid, first, change),) = await term.update()
    assert uid == UID
    assert first == FIRST
    assert (change["op"], change["path"]) == ("add", "/status/conditions/0")
    assert change["value"]["message"].startswith("no room")
    assert {**change["value"], "message": ""} == ours("True", "InsufficientCardQuota", "")
    call = term.script.patches[0]
    assert call.content_type == JSON_PATCH
    assert call.path.endswith("/namespaces/team/podgroups/gang")


async def test_where_there_is_no_list_one_is_made_if_there_is_none_still() -> None:
    timers = Timers()
    term = ConditionTerm(GANG, waits("a"), waits("b"), later=timers.later)
    term.told()
    # Volcano will say something soon, and for a moment that is waited for.
    assert await term.update() == []
    assert await term.update() == []
    assert timers.seconds == [MOMENT]
    timers.calls[0]()
    ((_, none, change),) = await term.update()
    assert none == {"op": "test", "path": "/status/conditions", "value": None}
    assert (change["op"], change["path"]) == ("add", "/status/conditions")
    assert [one["type"] for one in change["value"]] == [QUOTA_CONDITION]


async def test_where_volcano_said_something_meanwhile_nothing_is_written_twice() -> None:
    timers = Timers()
    term = ConditionTerm(GANG, waits("a"), waits("b"), later=timers.later)
    term.told()
    assert await term.update() == []
    see(term.ledger, with_conditions(THEIRS).at_revision(10_000))
    ((_, _, change),) = await term.update()
    see(term.ledger, with_conditions(change["value"], THEIRS).at_revision(20_000))
    timers.calls[0]()
    assert await term.update() == []
    term.conditions.in_a_moment(KEY)
    term.conditions.drop(KEY)
    term.conditions.in_a_moment(KEY)
    term.conditions.stop()
    assert timers.cancelled == 2


async def test_before_volcano_has_looked_at_it_there_is_no_status_to_write_to() -> None:
    term = ConditionTerm(a_group().in_queue("queue").of(2), waits("a"), waits("b"))
    term.told()
    assert await term.update() == []


async def test_another_reason_takes_its_place() -> None:
    term = ConditionTerm(with_conditions(THEIRS, CLOSED), waits("a"), waits("b"))
    term.told()
    ((_, kind, change),) = await term.update()
    assert kind == {"op": "test", "path": "/status/conditions/1/type", "value": QUOTA_CONDITION}
    assert (change["op"], change["path"]) == ("replace", "/status/conditions/1")
    assert change["value"]["reason"] == "InsufficientCardQuota"


async def test_that_it_was_released_is_said_if_it_has_waited() -> None:
    term = ConditionTerm(with_conditions(CLOSED), runs("a"), runs("b"))
    ((_, _, change),) = await term.update()
    assert (change["value"]["status"], change["value"]["reason"]) == ("False", v.RELEASED)
    see(term.ledger, with_conditions(change["value"]).at_revision(10_000))
    assert await term.update() == []


async def test_what_is_no_longer_true_is_taken_away() -> None:
    term = ConditionTerm(with_conditions(THEIRS, CLOSED).in_phase("Inqueue"))
    ((_, kind, change),) = await term.update()
    assert kind["path"] == "/status/conditions/1/type"
    assert change == {"op": "remove", "path": "/status/conditions/1"}


async def test_what_an_earlier_leader_said_stays_until_volcano_asks_again() -> None:
    """Else all reasons would be gone after each change of leader, while nobody asks."""
    told = {**CLOSED, "reason": "InsufficientCardQuota", "lastTransitionTime": EARLIER}
    term = ConditionTerm(with_conditions(told, THEIRS).asking({H200: 4}))
    assert await term.update() == []
    term.ledger.decisions.reject(KEY, rejected=True)
    term.told()
    assert await term.update() == []  # for the same reason, so its numbers have their turn
    term.told(v.Reason.QUEUE_NOT_OPEN, "closed")
    ((_, _, change),) = await term.update()
    assert (change["op"], change["value"]["lastTransitionTime"]) == ("replace", EARLIER)
    # Volcano asks, and is permitted: whatever else it waits for is not ours to say.
    term = ConditionTerm(with_conditions(told, THEIRS))
    assert await term.update() == []
    term.ledger.decisions.note_vote(KEY, voted_on=True)
    ((_, _, change),) = await term.update()
    assert change["op"] == "remove"


@pytest.mark.parametrize("found", [True, False], ids=["by a new leader, as it was", "as written"])
async def test_why_a_group_waited_whose_pods_are_gone_is_taken_away(*, found: bool) -> None:
    told = [{**CLOSED, "reason": "InsufficientCardQuota"}] if found else []
    term = ConditionTerm(with_conditions(*told, THEIRS), waits("a"), waits("b"))
    term.told()
    if found:
        assert await term.update() == []
    else:
        ((_, _, change),) = await term.update()
        see(term.ledger, with_conditions(change["value"], THEIRS).at_revision(10_000))
    for name in "ab":
        term.ledger.pod_gone(f"uid-{name}")
    ((_, _, change),) = await term.update()
    assert change["op"] == "remove"


async def test_nothing_is_written_again_before_the_last_write_is_seen() -> None:
    """A second condition of ours would be added behind the first."""
    term = ConditionTerm(with_conditions(THEIRS), waits("a"), waits("b"), answers=(stored(500),))
    term.told()
    assert len(await term.update()) == 1
    term.told(v.Reason.QUEUE_NOT_OPEN, "closed")
    assert await term.update() == []
    see(term.ledger, with_conditions(THEIRS, CLOSED).at_revision(500))
    term.told(v.Reason.INSUFFICIENT_CARD)
    assert len(await term.update()) == 1


async def test_one_is_added_only_in_front_of_what_was_seen_there() -> None:
    """A write that was not answered may have landed: then ours is the first."""
    term = ConditionTerm(with_conditions(THEIRS), waits("a"), waits("b"), answers=(lost(),))
    term.told()
    assert not await term.writes.update(KEY)
    assert await term.writes.update(KEY)
    first, second = (call.body for call in term.script.patches)
    assert FIRST in first
    assert FIRST in second


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        (refused(422), True),
        (refused(409), True),
        (refused(404), True),
        (refused(403), False),
        (denied(422), False),
        (denied(404), False),
        (lost(), False),
    ],
)
async def test_refused_it_is_tried_again_and_stale_it_is_not(answer: Answer, *, done: bool) -> None:
    term = ConditionTerm(with_conditions(THEIRS), waits("a"), waits("b"), answers=(answer,))
    term.told()
    assert await term.writes.update(KEY) is done


async def test_whose_reason_this_term_does_not_know_yet_keeps_what_stands_there() -> None:
    term = ConditionTerm(with_conditions(CLOSED), waits("a"), waits("b"))
    assert await term.update() == []


async def test_one_of_which_nothing_can_be_reserved_is_told_too() -> None:
    """Volcano asked about it, none of its pods is there, and no place is kept for it (V3)."""
    term = ConditionTerm(with_conditions(THEIRS))
    term.ledger.decisions.reject(KEY, rejected=True)
    term.told()
    ((_, _, change),) = await term.update()
    assert change["value"]["message"] == "no room"
    see(term.ledger, with_conditions(THEIRS, change["value"]).at_revision(10_000))
    assert await term.update() == []
    term.ledger.decisions.reject(KEY, rejected=False)
    ((_, _, change),) = await term.update()
    assert change["op"] == "remove", "this very leader has told it"


async def test_who_waited_keeps_his_condition_from_his_reservation_until_he_is_released() -> None:
    """Volcano makes his pods only then. Without it nobody would be told that he was released."""
    stored_group = with_conditions(CLOSED).asking({H200: 2}).enqueued("queue", {H200: 2}, TERM)
    term = ConditionTerm(stored_group)
    assert await term.update() == []
    see(term.ledger, waits("a"), waits("b"))
    assert await term.update() == []
    see(term.ledger, runs("a"), runs("b"))
    ((_, _, change),) = await term.update()
    assert (change["op"], change["value"]["status"]) == ("replace", "False")


def released(name: str) -> PodBody:
    return waits(name).ungated().stamped("queue", {H200: 1})


async def test_e8_who_holds_cards_and_does_not_run_is_told_for_as_long_as_it_lasts() -> None:
    term = ConditionTerm(with_conditions(THEIRS), released("a"), released("b"))
    term.ledger.decisions.lose_place(KEY)
    term.told(v.RESERVATION_EXPIRED, "no pod has a node")
    ((_, _, change),) = await term.update()
    told = change["value"]
    assert (told["status"], told["reason"]) == ("True", v.RESERVATION_EXPIRED)
    # A new leader does not know of it, and says nothing else.
    later = ConditionTerm(with_conditions(told, THEIRS), released("a"), released("b"))
    assert await later.update() == []
    see(later.ledger, runs("a"), runs("b"))
    ((_, _, change),) = await later.update()
    assert (change["value"]["status"], change["value"]["reason"]) == ("False", v.RELEASED)
