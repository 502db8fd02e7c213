"""R6 on real controllers: rolling updates on a full queue go on, or say why they cannot."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import pytest

from builders import a_node
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team, notes
from integration.workload_bodies import change, path, refusals

from . import leaving_pods
from .leaving_pods import counts_exactly, most_held

run = partial(leaving_pods.run, stops_in=1)
SURGE: Object = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
NO_SURGE: Object = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
BEFORE = "the rolling update creates this pod before an old one ends: "
NOT_LENT = BEFORE + "write maxSurge 0 and maxUnavailable 1, or ask the queue's owner for cards"


def lends(team: Team, quota: Mapping[str, int], surge: str) -> str:
    return team.has_queue(team.a_queue(quota).annotated(v.SURGE, surge))


def update(team: Team, kind: str, name: str = "web", **spec: object) -> None:
    template = {"metadata": {"annotations": {"version": "2"}}}
    assert (reply := change(team, kind, name, {"template": template, **spec})).ok, reply


def change_to(team: Team, kind: str, pod: PodBody) -> None:
    """Another amount of cards."""
    (main,) = team.wire(pod)["spec"]["containers"]
    found = ask(team.cluster, "GET", f"{path(team, kind)}/{pod.name}").body
    containers = found["spec"]["template"]["spec"]["containers"]
    containers[0]["resources"] = main["resources"]
    template = {"metadata": {"annotations": {"version": "2"}}, "spec": {"containers": containers}}
    assert (reply := change(team, kind, pod.name, {"template": template})).ok, reply


def updated(team: Team, number: int, name: str = "q") -> bool:
    """Whether all pods of a queue are new, and run."""
    queue = team.queue_name(name)
    pods = [notes(one) | one["spec"] for one in team.pods() if notes(one)[v.QUEUE_NAME] == queue]
    new = [one for one in pods if one.get("version") == "2" and one.get("nodeName")]
    return len(pods) == len(new) == number


def is_done(team: Team, number: int, name: str = "q") -> None:
    team.until(lambda: updated(team, number, name), "the update is over")
    counts_exactly(team, T1000, name=name, allocated=number, inqueue=0, requested=number)


@pytest.mark.slow
def test_an_update_that_ends_old_pods_first_goes_on(team: Team) -> None:
    workloads: dict[str, tuple[str, Object]] = {
        "one-by-one": ("Deployment", {"strategy": NO_SURGE}),
        "recreate": ("Deployment", {"strategy": {"type": "Recreate"}}),
        "set": ("StatefulSet", {}),
    }
    with team.watching() as watch:
        for name, (kind, strategy) in workloads.items():
            team.has_queue({T1000: 2}, name)
            run(team, kind, team.a_pod(name, 1, T1000, name), replicas=2, **strategy)
        for name, (kind, _) in workloads.items():
            counts_exactly(team, T1000, name=name, allocated=2)
            update(team, kind, name)
        for name in workloads:
            is_done(team, 2, name)
            assert most_held(watch, team.queue_name(name), T1000) == 2


@pytest.mark.slow
def test_an_update_to_larger_pods_than_fit_says_so(team: Team) -> None:
    """By an event of the controller. An old pod is gone by then, and its card in the numbers. Who
    gives it the room need not do anything else.
    """
    with own_card(team) as (card, pod):
        workloads: list[tuple[str, PodBody, str, int, Object]] = [
            ("Deployment", team.a_pod("one", 1, T1000), T1000, 2, {"strategy": NO_SURGE}),
            ("StatefulSet", team.a_pod("two", 1, T1000), T1000, 2, {}),
            ("DaemonSet", pod, card, 1, {}),
        ]
        for kind, old, of, number, spec in workloads:
            queue = team.has_queue({of: number}, kind.lower())
            more = spec if kind == "DaemonSet" else {"replicas": number, **spec}
            run(team, kind, old.in_queue(queue), **more)
        for kind, old, of, number, _ in workloads:
            counts_exactly(team, of, name=kind.lower(), allocated=number)
            change_to(team, kind, old.asking_for(2))
        for kind, _, of, number, _ in workloads:
            says = (
                f"Queue <{team.queue_name(kind.lower())}> has insufficient <{of}> quota: "
                f"requested <2>, total would be <{number + 1}>"
            )
            team.until(lambda s=says: any(s in one for one in refusals(team)), f"{kind} says so")
            team.set_quota({of: 2 * number}, kind.lower())
        for kind, _, of, number, _ in workloads:
            name, cards = kind.lower(), 2 * number
            team.until(
                lambda n=number, q=name: updated(team, n, q), f"the update of {kind} is over"
            )
            counts_exactly(team, of, name=name, allocated=cards, inqueue=0, requested=cards)


@pytest.mark.slow
def test_r6_an_update_that_starts_a_pod_first_says_at_once_what_to_write(team: Team) -> None:
    queue = team.has_queue({T1000: 2})
    with team.watching() as watch:
        run(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2, strategy=SURGE)
        counts_exactly(team, T1000, allocated=2)
        update(team, "Deployment")
        # The first may come before the webhook has heard of the update.
        team.until(lambda: any(NOT_LENT in told for told in refusals(team)), "it is told")
        # What it says helps.
        assert change(team, "Deployment", "web", {"strategy": NO_SURGE}).ok
        is_done(team, 2)
        assert most_held(watch, queue, T1000) == 2


@pytest.mark.slow
def test_r6_an_update_borrows_what_the_queue_lends_and_gives_it_back(team: Team) -> None:
    """Whatever the queue does with pods that lack room."""
    policies = ("Deny", "Gate")
    with team.watching() as watch:
        for policy in policies:
            queue = team.a_queue({T1000: 2}, policy.lower()).annotated(v.SURGE, "1")
            team.has_queue(queue.with_policy(policy))
            pod = team.a_pod(policy.lower(), 1, T1000).in_queue(queue.name)
            run(team, "Deployment", pod, replicas=2, strategy=SURGE)
        for policy in policies:
            borrows(team, policy.lower())
        for policy in policies:
            assert most_held(watch, team.queue_name(policy.lower()), T1000) == 3


def borrows(team: Team, name: str) -> None:
    """A Deployment of two, that fill the queue of its name."""
    queue = team.queue_name(name)
    counts_exactly(team, T1000, name=name, allocated=2)
    assert team.condition(v.Condition.BORROWED, name)["status"] == "False"
    update(team, "Deployment", name)

    def borrowing() -> dict[str, Object]:
        """The conditions, while it does."""
        status = team.status(name)
        rows = [row for row in status["cards"] if row.get("borrowed") == 1]
        return {one["type"]: one for one in status["conditions"]} if rows else {}

    conditions = team.until(borrowing, "it borrows")
    assert conditions[v.Condition.BORROWED]["message"].startswith(
        f"Queue <{queue}> holds 1 <{T1000}> beyond its quota: rolling updates may borrow 1"
    )
    assert conditions[v.Condition.OVER_QUOTA]["status"] == "False"
    is_done(team, 2, name)
    team.until(lambda: team.row(T1000, name)["borrowed"] == 0, "it is given back")
    assert team.condition(v.Condition.BORROWED, name)["status"] == "False"
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
def test_r6_a_daemon_set_with_a_surge(team: Team) -> None:
    with own_card(team) as (card, pod):
        queue = lends(team, {card: 1}, "1")
        with team.watching() as watch:
            run(team, "DaemonSet", pod, updateStrategy=SURGE)
            counts_exactly(team, card, allocated=1)
            update(team, "DaemonSet")
            team.until(lambda: updated(team, 1), "the update is over")
            counts_exactly(team, card, allocated=1, inqueue=0, requested=1)
            assert most_held(watch, queue, card) == 2
    assert ask(team.cluster, "DELETE", f"{path(team, 'DaemonSet')}/web").ok
