"""L7: what `check` says of who would be ended for whom, and of what was ended in vain."""

from typing import Any

import pytest

from builders import H200, see
from cardquota.cli.check import CheckedCluster, CheckSection
from cardquota.cli.check.reclaim_section import MOST_TOLD, reclaim_section
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.plan_record import PlanRecord, plan_text
from cardquota.quota.words import seconds_of
from cardquota.settings import Settings
from unit.quota.reclaim.reclaiming import bound, cluster, queue, unplaced

NOW = float(seconds_of("2026-01-02T00:00:30Z") or 0)
"""Half a minute after pods of these clusters began to go."""
GAVE_UP = int(NOW) - 60


def section(ledger: Ledger, mode: str = "dryRun", now: float = NOW) -> CheckSection:
    settings = Settings.model_validate({"reclaim": mode})
    return reclaim_section(CheckedCluster(ledger), settings, now)


def borrowed(**more: Any) -> dict[str, Any]:
    """Queue a holds all four cards, of which it deserves two, and w of queue b waits for one."""
    return {
        "nodes": {"n1": 4},
        "queues": {"a": 4, "b": 4},
        "bound": {"x": "a 1 n1 times=4"},
        "unplaced": {"w": "b 1"},
        **more,
    }


def with_plan(ledger: Ledger, *victims: str, gave_up: int = 0, ago: int = 100) -> None:
    plan = PlanRecord("t", int(NOW) - ago, "reclaim", H200, victims, gave_up)
    see(ledger, unplaced("w", "b 1").annotated(v.RECLAIM_PLAN, plan_text(plan)))


def test_l7_nothing_is_said_where_reclaim_is_off() -> None:
    found = section(cluster(borrowed()), "off")
    assert (found.notes, found.findings, found.complete) == ([], [], True)


def test_l7_what_would_be_ended_and_for_whom() -> None:
    found = section(cluster(borrowed()))
    assert found.notes == [
        (
            "reclaim is dryRun: below is what would be ended now for those who wait, and nothing "
            "is; they wait <60> s for a node before that, or <30> s for quota, and "
            "PodDisruptionBudgets and limits of evictions are not looked at here"
        ),
        f"for pod <team/w> of Queue <b>, which lacks <1> of <{H200}>, 1 pod would end: team/x-3",
    ]
    assert (found.findings, found.complete) == ([], True)
    assert (
        section(cluster(borrowed()), "on")
        .notes[0]
        .startswith("reclaim is on: below is what would be ended now for those who wait; they")
    )


def test_l7_who_waits_for_quota_and_for_whom_none_would_end() -> None:
    case = borrowed(
        queues={"a": 4, "b": 4, "c": 1, "d": 1},
        nodes={"n1": 6},
        bound={"x": "a 1 n1 times=4", "y": "c 1 n1", "z": "d 1 n1"},
        unplaced={"w": "b 1 policy=Never"},
        gated={"u": "c 1 priority=5", "v": "d 1", "same": "d 1"},
    )
    assert section(cluster(case)).notes[1:] == [
        f"for pod <team/u> of Queue <c>, which lacks <1> of <{H200}>, 1 pod would end: team/y",
        (
            "pod <team/same> of Queue <d>: nothing is ended for it: no pod in Queue <d> that holds "
            "these cards has a lower priority; wait, or use a higher priority class"
        ),
    ]


def test_l7_the_highest_priority_comes_first_and_who_may_not_is_left_out() -> None:
    queues = dict.fromkeys("cdef", 1)
    case = borrowed(
        queues=queues,
        bound={name: f"{name} 1 n1" for name in queues},
        unplaced={},
        gated={
            "a": "c 1 priority=1",
            "b": "d 1 priority=2",
            "never": "e 1 priority=9 policy=Never",
            "other": "f 1 priority=9 card=H800",
        },
    )
    told = [note.partition(" of Queue")[0] for note in section(cluster(case)).notes[1:]]
    assert told == ["for pod <team/b>", "for pod <team/a>"]


def test_l7_pods_that_came_past_admission_may_end_where_the_setting_says_so() -> None:
    ledger = cluster(borrowed(bound={"x": "a 1 n1 times=4 past=yes"}))
    assert "nothing is ended for it" in section(ledger).notes[1]
    more = {"reclaim": {"mode": "dryRun", "pastAdmission": True}}
    found = reclaim_section(CheckedCluster(ledger), Settings.model_validate(more), NOW)
    assert "would end" in found.notes[1]


def test_l7_a_queue_for_which_reclaim_is_off() -> None:
    ledger = cluster(borrowed())
    see(ledger, queue("b", 4).annotated(v.QUEUE_RECLAIM, "off"))
    assert len(section(ledger).notes) == 1


def test_l7_of_very_many_a_few_are_told() -> None:
    number = 3 * MOST_TOLD
    case = borrowed(
        nodes={"n1": 4 * number},
        queues={"a": 4 * number, "b": 4 * number, **{f"c{n}": 1 for n in range(number)}},
        bound={"x": f"a 1 n1 times={4 * number}", **{f"y{n}": f"c{n} 1 n2" for n in range(number)}},
        unplaced={f"w{n}": "b 1" for n in range(number)},
        gated={f"u{n}": f"c{n} 1" for n in range(number)},
    )
    notes = section(cluster(case)).notes
    assert notes[MOST_TOLD + 1] == f"for {number - MOST_TOLD} more that wait pods would end"
    assert notes[-1] == f"for {number - MOST_TOLD} more that wait no pods would end"
    assert len(notes) == 1 + 2 * (MOST_TOLD + 1)


def test_l7_pods_that_end_for_somebody() -> None:
    ledger = cluster(borrowed())
    with_plan(ledger, "uid-x-0", "uid-gone")
    see(ledger, unplaced("other", "b 1"))
    found = section(ledger, "on")
    assert found.notes[1:] == [
        (
            f"pod <team/w> of Queue <b>: room of <{H200}> is made for it by ending 2 pods, since "
            "2026-01-01T23:58:50Z, and nobody else gets that card meanwhile: still there: <1> "
            "(<team/x-0>); wait"
        ),
        (
            f"pod <team/other> of Queue <b>: pods are being ended to make room of <{H200}> for "
            "other pods or groups, and its turn comes after them; wait a few minutes"
        ),
    ]
    assert found.findings == []


def test_l7_a_pod_that_was_ended_and_does_not_go() -> None:
    ledger = cluster(borrowed())
    with_plan(ledger, "uid-x-0")
    see(ledger, bound("x-0", "a 1 n1").terminating())
    assert section(ledger, "on").findings == []
    (one,) = section(ledger, "on", NOW + 60).findings
    assert (one.finding, one.kind, one.namespace, one.name) == ("reclaim", "Pod", "team", "x-0")
    assert (one.reason, one.queue, dict(one.cards)) == (v.NOT_GONE, "a", {H200: 1})
    assert "should have been gone <90> s ago" in one.why
    assert "finalizers" in one.advice


def test_l7_one_that_did_not_start_in_the_room_that_was_made() -> None:
    ledger = cluster(borrowed())
    with_plan(ledger, "uid-gone", gave_up=GAVE_UP)
    found = section(ledger, "on")
    (one,) = found.findings
    assert (one.kind, one.name, one.reason, one.queue) == ("Pod", "w", v.RECLAIM_GAVE_UP, "b")
    assert dict(one.cards) == {H200: 1}
    assert len(found.notes) == 1
    later = section(ledger, "on", GAVE_UP + 3_600.0)
    assert (later.findings, len(later.notes)) == ([], 2)


def test_l7_what_comes_for_another_is_promised_to_nobody_else() -> None:
    ledger = cluster(borrowed(unplaced={"w": "b 1", "other": "b 1"}))
    with_plan(ledger, "uid-x-0")
    see(ledger, bound("x-0", "a 1 n1").terminating())
    notes = section(ledger, "on").notes
    assert len(notes) == 3
    assert notes[2].startswith("for pod <team/other> of Queue <b>, which lacks <1>")


def test_l7_while_one_before_them_would_need_others_nothing_is_planned() -> None:
    ledger = cluster(borrowed(unplaced={"w": "b 1", "other": "b 1"}))
    with_plan(ledger, "uid-gone")
    notes = section(ledger, "on").notes
    assert "pod <team/other> of Queue <b>: pods are being ended" in notes[2]


@pytest.mark.parametrize("mode", ["on", "dryRun"])
def test_l7_where_several_did_not_start_nothing_is_planned_for_others(mode: str) -> None:
    ledger = cluster(borrowed(unplaced=dict.fromkeys(("w", "x", "y", "z"), "b 1")))
    for name in ("w", "x", "y"):
        plan = PlanRecord("t", int(NOW) - 100, "reclaim", H200, ("uid-gone",), GAVE_UP)
        see(ledger, unplaced(name, "b 1").annotated(v.RECLAIM_PLAN, plan_text(plan)))
    found = section(ledger, mode)
    assert [one.name for one in found.findings] == ["w", "x", "y"]
    assert len(found.notes) == (1 if mode == "on" else 2)


@pytest.mark.parametrize(("ago", "within"), [(1_259, 300), (1_260, 1_200)])
def test_l7_within_what_time_it_did_not_start(ago: int, within: int) -> None:
    ledger = cluster(borrowed())
    with_plan(ledger, "uid-gone", gave_up=GAVE_UP, ago=ago)
    (one,) = section(ledger, "on").findings
    assert f"did not start within <{within}> s" in one.why


@pytest.mark.parametrize("kind", ["pods", "nodes"])
def test_l7_without_all_pods_and_nodes_nothing_is_planned(kind: str) -> None:
    read = CheckedCluster(cluster(borrowed()))
    read.partly.add(kind)
    found = reclaim_section(read, Settings.model_validate({"reclaim": "on"}), NOW)
    assert (found.complete, found.findings) == (False, [])
    assert found.notes == [f"{kind} are not all known: it is not known what would be ended"]


def test_l7_of_those_who_wait_so_many_are_looked_at() -> None:
    case = borrowed(
        nodes={f"n{n}": 8 for n in range(100)},
        queues={"a": 800, "b": 800},
        bound={f"x{n}": f"a 1 n{n} times=8" for n in range(100)},
        unplaced={f"w{n}": "b 1" for n in range(390)},
    )
    notes = section(cluster(case)).notes
    assert notes[-2] == f"for {256 - MOST_TOLD} more that wait pods would end"
    assert notes[-1] == "134 more wait, and it was not looked at whether pods would end for them"
