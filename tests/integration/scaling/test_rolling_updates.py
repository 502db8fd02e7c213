"""R6 on real controllers: rolling updates on a full queue go on, or say why they cannot."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from builders import a_node
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team, notes
from integration.workload_bodies import change, path, refusals

from .leaving_pods import counts_exactly, most_held, run

SURGE: Object = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
NO_SURGE: Object = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
BEFORE = "the rolling update creates this pod before an old one ends: "
NOT_LENT = BEFORE + "write maxSurge 0 and maxUnavailable 1, or ask the queue's owner for cards"


def lends(team: Team, quota: Mapping[str, int], surge: str, policy: str = "") -> str:
    queue = team.a_queue(quota).annotated(v.SURGE, surge)
    return team.has_queue(queue.with_policy(policy) if policy else queue)


def update(team: Team, kind: str, name: str = "web", **spec: object) -> None:
    template = {"metadata": {"annotations": {"version": "2"}}}
    assert (reply := change(team, kind, name, {"template": template, **spec})).ok, reply


def change_to(team: Team, kind: str, *, cards: int) -> None:
    """Pods of so many cards each."""
    wire = team.wire(team.a_pod("web", cards, T1000))
    (main,) = wire["spec"]["containers"]
    found = ask(team.cluster, "GET", f"{path(team, kind)}/web").body
    containers = found["spec"]["template"]["spec"]["containers"]
    containers[0]["resources"] = main["resources"]
    template = {"metadata": {"annotations": {"version": "2"}}, "spec": {"containers": containers}}
    assert (reply := change(team, kind, "web", {"template": template})).ok, reply


def updated(team: Team, number: int) -> bool:
    """Whether all pods are new, and run."""
    pods = team.pods()
    new = [one for one in pods if notes(one).get("version") == "2" and one["spec"].get("nodeName")]
    return len(pods) == len(new) == number


def is_done(team: Team, number: int) -> None:
    team.until(lambda: updated(team, number), "the update is over")
    counts_exactly(team, T1000, allocated=number, inqueue=0, requested=number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        ("Deployment", {"strategy": NO_SURGE}),
        ("Deployment", {"strategy": {"type": "Recreate"}}),
        ("StatefulSet", {}),
    ],
)
def test_an_update_that_ends_old_pods_first_goes_on(
    team: Team, kind: str, strategy: Object
) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        run(team, kind, team.a_pod("web", 1, T1000), replicas=2, **strategy)
        counts_exactly(team, T1000, allocated=2)
        update(team, kind)
        is_done(team, 2)
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "strategy"), [("Deployment", {"strategy": NO_SURGE}), ("StatefulSet", {})]
)
def test_an_update_to_larger_pods_than_fit_says_so(team: Team, kind: str, strategy: Object) -> None:
    """By an event of the controller. An old pod is gone by then, and its card in the numbers."""
    queue = team.has_queue({T1000: 2})
    run(team, kind, team.a_pod("web", 1, T1000), replicas=2, **strategy)
    counts_exactly(team, T1000, allocated=2)
    change_to(team, kind, cards=2)
    says = f"Queue <{queue}> has insufficient <{T1000}> quota: requested <2>, total would be <3>"
    team.until(lambda: any(says in one for one in refusals(team)), "it says so")
    # Who gives it the room need not do anything else.
    team.set_quota({T1000: 4})
    team.until(lambda: updated(team, 2), "the update is over")
    counts_exactly(team, T1000, allocated=4, inqueue=0, requested=4)


@pytest.mark.slow
def test_a_daemon_sets_update_to_larger_pods_than_fit_says_so(team: Team) -> None:
    with own_card(team) as (card, pod):
        queue = team.has_queue({card: 1})
        run(team, "DaemonSet", pod)
        counts_exactly(team, card, allocated=1)
        change_to(team, "DaemonSet", cards=2)
        says = f"Queue <{queue}> has insufficient <{card}> quota: requested <2>, total would be <2>"
        team.until(lambda: any(says in one for one in refusals(team)), "it says so")
        team.set_quota({card: 2})
        team.until(lambda: updated(team, 1), "the update is over")
        counts_exactly(team, card, allocated=2, inqueue=0, requested=2)


@pytest.mark.slow
def test_a_job_that_comes_beside_its_predecessor_says_so(team: Team) -> None:
    """A Job's template cannot be changed. The pod of the next Job waits, and says for what."""
    queue = team.has_queue({T1000: 2})
    run(team, "Job", team.a_pod("train", 2, T1000))
    counts_exactly(team, T1000, allocated=2)
    run(team, "Job", team.a_pod("next", 1, T1000))
    (new,) = team.until(
        lambda: [p for p in team.pods() if p["metadata"]["name"].startswith("next-")], "its pod"
    )
    told = team.until_told(new["metadata"]["name"], "InsufficientCardQuota")
    assert told["message"].startswith(
        f"Queue <{queue}> has insufficient <{T1000}> quota: requested <1>, total would be <3>"
    )


@pytest.mark.slow
def test_r6_an_update_that_starts_a_pod_first_says_at_once_what_to_write(team: Team) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2, strategy=SURGE)
        counts_exactly(team, T1000, allocated=2)
        update(team, "Deployment")
        told = team.until(lambda: refusals(team), "it is refused")
        assert NOT_LENT in told[0]
        # What it says helps.
        assert change(team, "Deployment", "web", {"strategy": NO_SURGE}).ok
        is_done(team, 2)
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["Deny", "Gate"])
def test_r6_an_update_borrows_what_the_queue_lends_and_gives_it_back(
    team: Team, policy: str
) -> None:
    queue = lends(team, {T1000: 3}, "1", policy)
    with team.watching() as watch:
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=3, strategy=SURGE)
        counts_exactly(team, T1000, allocated=3)
        assert team.condition(v.Condition.BORROWED)["status"] == "False"
        update(team, "Deployment")
        team.until(lambda: team.row(T1000)["borrowed"] == 1, "it borrows")
        assert team.condition(v.Condition.BORROWED)["message"].startswith(
            f"Queue <{queue}> holds 1 <{T1000}> beyond its quota: rolling updates may borrow 1"
        )
        assert team.condition(v.Condition.OVER_QUOTA)["status"] == "False"
        is_done(team, 3)
        team.until(lambda: team.row(T1000)["borrowed"] == 0, "it is given back")
        assert team.condition(v.Condition.BORROWED)["status"] == "False"
        assert most_held(watch, queue, T1000) == 4
    lent = {"queue": queue, "card": T1000}
    assert metric(team.cluster, "cardquota_queue_card_surge", **lent) == 1
    assert metric(team.cluster, "cardquota_queue_card_borrowed", **lent) == 0


@pytest.mark.slow
def test_r6_pods_that_wait_get_nothing_of_what_is_lent_and_hold_up_no_update(team: Team) -> None:
    queue = lends(team, {T1000: 2}, f'{{"{T1000}": 1}}')
    with team.watching() as watch:
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2, strategy=SURGE)
        counts_exactly(team, T1000, allocated=2)
        run(team, "Job", team.a_pod("train", 2, T1000))
        counts_exactly(team, T1000, allocated=2, requested=4)
        update(team, "Deployment")
        team.until(
            lambda: sum(notes(one).get("version") == "2" for one in team.pods()) == 2,
            "the update is over",
        )
        counts_exactly(team, T1000, allocated=2, inqueue=0, requested=4)
        assert most_held(watch, queue, T1000) == 3


@pytest.mark.slow
def test_r6_who_wants_more_pods_borrows_none(team: Team) -> None:
    queue = lends(team, {T1000: 2}, "2")
    with team.watching() as watch:
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2, strategy=SURGE)
        counts_exactly(team, T1000, allocated=2)
        update(team, "Deployment", replicas=3)
        told = team.until(lambda: refusals(team), "it is refused")
        assert BEFORE not in told[0]
        assert change(team, "Deployment", "web", {"replicas": 2}).ok
        is_done(team, 2)
        assert most_held(watch, queue, T1000) <= 4


@contextmanager
def own_card(team: Team) -> Iterator[tuple[str, PodBody]]:
    """A card that one node of the test's own has, and a pod that asks for one of its four."""
    card = f"{team.prefix}-card"
    node = a_node(f"{team.prefix}-node").with_cards(card, "4")
    pod = team.a_pod("web", 1, card).on_nodes_labelled({"nvidia.com/gpu.product": card})
    with a_node_of(team, node):
        counted = "cardquota_cluster_card_allocatable"
        team.until(lambda: metric(team.cluster, counted, card=card) == 4, "the node is seen")
        yield card, pod


@pytest.mark.slow
@pytest.mark.parametrize("lent", [0, 1])
def test_r6_a_daemon_set_with_a_surge(team: Team, lent: int) -> None:
    surge = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    with own_card(team) as (card, pod):
        queue = lends(team, {card: 1}, str(lent))
        with team.watching() as watch:
            run(team, "DaemonSet", pod, updateStrategy=surge)
            counts_exactly(team, card, allocated=1)
            update(team, "DaemonSet")
            if not lent:
                told = team.until(lambda: refusals(team), "it is refused")
                assert NOT_LENT in told[0]
                without = {
                    "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
                }
                assert change(team, "DaemonSet", "web", without).ok
            team.until(lambda: updated(team, 1), "the update is over")
            counts_exactly(team, card, allocated=1, inqueue=0, requested=1)
            assert most_held(watch, queue, card) == 1 + lent
    assert ask(team.cluster, "DELETE", f"{path(team, 'DaemonSet')}/web").ok
