"""T4, I1, I2: a node is drained, or pods are evicted, while their queue is full: the quota goes
with the pods, and what replaces them comes by itself.
"""

import pytest

from builders import a_node, a_pod
from cardquota_dev.testing import eventually
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team, gates, of_a_job
from integration.workload_bodies import refusals

from .leaving_pods import (
    cordon,
    counts_exactly,
    evict,
    gone,
    is_leaving,
    most_held,
    names,
    nodes_of,
    run,
    start,
    staying,
    uids,
)

FAILED: Object = {"status": {"phase": "Failed"}}
HELD = "; pods that are being deleted hold <"


@pytest.mark.slow
def test_a_drained_node_gives_its_quota_to_the_replacements(team: Team) -> None:
    card, kinds = f"{team.prefix}-card", ("Deployment", "StatefulSet")
    first, second = (a_node(f"{team.prefix}-{n}").with_cards(card, "6") for n in range(2))
    counted = "cardquota_cluster_card_allocatable"
    with a_node_of(team, first), a_node_of(team, second):
        cordon(team, second.name)
        queues = {kind: team.has_queue({card: 3}, kind.lower()) for kind in kinds}
        team.until(lambda: metric(team.cluster, counted, card=card) == 12, "both nodes are seen")
        with team.watching() as watch:
            for kind in kinds:
                run(team, kind, team.a_pod(kind.lower(), 1, card, kind.lower()), replicas=3)
            for kind in kinds:
                counts_exactly(team, card, name=kind.lower(), allocated=3)
            before = uids(team.pods())
            cordon(team, second.name, on=False)
            done = team.cluster.kubectl("drain", first.name)
            assert done.returncode == 0, done.stderr
            for kind in kinds:
                counts_exactly(team, card, name=kind.lower(), allocated=3, requested=3, inqueue=0)
            for uid in before:
                gone(watch, uid)
            for queue in queues.values():
                assert most_held(watch, queue, card) == 3
        # What was counted above may have been held by the old pods.
        team.until(lambda: nodes_of(team) == [second.name] * 6, "the new pods are on the other")
        assert before.isdisjoint(uids(team.pods()))
        told = refusals(team)
        # Its first try may come before the news that a pod is being deleted.
        assert [text for text in told if HELD in text and queues["Deployment"] in text]
        of_set = [text for text in told if queues["StatefulSet"] in text]
        assert [text for text in of_set if HELD not in text] == []


@pytest.mark.slow
def test_t4_replacements_are_asked_for_at_once_and_told_who_holds_the_quota(team: Team) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2)
        counts_exactly(team, T1000, allocated=2)
        before = team.pods()
        for name in names(before):
            assert evict(team, name).ok
        told = eventually(lambda: [t for t in refusals(team) if HELD in t], "it is told")
        assert (
            f"Queue <{queue}> has insufficient <{T1000}> quota: requested <1>, total would be "
            "<3>, but capability is <2>; pods that are being deleted hold <"
        ) in told[0]
        counts_exactly(team, T1000, allocated=2, inqueue=0, requested=2)
        assert uids(team.pods()) == uids(before)
        for uid in uids(before):
            gone(watch, uid)
        counts_exactly(team, T1000, allocated=2, requested=2)
        assert len(staying(team)) == 2
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
def test_the_next_pod_of_a_stateful_set_has_the_name_and_not_the_quota_of_the_last(
    team: Team,
) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        run(team, "StatefulSet", team.a_pod("web", 2, T1000), replicas=1)
        counts_exactly(team, T1000, allocated=2)
        (old,) = team.pods()
        assert evict(team, "web-0").ok
        counts_exactly(team, T1000, allocated=2, requested=2)
        end = gone(watch, old["metadata"]["uid"])
        team.until(lambda: staying(team), "the next one is there")
        counts_exactly(team, T1000, allocated=2, requested=2)
        (new,) = team.pods()
        assert new["metadata"]["name"] == "web-0"
        assert new["metadata"]["uid"] != old["metadata"]["uid"]
        born = watch.first(
            lambda s: s.object["metadata"]["uid"] == new["metadata"]["uid"], "the next one"
        )
        assert born.at >= end.at
        assert most_held(watch, queue, T1000) == 2
    assert [text for text in refusals(team) if HELD not in text] == []


@pytest.mark.slow
def test_a_job_whose_pod_is_evicted_waits_at_the_gate_while_that_stops(team: Team) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        # A Job makes the next pod some ten seconds after it has lost one.
        run(team, "Job", team.a_pod("train", 2, T1000), stops_in=15)
        counts_exactly(team, T1000, allocated=2)
        (old,) = team.pods()
        assert evict(team, old["metadata"]["name"]).ok
        (new,) = team.until(lambda: staying(team), "a replacement")
        told = team.until_told(new["metadata"]["name"], "InsufficientCardQuota")
        assert "; pods that are being deleted hold <2> of it; wait until" in told["message"]
        counts_exactly(team, T1000, allocated=2, requested=4)
        end = gone(watch, old["metadata"]["uid"])
        counts_exactly(team, T1000, allocated=2, requested=2)
        opened = watch.first(
            lambda s: s.name == new["metadata"]["name"] and not gates(s.object), "its gate opens"
        )
        assert opened.at >= end.at
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
def test_a_job_that_replaces_no_pod_that_may_still_run(team: Team) -> None:
    """What has failed holds nothing, also while it is there (T1)."""
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        spec: Object = {"podReplacementPolicy": "Failed"}
        run(team, "Job", team.a_pod("train", 2, T1000), stops_in=600, **spec)
        counts_exactly(team, T1000, allocated=2)
        (old,) = team.pods()
        assert evict(team, old["metadata"]["name"]).ok
        team.until(lambda: all(map(is_leaving, team.pods())), "it is leaving")
        counts_exactly(team, T1000, allocated=2, requested=2)
        assert staying(team) == []
        # The node says so, at last.
        ended = team.patch(a_pod(old["metadata"]["name"]), FAILED, sub="/status")
        assert ended.ok
        counts_exactly(team, T1000, allocated=0, requested=0)
        (new,) = team.until(lambda: staying(team), "a replacement")
        counts_exactly(team, T1000, allocated=2, requested=2)
        assert team.events(new["metadata"]["name"], "InsufficientCardQuota") == []
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
def test_what_waits_gets_what_an_evicted_pod_leaves_and_not_before(team: Team) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        start(team, team.a_pod("old", 2, T1000))
        counts_exactly(team, T1000, allocated=2)
        uid = team.pod("old")["metadata"]["uid"]
        assert evict(team, "old").ok
        team.until(lambda: is_leaving(team.pod("old")), "it is leaving")
        refused = team.create(team.a_pod("too-early", 1, T1000))
        assert "; pods that are being deleted hold <2> of it; wait until" in refused.message
        assert team.create(of_a_job(team.a_pod("next", 2, T1000))).ok
        told = team.until_told("next", "InsufficientCardQuota")
        assert "; pods that are being deleted hold <2> of it; wait until" in told["message"]
        counts_exactly(team, T1000, allocated=2, requested=4)
        end = gone(watch, uid)
        team.until_bound("next")
        counts_exactly(team, T1000, allocated=2, requested=2)
        opened = watch.first(lambda s: s.name == "next" and not gates(s.object), "its gate opens")
        assert opened.at >= end.at
        assert most_held(watch, queue, T1000) == 2
    assert len(team.events("next", "InsufficientCardQuota")) == 1


@pytest.mark.slow
def test_a_disruption_budget_that_blocks_an_eviction_changes_no_total(team: Team) -> None:
    team.has_queue({T1000: 2})
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    }
    budgets = f"/apis/policy/v1/namespaces/{team.namespace}/poddisruptionbudgets"
    assert ask(team.cluster, "POST", budgets, budget).ok
    run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2)
    counts_exactly(team, T1000, allocated=2)

    def guarded() -> bool:
        status = ask(team.cluster, "GET", f"{budgets}/web").body["status"]
        return bool(status.get("currentHealthy") == 2)

    team.until(guarded, "the budget knows both")
    before = team.pods()
    for name in names(before):
        reply = evict(team, name)
        assert reply.code == 429
        assert "disruption budget" in reply.message
    counts_exactly(team, T1000, allocated=2, requested=2, inqueue=0)
    assert uids(staying(team)) == uids(before)
    assert refusals(team) == []


@pytest.mark.slow
def test_a_daemon_set_replaces_an_evicted_pod_on_the_same_node(team: Team) -> None:
    card = f"{team.prefix}-card"
    node = a_node(f"{team.prefix}-node").with_cards(card, "1")
    counted = "cardquota_cluster_card_allocatable"
    with a_node_of(team, node), team.watching() as watch:
        queue = team.has_queue({card: 1})
        team.until(lambda: metric(team.cluster, counted, card=card) == 1, "the node is seen")
        pod = team.a_pod("agent", 1, card).on_nodes_labelled({"nvidia.com/gpu.product": card})
        run(team, "DaemonSet", pod)
        counts_exactly(team, card, allocated=1)
        (old,) = team.pods()
        assert evict(team, old["metadata"]["name"]).ok
        counts_exactly(team, card, allocated=1, requested=1)
        gone(watch, old["metadata"]["uid"])
        team.until(lambda: staying(team), "the next one is there")
        counts_exactly(team, card, allocated=1, requested=1)
        assert most_held(watch, queue, card) == 1
    assert [text for text in refusals(team) if HELD not in text] == []
