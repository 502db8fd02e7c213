"""L7: what is told of cards that can be taken back, for one that waits and from one that runs."""

from dataclasses import replace
from typing import Any

import pytest

from builders import H200, see
from builders.pod import PodBody
from cardquota.quota import Steps, to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.answers import (
    AskedWorkload,
    Explanation,
    ReclaimAnswer,
    ReclaimRules,
    explain,
)
from cardquota.quota.ledger import Ledger
from cardquota.quota.plan_record import PlanRecord, plan_text
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.quota.words import seconds_of
from cardquota.reclaim_settings import Reclaim

from ..reclaim.reclaiming import CaseWords, bound, cluster, pod, queue, unplaced

DELETED = "2026-01-02T00:00:00Z"
NOON = "2026-01-02T12:00:00Z"
WALL = seconds_of(NOON)
assert WALL is not None


def in_mode(mode: str) -> ReclaimRules:
    mode_in = Reclaim(mode=ReclaimMode(mode)).mode_in
    return ReclaimRules(mode_in, 60.0, 30.0, False, (), {}, 100.0, float(WALL or 0))


ON = in_mode("on")


def answer(
    ledger: Ledger,
    name: str,
    rules: ReclaimRules | None = ON,
    kind: str = "Pod",
    where: str = "team",
) -> ReclaimAnswer | None:
    found = to_its_end(explain(ledger, AskedWorkload(kind, where, name), NOON, rules=rules))
    assert found is not None
    return found.reclaim


def told(ledger: Ledger, name: str, rules: ReclaimRules = ON, **asked: Any) -> tuple[str, str]:
    found = answer(ledger, name, rules, **asked)
    assert found is not None
    return found.state, found.message


def borrowed(**more: Any) -> dict[str, Any]:
    """Queue a holds all four cards, of which it deserves two, and w of queue b waits for one."""
    return {
        "nodes": {"n1": 4},
        "queues": {"a": 4, "b": 4},
        "bound": {"x": "a 1 n1 times=4"},
        "unplaced": {"w": "b 1"},
        **more,
    }


def with_plan(
    body: PodBody, *victims: str, gave_up: int = 0, term: str = "t", way: str = "reclaim"
) -> PodBody:
    plan = PlanRecord(term, (WALL or 0) - 100, way, H200, victims, gave_up)
    return body.annotated(v.RECLAIM_PLAN, plan_text(plan)).managed()


# --- one that waits for a node --------------------------------------------------------------------


def test_l7_what_could_be_taken_back() -> None:
    found = answer(cluster(borrowed()), "w")
    assert found is not None
    assert (found.state, found.way, found.card) == ("Possible", "reclaim", H200)
    assert [(one.queue, one.pods) for one in found.queues] == [("a", 1)]
    assert [(one.name, one.amount) for one in found.queues[0].cards] == [(H200, 1)]
    assert found.message == (
        f"<1> of <{H200}> could be taken back from Queue <a>, where 1 pod would end for it, "
        "within <60> s, unless a PodDisruptionBudget or a limit of evictions delays it"
    )


@pytest.mark.parametrize(("seen", "within"), [(100.0, 60), (80.5, 41), (40.0, 0), (0.0, 0)])
def test_l7_when_is_told_by_when_the_pod_was_first_seen_without_a_node(
    seen: float, within: int
) -> None:
    found = answer(cluster(borrowed()), "w", replace(ON, since={"uid-w": seen}))
    assert found is not None
    assert found.within_seconds == within
    assert ("within some seconds" in found.message) is (within == 0)


def test_l7_nothing_is_told_where_reclaim_is_off() -> None:
    ledger = cluster(borrowed())
    assert answer(ledger, "w", None) is None
    assert answer(ledger, "x-0", None) is None


def test_l7_of_a_dry_run_it_is_told_that_nothing_ends() -> None:
    state, text = told(cluster(borrowed()), "w", in_mode("dryRun"))
    assert state == "DryRun"
    assert text == (
        f"<1> of <{H200}> could be taken back from Queue <a>, where 1 pod would end for it, but "
        "reclaim is dryRun here, so none does; ask your administrator to turn it on"
    )


def test_l7_a_queue_may_say_less_than_the_installation() -> None:
    ledger = cluster(borrowed())
    see(ledger, queue("b", 4).annotated(v.QUEUE_RECLAIM, "dryRun"))
    assert told(ledger, "w")[0] == "DryRun"
    see(ledger, queue("b", 4).annotated(v.QUEUE_RECLAIM, "off"))
    assert told(ledger, "w") == (
        "Off",
        (
            "nothing is ended for it: Queue <b> has volcano.sh/card.reclaim: off; ask the queue's "
            "owner to remove that"
        ),
    )


def test_l7_whose_pods_end_for_a_gang() -> None:
    case = borrowed(
        groups={"g": "b 2"},
        queues={"a": 6, "b": 6, "c": 6},
        nodes={"n1": 6},
        bound={"x": "a 1 n1 times=3", "y": "c 1 n1 times=3"},
        unplaced={"w1": "b 1 group=g", "w2": "b 1 group=g"},
    )
    found = answer(cluster(case), "g", kind="PodGroup")
    assert found is not None
    assert (found.state, [one.queue for one in found.queues]) == ("Possible", ["a", "c"])
    assert "<2> of" in found.message
    assert "Queues <a, c>, where 2 pods would end" in found.message


def test_l7_a_pod_for_which_no_node_was_looked_for_yet_is_told_nothing() -> None:
    ledger = cluster(borrowed(unplaced={}))
    see(ledger, pod("w", CaseWords.of("b 1")).stamped("b", {H200: 1}))
    assert answer(ledger, "w") is None


NEVER = "nothing is ended for it: "
WHY_NOT = {
    "NeverPreempts": (
        borrowed(unplaced={"w": "b 1 policy=Never"}),
        (
            "it has preemptionPolicy: Never, or a pod of its group has; use a priority class "
            "without that"
        ),
    ),
    "NotOwed": (
        borrowed(bound={"x": "a 1 n1 times=2", "y": "b 1 n1 times=2"}),
        (
            f"Queue <b> holds <2> of <{H200}>, and with <1> more it would hold more than the <2> "
            "that it deserves; wait, or ask for more deserved cards"
        ),
    ),
    "NobodyAbove": (
        borrowed(
            nodes={"n1": 2, "n2": 2},
            queues={"a": 2, "b": 2},
            bound={"x": "a 1 n1", "y": "a 1 n2"},
            unplaced={"w": "b 2"},
        ),
        f"no other queue holds more of <{H200}> than it deserves; wait until pods end",
    ),
    "Protected": (
        borrowed(queues={"a": "4 reclaimable=false", "b": 4}),
        (
            "pods of Queue <a> that could make room may not end, as they are not preemptable, "
            "their queue is not reclaimable, they came past admission or no quota is enforced in "
            "their namespace; wait, or ask their owners"
        ),
    ),
    "NoRoomOnNodes": (
        borrowed(bound={"x": "a 3 n1", "y": "a 1 n1 preemptable=false"}, unplaced={"w": "b 2"}),
        (
            f"by the end of those that may, it would not have enough of <{H200}> on nodes that it "
            "may use; see its node selector, its tolerations and how much it asks for on one node"
        ),
    ),
    "LittleAbove": (
        borrowed(
            nodes={"n1": 8},
            queues={"a": "8 owed=5", "b": "8 owed=4"},
            bound={"x": "a 1 n1 times=8"},
            unplaced={"w": "b 4"},
        ),
        (
            f"other queues hold only <3> of <{H200}> more than they deserve, and with that its <4> "
            "would not fit; wait until pods end"
        ),
    ),
    "TooMany": (
        borrowed(
            nodes={"n1": 202},
            queues={"a": 202, "b": 202},
            bound={"x": "a 1 n1 times=202"},
            unplaced={"w": "b 101"},
        ),
        "more than <100> pods would have to end; wait, or ask for less at once",
    ),
    "RoomOnNodes": (
        borrowed(bound={}),
        (
            f"nodes that it may use have enough of <{H200}> free, or others of its queue come "
            "first; the scheduler's event FailedScheduling says what else it lacks"
        ),
    ),
}


@pytest.mark.parametrize("state", WHY_NOT)
def test_l7_why_nothing_is_ended_for_it(state: str) -> None:
    case, text = WHY_NOT[state]
    assert told(cluster(case), "w") == (state, NEVER + text)


def test_l7_what_leaves_already_is_waited_for() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 times=3", "y": "a 1 n1 leaving=yes"}))
    leaving = replace(ON, wall=float(seconds_of(DELETED) or 0))
    assert told(ledger, "w", leaving) == (
        "Leaving",
        (
            f"nothing more is ended for it: pods that are being deleted leave enough of <{H200}>; "
            "wait until they are gone"
        ),
    )
    assert told(ledger, "w", replace(leaving, wall=leaving.wall + 100))[0] == "Possible"


def test_l7_evictions_that_were_refused() -> None:
    refused = replace(ON, refused=[f"uid-x-{number}" for number in range(4)])
    assert told(cluster(borrowed()), "w", refused) == (
        "DisruptionBudget",
        (
            "nothing is ended for it: a PodDisruptionBudget keeps pods of Queue <a> that could "
            "make room; wait, or ask their owners for a wider budget"
        ),
    )


def test_l7_pods_that_came_past_admission_make_room_where_they_may() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 times=4 past=yes"}))
    assert told(ledger, "w")[0] == "Protected"
    assert told(ledger, "w", replace(ON, past_admission=True))[0] == "Possible"


def test_l7_where_no_quota_is_enforced_nothing_is_told() -> None:
    ledger = cluster(borrowed(unplaced={"w": "b 1 namespace=audited"}))
    assert answer(ledger, "w", where="audited") is None


@pytest.mark.parametrize("name", ["w", "x-0", "u"])
@pytest.mark.parametrize("alone", [True, False])
def test_l7_between_any_two_steps_it_may_go_or_all(name: str, alone: bool) -> None:
    def the_cluster() -> Ledger:
        return cluster(borrowed(gated={"u": "a 1 priority=5"}))

    def steps_of(ledger: Ledger) -> Steps[Explanation | None]:
        return explain(ledger, AskedWorkload("Pod", "team", name), NOON, rules=ON)

    for number in range(sum(1 for _ in steps_of(the_cluster()))):
        ledger = the_cluster()
        steps = steps_of(ledger)
        for _ in range(number + 1):
            next(steps)
        for uid in [f"uid-{name}"] if alone else list(ledger.pods):
            ledger.pod_gone(uid)
        if not alone:
            ledger.queue_gone("a")
            ledger.queue_gone("b")
        found = to_its_end(steps)
        assert found is None or found.reclaim is None


# --- what is under way ----------------------------------------------------------------------------


def test_l7_a_plan_that_is_under_way() -> None:
    ledger = cluster(borrowed())
    see(ledger, with_plan(unplaced("w", "b 1"), "uid-x-0", "uid-x-1", "uid-gone"))
    assert told(ledger, "w") == (
        "UnderWay",
        (
            f"room of <{H200}> is made for it by ending 3 pods, since 2026-01-02T11:58:20Z, and "
            "nobody else gets that card meanwhile: still there: <2> (<x-0>, <x-1>); wait"
        ),
    )


def test_l7_pods_of_other_namespaces_that_end_are_numbers() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 times=4 namespace=secret"}))
    see(ledger, with_plan(unplaced("w", "b 1"), "uid-x-0"))
    text = told(ledger, "w")[1]
    assert "meanwhile: still there: <1>; wait" in text
    assert "secret" not in text


def test_l7_all_that_end_are_gone() -> None:
    ledger = cluster(borrowed())
    see(ledger, with_plan(unplaced("w", "b 1"), "uid-gone"))
    assert "all are gone" in told(ledger, "w")[1]


def test_l7_a_plan_for_another_that_lacks_the_same_card() -> None:
    ledger = cluster(borrowed(unplaced={"w": "b 1"}))
    see(ledger, with_plan(unplaced("v", "b 1"), "uid-x-0"))
    assert told(ledger, "w") == (
        "Behind",
        (
            f"pods are being ended to make room of <{H200}> for other pods or groups, and its turn "
            "comes after them; wait a few minutes"
        ),
    )


@pytest.mark.parametrize(
    ("plans", "leaving", "state"),
    [(1, 1, "Possible"), (2, 2, "Possible"), (2, 1, "Behind"), (3, 3, "Behind")],
)
def test_l7_its_turn_comes_once_all_end_for_the_others_and_fewer_than_three_are_under_way(
    plans: int, leaving: int, state: str
) -> None:
    ledger = cluster(
        borrowed(nodes={"n1": 8}, queues={"a": 8, "b": 8}, bound={"x": "a 1 n1 times=8"})
    )
    for number in range(plans):
        see(ledger, with_plan(unplaced(f"v{number}", "b 1"), f"uid-x-{number}"))
    for number in range(leaving):
        see(ledger, bound(f"x-{number}", "a 1 n1").put(NOON, "metadata", "deletionTimestamp"))
    assert told(ledger, "w")[0] == state


@pytest.mark.parametrize("why", ["who ends for it does not go", "others have its room"])
def test_l7_while_one_before_it_would_need_others_its_turn_does_not_come(why: str) -> None:
    ledger = cluster(
        borrowed(nodes={"n1": 8}, queues={"a": 8, "b": 8}, bound={"x": "a 1 n1 times=8"})
    )
    late = why.startswith("who ends")
    see(ledger, with_plan(unplaced("v", "b 1"), "uid-x-0" if late else "uid-gone"))
    if late:
        see(ledger, bound("x-0", "a 1 n1").terminating())
    assert told(ledger, "w")[0] == "Behind"
    see(ledger, unplaced("v", "b 1").on_node("n1"))
    see(ledger, *([] if late else [bound("x-1", "a 1 n1").terminating()]))
    assert told(ledger, "w")[0] != "Behind"


def test_l7_a_pause_hides_nothing_that_never_is() -> None:
    ledger = cluster(borrowed(unplaced={"w": "b 3"}))
    for number in range(3):
        gave_up = (WALL or 0) - 10
        see(ledger, with_plan(unplaced(f"v{number}", "b 1"), "uid-gone", gave_up=gave_up))
    assert told(ledger, "w")[0] == "NotOwed"


@pytest.mark.parametrize(("ago", "state"), [(3_599, "GaveUp"), (3_600, "Possible")])
def test_l7_who_did_not_start_is_left_alone_for_an_hour(ago: int, state: str) -> None:
    ledger = cluster(borrowed())
    see(ledger, with_plan(unplaced("w", "b 1"), "uid-gone", gave_up=(WALL or 0) - ago))
    found = told(ledger, "w")
    assert found[0] == state
    if state == "GaveUp":
        assert found[1] == (
            f"it did not start in time in the room of <{H200}> that was to be made by ending "
            "1 pod, so nothing more is ended for it until 2026-01-02T12:00:01Z; see what else "
            "keeps it from its nodes, in the events of the scheduler"
        )


@pytest.mark.parametrize(
    ("ago", "state", "mode"),
    [
        ((60, 70, 80), "Paused", "on"),
        ((60, 80), "Possible", "on"),
        ((60, 70, 80), "DryRun", "dryRun"),
        ((60, 70, 3_600), "Possible", "on"),
        ((60, 70, 80, 3_599), "Paused", "on"),
    ],
)
def test_l7_where_several_others_did_not_start_it_is_told_until_when(
    ago: tuple[int, ...], state: str, mode: str
) -> None:
    ledger = cluster(borrowed(unplaced={"w": "b 1", "other": "b 1", "of-c": "c 1"}))
    see(ledger, with_plan(unplaced("of-c", "c 1"), "uid-gone", gave_up=(WALL or 0) - 10))
    for number, seconds in enumerate(ago):
        gave_up = (WALL or 0) - seconds
        see(ledger, with_plan(unplaced(f"v{number}", "b 1"), "uid-gone", gave_up=gave_up))
    found = told(ledger, "w", in_mode(mode))
    assert found[0] == state
    if state == "Paused":
        assert found[1] == (
            f"nothing is ended for Queue <b> and <{H200}> until 2026-01-02T12:58:40Z: at least <3> "
            "of its pods and groups that wait did not start in the room that was to be made for "
            "them; see what keeps them from their nodes, in the events of the scheduler"
        )


# --- one that waits for its queue's quota ---------------------------------------------------------


def above(**more: Any) -> dict[str, Any]:
    """Queue a holds its quota, and w of a higher priority waits at the gate."""
    return {
        "nodes": {"n1": 4},
        "queues": {"a": 2},
        "bound": {"x": "a 1 n1 times=2"},
        "gated": {"w": "a 1 priority=5"},
        **more,
    }


def test_l7_pods_of_lower_priority_could_end_in_its_own_queue() -> None:
    found = answer(cluster(above()), "w")
    assert found is not None
    assert (found.state, found.way, found.within_seconds) == ("Possible", "preempt", 0)
    assert [(one.queue, one.pods) for one in found.queues] == [("a", 1)]
    assert found.message == (
        f"<1> of <{H200}> could be taken from pods of lower priority in Queue <a>, where 1 pod "
        "would end for it, within some seconds, unless a PodDisruptionBudget or a limit of "
        "evictions delays it"
    )


def test_l7_when_is_told_by_when_the_pod_at_the_gate_was_created() -> None:
    ledger = cluster(above(gated={}))
    young = pod("w", CaseWords.of("a 1 priority=5")).created("2026-01-02T11:59:50Z").gated()
    see(ledger, young)
    found = answer(ledger, "w")
    assert found is not None
    assert found.within_seconds == 20


def test_l7_nobody_has_a_lower_priority() -> None:
    assert told(cluster(above(gated={"w": "a 1"})), "w") == (
        "NobodyAbove",
        (
            "nothing is ended for it: no pod in Queue <a> that holds these cards has a lower "
            "priority; wait, or use a higher priority class"
        ),
    )


def test_l7_a_gang_at_the_gate() -> None:
    case = above(groups={"g": "a 2"}, gated={"w1": "a 1 group=g priority=5", "w2": "a 1 group=g"})
    assert told(cluster(case), "g", kind="PodGroup")[0] == "NobodyAbove"
    case["gated"]["w2"] += " priority=3"
    found = answer(cluster(case), "g", kind="PodGroup")
    assert found is not None
    assert (found.state, [one.pods for one in found.queues]) == ("Possible", [2])


def test_l7_an_extra_member_of_a_gang_that_runs_waits_by_itself() -> None:
    members = dict.fromkeys(("g1", "g2"), "a 1 n1 group=g")
    case = above(groups={"g": "a 2"}, bound=members, gated={})
    ledger = cluster(case)
    extra = pod("w", CaseWords.of("a 1 group=g priority=5")).gated()
    see(ledger, with_plan(extra, "uid-g1"))
    assert told(ledger, "w")[0] == "UnderWay"


def test_l7_only_plans_of_its_own_queue_and_between_queues_are_in_the_way() -> None:
    bound = {"x": "a 1 n1 times=2", "y": "b 1 n1 times=2"}
    ledger = cluster(above(queues={"a": 2, "b": 2}, bound=bound))
    other = pod("v", CaseWords.of("b 1 priority=5")).gated()
    see(ledger, with_plan(other, "uid-y-0", way="preempt"))
    assert told(ledger, "w")[0] == "Possible"
    own = pod("u", CaseWords.of("a 1 priority=5")).gated()
    see(ledger, with_plan(own, "uid-x-0", way="preempt"))
    assert told(ledger, "w")[0] == "Behind"
    ledger.pod_gone(own.uid)
    see(ledger, with_plan(unplaced("z", "b 1"), "uid-x-0"))
    assert told(ledger, "w")[0] == "Behind"


def test_l7_who_lacks_cpu_too_is_told_nothing() -> None:
    case = above(queues={"a": "2 cpu=1"}, gated={"w": "a 1 priority=5 cpu=2"})
    assert answer(cluster(case), "w") is None


# --- one that has cards ---------------------------------------------------------------------------

PRIORITY = "; a pod of its own queue that lacks quota and has a priority above <0> may end it"


def test_l7_a_pod_that_may_be_ended_and_for_whom() -> None:
    assert told(cluster(borrowed()), "x-0") == (
        "MayEnd",
        "it may be ended for queues that deserve its cards, which wait for it now: Queue <b> "
        f"(<1>); Queue <a> holds <4> of <{H200}> and deserves <2>, so <2> of them are borrowed"
        + PRIORITY,
    )


def test_l7_nobody_waits_for_what_it_has() -> None:
    text = told(cluster(borrowed(unplaced={})), "x-0", in_mode("dryRun"))[1]
    assert "none of which waits for it now" in text
    assert text.endswith(PRIORITY + "; reclaim is dryRun, so nothing ends now")


def test_l7_an_elastic_member_and_a_gang_as_a_whole() -> None:
    case = borrowed(
        groups={"g": "a 2"},
        bound={
            "g1": "a 1 n1 group=g at=1",
            "g2": "a 1 n1 group=g at=2",
            "g3": "a 2 n1 group=g at=3",
        },
    )
    ledger = cluster(case)
    assert told(ledger, "g3")[1].startswith("it, as one beyond the minimum of its group, may be")
    state, text = told(ledger, "g1")
    assert (state, text.partition(";")[0]) == (
        "MoreThanBorrowed",
        (
            NOT_FOR_QUEUES + f"its group of <3> pods as a whole holds <4> of <{H200}>, "
            "and Queue <a> only <2> more than the <2> that it deserves"
        ),
    )


def test_l7_a_gang_that_does_not_end_since_another_of_it_may_not() -> None:
    case = borrowed(
        groups={"g": "a 2"},
        bound={"g1": "a 2 n1 group=g", "g2": "a 2 n1 group=g preemptable=false"},
    )
    assert told(cluster(case), "g1") == (
        "NotPreemptable",
        (
            "its group of <2> pods would end as a whole, and Pod <g2> of it may not: it is never "
            'ended for others: volcano.sh/preemptable is "false" on it or on its group'
        ),
    )


def test_l7_a_gang_of_more_than_a_plan_ends() -> None:
    case = borrowed(
        nodes={"n1": 202},
        queues={"a": 202, "b": 202},
        groups={"g": "a 101"},
        bound={"g": "a 1 n1 group=g times=101"},
    )
    assert told(cluster(case), "g-0") == (
        "TooMany",
        (
            "it is never ended for others: its group of <101> pods would end as a whole, and at "
            "most <100> pods end at once"
        ),
    )


NOT_FOR_QUEUES = "it is not ended for other queues: "


def test_l7_a_queue_that_gives_nothing_back() -> None:
    case = borrowed(queues={"a": "4 reclaimable=false", "b": 4})
    assert told(cluster(case), "x-0") == (
        "NotReclaimable",
        NOT_FOR_QUEUES
        + "Queue <a> has spec.reclaimable: false, so it gives nothing back"
        + PRIORITY,
    )


def test_l7_a_queue_that_deserves_what_it_holds() -> None:
    case = borrowed(bound={"x": "a 1 n1 times=2"})
    assert told(cluster(case), "x-0") == (
        "NothingBorrowed",
        NOT_FOR_QUEUES + f"Queue <a> holds <2> of <{H200}> and deserves <2>" + PRIORITY,
    )


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (
            "a 1 n1 preemptable=false",
            "NotPreemptable",
            'volcano.sh/preemptable is "false" on it or on its group',
        ),
        (
            "a 1 n1 past=yes",
            "PastAdmission",
            "it came past admission, and reclaim.pastAdmission is not set",
        ),
        ("a 1 n1 namespace=audited", "NotEnforced", "no quota is enforced in its namespace"),
    ],
)
def test_l7_a_pod_that_is_never_ended(text: str, state: str, said: str) -> None:
    ledger = cluster(borrowed(bound={"x": text, "y": "a 3 n1"}))
    where = "audited" if "audited" in text else "team"
    assert told(ledger, "x", where=where) == (state, f"it is never ended for others: {said}")


def test_l7_a_static_pod_is_never_ended() -> None:
    ledger = cluster(borrowed(bound={"y": "a 3 n1"}))
    see(ledger, bound("x", "a 1 n1").annotated("kubernetes.io/config.mirror", "x"))
    assert told(ledger, "x") == (
        "StaticPod",
        "it is never ended for others: it is a static pod, which its kubelet would start again",
    )


def test_l7_a_pod_whose_group_says_that_it_does_not_end() -> None:
    case = borrowed(groups={"g": "a 1 preemptable=false"}, bound={"x": "a 4 n1 group=g"})
    assert told(cluster(case), "x")[0] == "NotPreemptable"


def test_l7_past_admission_where_that_is_no_reason() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 past=yes", "y": "a 3 n1"}))
    assert told(ledger, "x", replace(ON, past_admission=True))[0] == "MayEnd"


def test_l7_a_pod_that_was_chosen_to_end() -> None:
    ledger = cluster(borrowed())
    see(ledger, with_plan(unplaced("w", "b 1"), "uid-x-0"))
    assert told(ledger, "x-0") == (
        "Ends",
        (
            "it ends to make room for pod <team/w> of Queue <b>, as was decided at "
            "2026-01-02T11:58:20Z; its controller, if it has one, makes another pod that waits for "
            "its turn"
        ),
    )
    assert told(ledger, "x-1")[0] == "MayEnd"


def test_l7_whom_it_ends_for_is_named_in_its_own_namespace_alone() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 times=4 namespace=other"}))
    see(ledger, with_plan(unplaced("secret", "b 1"), "uid-x-0"))
    text = told(ledger, "x-0", where="other")[1]
    assert text.startswith("it ends to make room for a pod of another namespace of Queue <b>")
    assert "secret" not in text


def test_l7_one_that_goes_already_is_told_for_whom_and_nothing_else() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 times=4 leaving=yes"}))
    see(ledger, with_plan(unplaced("w", "b 1"), "uid-x-0"))
    assert told(ledger, "x-0")[0] == "Ends"
    assert answer(ledger, "x-1") is None


def test_l7_of_a_pod_outside_all_queues_nothing_is_told() -> None:
    ledger = cluster(borrowed(bound={}))
    outside = pod("x", CaseWords.of("a 1")).in_queue(None).on_node("n1")
    see(ledger, outside)
    assert answer(ledger, "x") is None


def test_l7_of_a_pod_without_cards_nothing_is_told() -> None:
    assert answer(cluster(borrowed(bound={"x": "a 0 n1"})), "x") is None


def test_l7_a_question_changes_nothing_and_takes_short_steps() -> None:
    ledger = cluster(borrowed())
    before = ledger.epoch, dict(ledger.unplaced), set(ledger.waiting)
    assert told(ledger, "w")[0] == told(ledger, "w")[0]
    assert (ledger.epoch, dict(ledger.unplaced), set(ledger.waiting)) == before
