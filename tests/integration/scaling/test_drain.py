"""T4, I1, I2: a node is drained, or pods are evicted, while their queue is full: the quota goes
with the pods, and what replaces them comes by itself.
"""

import pytest

from builders import a_node
from cardquota_dev.testing import eventually
from integration.asking import Object, metric
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
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2, stops_in=600)
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
        for name in names(before):
            assert team.delete(team.a_pod(name)).ok
        for uid in uids(before):
            gone(watch, uid)
        counts_exactly(team, T1000, allocated=2, requested=2)
        assert len(staying(team)) == 2
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
def test_what_waits_gets_what_an_evicted_pod_leaves_and_not_before(team: Team) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        start(team, team.a_pod("old", 2, T1000), stops_in=600)
        counts_exactly(team, T1000, allocated=2)
        uid = team.pod("old")["metadata"]["uid"]
        assert evict(team, "old").ok
        team.until(lambda: is_leaving(team.pod("old")), "it is leaving")
        early = team.a_pod("too-early", 1, T1000)
        team.until(lambda: HELD in team.create(early, dry=True).message, "that is known")
        refused = team.create(early)
        assert "; pods that are being deleted hold <2> of it; wait until" in refused.message
        assert team.create(of_a_job(team.a_pod("next", 2, T1000))).ok
        told = team.until_told("next", "InsufficientCardQuota")
        assert "; pods that are being deleted hold <2> of it; wait until" in told["message"]
        counts_exactly(team, T1000, allocated=2, requested=4)
        assert team.delete(team.a_pod("old")).ok
        end = gone(watch, uid)
        team.until_bound("next")
        counts_exactly(team, T1000, allocated=2, requested=2)
        opened = watch.first(lambda s: s.name == "next" and not gates(s.object), "its gate opens")
        assert opened.at >= end.at
        assert most_held(watch, queue, T1000) == 2
    assert len(team.events("next", "InsufficientCardQuota")) == 1
