"""The first pod over quota, by policy and by what made it, with the controllers of Kubernetes."""

import datetime as dt
from typing import Any

import pytest

from builders import a_node
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import MERGE, Object, ask
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team, let_through, notes, of_a_job
from integration.workload_bodies import create, path, refusals

WORKLOADS: dict[str, dict[str, Any]] = {
    "Deployment": {"replicas": 2},
    "StatefulSet": {"replicas": 2, "serviceName": "none"},
    "DaemonSet": {},
    "Job": {"parallelism": 2, "completions": 2},
    "CronJob": {"parallelism": 2, "completions": 2},
}
BARE, UNKNOWN, OTHER_JOB = "pods", "notebook", "other-job"
"""Pods of their own, of a controller that nobody knows, and of a Job that is not Kubernetes'."""
WAIT = {"Job", "CronJob", OTHER_JOB}
"""What waits where the queue leaves it to the controller (section 2)."""


def of_a_notebook(pod: PodBody) -> PodBody:
    owner = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "Notebook",
        "name": "notebook",
        "uid": "notebook",
        "controller": True,
    }
    return pod.put([owner], "metadata", "ownerReferences")


def due_now(team: Team, name: str) -> None:
    """As if a CronJob had last run some minutes ago: its controller makes up for it at once."""
    before = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=2)
    status = {"status": {"lastScheduleTime": before.strftime("%Y-%m-%dT%H:%M:%SZ")}}
    target = f"{path(team, 'CronJob')}/{name}/status"
    assert ask(team.cluster, "PATCH", target, status, content_type=MERGE).ok


@pytest.mark.slow
@pytest.mark.parametrize("policy", [None, "Deny", "Gate"])
def test_the_first_pod_over_quota(team: Team, policy: str | None) -> None:
    """Two pods in a quota of one: refused, with the sentence in the controller's event, or created
    and left at the gate, with the sentence in an event of the pod.
    """
    own_card = f"{team.prefix}-card"
    nodes = [a_node(f"{team.prefix}-{n}").with_cards(own_card, "8") for n in range(2)]
    with a_node_of(team, nodes[0]), a_node_of(team, nodes[1]):
        queues = {}
        for kind in (*WORKLOADS, BARE, UNKNOWN, OTHER_JOB):
            card = own_card if kind == "DaemonSet" else T1000
            name = kind.lower()
            queues[kind] = team.has_queue(team.a_queue({card: 1}, name).with_policy(policy), name)
        for kind, spec in WORKLOADS.items():
            card = own_card if kind == "DaemonSet" else T1000
            pod = team.a_pod(kind.lower(), 1, card, queue=kind.lower())
            if kind == "DaemonSet":
                # A pod on each of two nodes, and on no node without the card.
                pod = pod.on_nodes_labelled({"nvidia.com/gpu.product": own_card})
            if kind in WAIT:
                pod = pod.annotated("cardquota.dev/run-seconds", "3600")
            assert create(team, kind, pod, **spec).ok
        due_now(team, "cronjob")

        for kind in WORKLOADS:
            waits = policy == "Gate" or (policy is None and kind in WAIT)
            first_over_quota(team, kind, queues[kind], waits=waits)
        for kind, made in ((BARE, None), (UNKNOWN, of_a_notebook), (OTHER_JOB, of_a_job)):
            waits = policy == "Gate" or (policy is None and kind in WAIT)
            first, second = (team.a_pod(f"{kind}-{n}", 1, T1000, queue=kind) for n in range(2))
            if made is not None:
                first, second = made(first), made(second)
            assert team.create(first).ok
            team.until_bound(first.name)
            reply = team.create(second)
            assert reply.ok == waits
            if waits:
                told(team, reply.body, queues[kind])
            else:
                assert sentence(queues[kind]) in reply.message.replace(T1000, "card")


def first_over_quota(team: Team, kind: str, queue: str, *, waits: bool) -> None:
    """What became of a workload's second pod."""

    def pods() -> list[Object]:
        return [pod for pod in team.pods() if notes(pod)[v.QUEUE_NAME] == queue]

    def refused() -> list[str]:
        return [text for text in refusals(team) if f"Queue <{queue}>" in text]

    # A CronJob whose status its controller wrote after us has its pods in the next two minutes.
    seconds = 180.0 if kind == "CronJob" else 60.0
    what = f"the second pod of {kind}"
    team.until(lambda: len(pods()) == 2 or (not waits and refused()), what, seconds)
    team.until(lambda: any(let_through(pod) for pod in pods()), f"a pod of {kind} open")
    # One that is reviewed before the first was seen waits, whatever the policy (E2).
    if not waits and len(pods()) == 1:
        assert sentence(queue) in plain(team, refused()[0])
        return
    assert refused() == [], kind
    (waiting,) = [pod for pod in pods() if not let_through(pod)]
    told(team, waiting, queue)


def told(team: Team, pod: Object, queue: str) -> None:
    event = team.until_told(pod["metadata"]["name"], v.Reason.INSUFFICIENT_CARD)
    assert sentence(queue) in plain(team, event["message"])


def sentence(queue: str) -> str:
    return (
        f"Queue <{queue}> has insufficient <card> quota: "
        "requested <1>, total would be <2>, but capability is <1>"
    )


def plain(team: Team, text: str) -> str:
    return text.replace(T1000, "card").replace(f"{team.prefix}-card", "card")
