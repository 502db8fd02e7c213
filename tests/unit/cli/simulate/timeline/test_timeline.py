"""When jobs start. Every time here is computed by hand."""

import pytest

from cardquota.cli.simulate.timeline.job_record import JobState, Placement
from cardquota.settings import InstallationMode, Settings

from .timelines import Run, node, queue

H200 = "NVIDIA-H200"
THREE = node("n", 4) + queue("a", '{"NVIDIA-H200": 3}')
CLASS = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
"""


def test_jobs_wait_for_quota_and_pass_whom_it_does_not_suffice(run: Run) -> None:
    ran = run(
        THREE,
        "first,0,a,NVIDIA-H200,2,1,100,",
        "second,10,a,NVIDIA-H200,2,1,50,",
        "small,20,a,NVIDIA-H200,1,1,30,",
        "gang,30,a,NVIDIA-H200,1,3,10,",
    )
    assert ran.waits() == {"first": 0, "second": 90, "small": 0, "gang": 120}
    assert {name: one.ended for name, one in ran.records.items()} == {
        "first": 100,
        "second": 150,
        "small": 50,
        "gang": 160,
    }
    assert {one.state for one in ran.records.values()} == {JobState.ENDED}
    assert (ran.simulation.ledger.pods, ran.simulation.ledger.groups) == ({}, {})


def test_e2_a_gang_waits_whole_and_starts_whole(run: Run) -> None:
    """Two of its three cards are free from the beginning: it takes none of them."""
    gang = run(THREE, "one,0,a,NVIDIA-H200,1,1,100,", "gang,1,a,NVIDIA-H200,1,3,10,").records[
        "gang"
    ]
    assert (gang.let_through, gang.started, gang.ended) == (100, 100, 110)
    assert gang.placements == [Placement(100, "n", H200, 3)]
    assert gang.charged == {H200: 3}


def test_e6_who_is_more_urgent_goes_first(run: Run) -> None:
    ran = run(
        THREE + CLASS,
        "running,0,a,NVIDIA-H200,3,1,100,",
        "early,1,a,NVIDIA-H200,3,1,10,",
        "urgent,2,a,NVIDIA-H200,3,1,10,urgent",
        "urgent-gang,3,a,NVIDIA-H200,1,3,10,urgent",
    )
    assert ran.waits() == {"running": 0, "urgent": 98, "urgent-gang": 107, "early": 119}


def test_e6_in_a_fifo_queue_nobody_passes(run: Run) -> None:
    cluster = node("n", 4) + queue("a", '{"NVIDIA-H200": 3}', spec="dequeueStrategy: fifo")
    ran = run(
        cluster,
        "first,0,a,NVIDIA-H200,2,1,100,",
        "second,10,a,NVIDIA-H200,2,1,50,",
        "small,20,a,NVIDIA-H200,1,1,30,",
    )
    assert ran.waits() == {"first": 0, "second": 90, "small": 80}


def test_who_has_quota_waits_for_a_node_and_holds_nothing_there(run: Run) -> None:
    cluster = node("n", 4) + queue("a", '{"NVIDIA-H200": 4}') + queue("b", '{"NVIDIA-H200": 4}')
    ran = run(
        cluster,
        "a,0,a,NVIDIA-H200,4,1,100,",
        "b,10,b,NVIDIA-H200,4,1,5,",
    )
    assert (ran.records["b"].let_through, ran.records["b"].started) == (10, 100)
    assert ran.records["b"].placements == [Placement(100, "n", H200, 4)]
    (card,) = ran.report.cards
    assert (card.held, card.seconds, card.overall) == (100 * 4 + 5 * 4, 105, 1000)
    assert (card.seconds_waited, card.while_waited) == (90, 1000)


def test_a_gang_runs_from_when_its_last_pod_has_a_node(run: Run) -> None:
    cluster = node("n", 2) + queue("a", '{"NVIDIA-H200": 2}') + queue("b", '{"NVIDIA-H200": 2}')
    gang = run(cluster, "a,0,a,NVIDIA-H200,1,1,100,", "gang,10,b,NVIDIA-H200,1,2,5,").records[
        "gang"
    ]
    assert (gang.let_through, gang.started, gang.ended) == (10, 100, 105)
    assert gang.placements == [Placement(10, "n", H200, 1), Placement(100, "n", H200, 1)]


def test_the_more_urgent_pod_gets_the_node_first(run: Run) -> None:
    queues = "".join(queue(name, '{"NVIDIA-H200": 4}') for name in "abc")
    ran = run(
        node("n", 4) + queues + CLASS,
        "running,0,a,NVIDIA-H200,4,1,100,",
        "early,1,b,NVIDIA-H200,4,1,10,",
        "urgent,2,c,NVIDIA-H200,4,1,10,urgent",
    )
    assert ran.waits() == {"running": 0, "urgent": 98, "early": 109}


def test_pods_of_different_sizes_do_not_hold_up_each_other_at_the_nodes(run: Run) -> None:
    queues = "".join(queue(name, '{"NVIDIA-H200": 8}') for name in "abc")
    ran = run(
        node("n", 2) + node("m", 2) + queues,
        *("one,0,a,NVIDIA-H200,2,1,100,", "two,0,a,NVIDIA-H200,1,1,50,"),
        *("three,0,a,NVIDIA-H200,1,1,80,", "large,1,b,NVIDIA-H200,2,1,10,"),
        "small,2,c,NVIDIA-H200,1,1,10,",
    )
    assert ran.waits() == {"one": 0, "two": 0, "three": 0, "large": 79, "small": 48}


def test_who_ends_goes_before_who_comes_at_the_same_moment(run: Run) -> None:
    ran = run(
        THREE, "a,0,a,NVIDIA-H200,3,1,10,", "b,10,a,NVIDIA-H200,3,1,0,", "c,10,a,NVIDIA-H200,3,1,1,"
    )
    assert ran.waits() == {"a": 0, "b": 0, "c": 0}
    assert ran.records["b"].ended == 10


def test_e5_what_can_never_be_is_denied_with_the_operators_sentence(run: Run) -> None:
    ran = run(
        THREE,
        "large,0,a,NVIDIA-H200,4,1,10,",
        "no-queue,0,none,NVIDIA-H200,1,1,10,",
        "no-card,0,a,NVIDIA-H2OO,1,1,10,",
        "no-queue-gang,0,none,NVIDIA-H200,1,2,10,",
    )
    assert {one.state for one in ran.records.values()} == {JobState.DENIED}
    assert ran.records["large"].text.startswith(
        "Queue <a> has insufficient <NVIDIA-H200> quota: requested <4>, total would be <4>, "
        "but capability is <3>"
    )
    assert "<none>" in ran.records["no-queue"].text
    assert "NVIDIA-H2OO" in ran.records["no-card"].text
    assert ran.report.by_queue[-1].denied == 4
    assert ran.simulation.ledger.pods == {}


def test_under_policy_deny_who_does_not_fit_when_he_comes_is_denied(run: Run) -> None:
    """But not members of a gang, each of which would fit alone: they wait for each other."""
    deny = ", volcano.sh/card.policy: Deny"
    ran = run(
        node("n", 4) + queue("a", '{"NVIDIA-H200": 3}', notes=deny),
        "one,0,a,NVIDIA-H200,1,1,100,",
        "three,1,a,NVIDIA-H200,3,1,10,",
        "gang,2,a,NVIDIA-H200,1,3,10,",
        "two,3,a,NVIDIA-H200,2,1,10,",
    )
    assert ran.records["three"].state is JobState.DENIED
    assert "requested <3>, total would be <4>" in ran.records["three"].text
    assert ran.waits() == {"one": 0, "three": None, "gang": 98, "two": 0}


def test_a_gang_that_asks_for_more_than_the_quota_never_starts_and_is_told_why(run: Run) -> None:
    ran = run(THREE, "gang,0,a,NVIDIA-H200,1,4,10,", "later,5,a,NVIDIA-H200,3,1,10,")
    gang = ran.records["gang"]
    assert gang.state in (JobState.GATED, JobState.DENIED)
    assert "requested <4>" in gang.text
    assert ran.waits() == {"gang": None, "later": 0}


def test_a_pod_that_no_node_is_large_enough_for_never_starts_and_is_told_why(run: Run) -> None:
    cluster = node("n", 4) + node("m", 4) + queue("a", '{"NVIDIA-H200": 8}')
    ran = run(cluster, "wide,0,a,NVIDIA-H200,5,1,10,", "later,5,a,NVIDIA-H200,3,1,10,")
    assert ran.records["wide"].state is JobState.PENDING
    assert "no node ever had room for its pod: " in ran.records["wide"].text
    assert ran.waits() == {"wide": None, "later": 0}


def test_gangs_that_each_hold_a_part_of_the_nodes_wait_for_ever(run: Run) -> None:
    """As with kube-scheduler, which binds pod by pod: quotas beyond the nodes are not without
    danger, and the timeline shows it.
    """
    quotas = (("a", 4), ("b", 3), ("c", 2))
    queues = "".join(queue(name, f'{{"NVIDIA-H200": {quota}}}') for name, quota in quotas)
    ran = run(
        node("n", 2) + node("m", 2) + queues,
        *("one,0,c,NVIDIA-H200,1,1,10,", "two,0,c,NVIDIA-H200,1,1,20,"),
        *("wide,1,a,NVIDIA-H200,2,2,10,", "thin,2,b,NVIDIA-H200,1,3,10,"),
        "last,300,c,NVIDIA-H200,1,1,10,",
    )
    assert ran.waits() == {"one": 0, "two": 0, "wide": None, "thin": None, "last": None}
    wide, thin, last = (ran.records[name] for name in ("wide", "thin", "last"))
    assert {wide.state, thin.state, last.state} == {JobState.PENDING}
    assert wide.placements == [Placement(1, "m", H200, 2)]
    assert thin.placements == [Placement(10, "n", H200, 1), Placement(20, "n", H200, 1)]
    assert "no node ever had room for 1 of its 3 pods, and meanwhile nobody" in thin.text
    assert "no node ever had room for its pod: none is large enough, or other jobs" in last.text


def test_e7_of_several_cards_a_job_gets_the_first_that_is_free(run: Run) -> None:
    quota = '{"NVIDIA-H200": 2, "NVIDIA-A100": 2}'
    cluster = node("n", 2) + node("m", 2, "NVIDIA-A100") + queue("a", quota)
    lines = [f"j{i},{i},a,NVIDIA-H200|NVIDIA-A100,2,1,10," for i in range(3)]
    ran = run(cluster, *lines)
    assert [one.placements[0].card for one in ran.records.values()] == [H200, "NVIDIA-A100", H200]
    assert ran.waits() == {"j0": 0, "j1": 0, "j2": 8}
    assert ran.records["j0"].wanted == (H200, "NVIDIA-A100")


@pytest.mark.parametrize("pods", [1, 2])
def test_in_audit_mode_nobody_waits_for_quota(run: Run, pods: int) -> None:
    settings = Settings.model_construct(mode=InstallationMode.AUDIT)
    lines = [f"j{i},0,a,NVIDIA-H200,{2 // pods},{pods},10," for i in range(3)]
    ran = run(THREE, *lines, settings=settings)
    assert ran.waits() == {"j0": 0, "j1": 0, "j2": 10}  # the node has room for two


def test_cpu_and_memory_count_where_the_queue_limits_them(run: Run) -> None:
    cluster = node("n", 4) + queue("a", '{"NVIDIA-H200": 4}', spec="capability: {cpu: 4}")
    ran = run(
        cluster,
        "a,0,a,NVIDIA-H200,1,1,10,,3,",
        "b,1,a,NVIDIA-H200,1,1,10,,2,1Gi",
        more="cpu,memory",
    )
    assert ran.waits() == {"a": 0, "b": 9}
