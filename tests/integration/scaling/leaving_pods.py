"""Pods that take their time to stop, how they are made to leave, and what must hold meanwhile."""

import json
from collections.abc import Iterable, Mapping

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ApiReply, Object, ask, metric
from integration.pod_watch import PodChanges, SeenChange
from integration.team import Team, notes, released
from integration.workload_bodies import path, workload

STOP = "cardquota.dev/stop-seconds"
_FINISHED = ("Succeeded", "Failed")


def stopping(spec: Object) -> Object:
    """The specification of such a pod, which is not ended without grace."""
    return {**spec, "terminationGracePeriodSeconds": 60}


def run(team: Team, kind: str, pod: PodBody, *, stops_in: int = 2, **spec: object) -> None:
    """A workload whose pods run until they are deleted, and take so many seconds to stop."""
    running = pod.annotated("cardquota.dev/run-seconds", "3600").annotated(STOP, str(stops_in))
    body = workload(team, kind, running, **spec)
    template = body["spec"]["template"]
    template["spec"] = stopping(template["spec"])
    assert (reply := ask(team.cluster, "POST", path(team, kind), body)).ok, reply


def start(team: Team, pod: PodBody, *, stops_in: int = 2) -> None:
    """A pod without a controller that takes so many seconds to stop."""
    body = team.wire(pod.annotated(STOP, str(stops_in)))
    body["spec"] = stopping(body["spec"])
    assert (reply := ask(team.cluster, "POST", team.path(pod), body)).ok, reply


def evict(team: Team, name: str) -> ApiReply:
    """As `kubectl drain` does it with each pod."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    target = f"/api/v1/namespaces/{team.namespace}/pods/{name}/eviction"
    return ask(team.cluster, "POST", target, body)


def cordon(team: Team, node: str, *, on: bool = True) -> None:
    """New pods find no place on it."""
    change = {"spec": {"unschedulable": on}}
    target = f"/api/v1/nodes/{node}"
    assert ask(team.cluster, "PATCH", target, change, content_type=MERGE).ok


def names(pods: Iterable[Object]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def uids(pods: Iterable[Object]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


def is_leaving(pod: Object) -> bool:
    return pod["metadata"].get("deletionTimestamp") is not None


def staying(team: Team) -> list[Object]:
    """Its pods that are not being deleted."""
    return [pod for pod in team.pods() if not is_leaving(pod)]


# --- what must hold -------------------------------------------------------------------------------


def held(pods: Iterable[Object], queue: str, card: str, *, bound: bool = False) -> int:
    """What pods hold of a card by what stands on them; `bound`: those of them that have a node."""
    return sum(
        json.loads(said.get(v.ALLOCATED, "{}")).get(card, 0)
        for pod in pods
        if (said := notes(pod)).get(v.CHARGED_QUEUE) == queue
        and released(pod)
        and pod.get("status", {}).get("phase") not in _FINISHED
        and (pod["spec"].get("nodeName") or not bound)
    )


def most_held(watch: PodChanges, queue: str, card: str) -> int:
    """The most that they held together at any time while they were watched, by the API server."""
    there: dict[str, Object] = {}
    most = 0
    for change in list(watch.seen):
        uid = change.object["metadata"]["uid"]
        if change.type == "DELETED":
            there.pop(uid, None)
        else:
            there[uid] = change.object
        most = max(most, held(there.values(), queue, card))
    return most


def gone(watch: PodChanges, uid: str) -> SeenChange:
    """The end of a pod."""
    return watch.first(
        lambda s: s.type == "DELETED" and s.object["metadata"]["uid"] == uid, f"{uid} is gone"
    )


def counts_exactly(team: Team, card: str, *, name: str = "q", **numbers: int) -> None:
    """Wait until a queue's row shows these numbers; they are those of a count of the API's pods,
    and no total of any queue differs from its recount (I2).
    """
    queue = team.queue_name(name)

    def exact() -> Mapping[str, int] | None:
        row, pods = team.row(card, name), team.pods()
        allocated = held(pods, queue, card, bound=True)
        counted = {"allocated": allocated, "inqueue": held(pods, queue, card) - allocated}
        shown = {key: int(row.get(key, 0)) for key in {*counted, *numbers}}
        return shown if shown == {**counted, **numbers} else None

    team.until(exact, f"{card} of {queue} is {numbers}, and what its pods hold")
    assert metric(team.cluster, "cardquota_ledger_drift") == 0


def nodes_of(team: Team) -> list[str]:
    """The nodes of its pods, one for each pod; those without a node left out."""
    nodes = (pod["spec"].get("nodeName") for pod in team.pods())
    return [name for name in nodes if name]
