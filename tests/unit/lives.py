"""A small cluster whose things live and die, told to a ledger as its own watches would."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from builders import H200, a_group, a_namespace, a_node, a_pod, a_queue
from builders.body import Body
from builders.pod import PodBody
from cardquota.cluster.watch import ChangeNotifier, Delivery, watched_kinds
from cardquota.quota import Stamp
from cardquota.quota.ledger import Ledger


class Feed:
    """The product's own watches, without the API server: raw objects into `Delivery`."""

    def __init__(self, ledger: Ledger) -> None:
        self.notifier = ChangeNotifier()
        self.kinds = {w.kind: w for w in watched_kinds(ledger, self.notifier)}
        self.deliveries: dict[str, Delivery[Any]] = {
            kind: w.delivery() for kind, w in self.kinds.items()
        }
        self._revision = 10

    def changed(self, kind: str, body: Mapping[str, Any]) -> None:
        self.deliveries[kind].changed(self._raw(body))

    def deleted(self, kind: str, body: Mapping[str, Any]) -> None:
        self.deliveries[kind].deleted(self._raw(body))

    def _raw(self, body: Mapping[str, Any]) -> msgspec.Raw:
        self._revision += 1
        metadata = {**body["metadata"], "resourceVersion": str(self._revision)}
        return msgspec.Raw(json.dumps({**body, "metadata": metadata}).encode())


def a_class(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "value": 100}


def _pods(team: str, number: int, count: int, *, members: int) -> list[PodBody]:
    """At the gate, the first ones as `members` of a gang."""
    return [
        a_pod(f"p{index}")
        .in_namespace(team)
        .with_uid(f"pod-{number}-{index}")
        .in_group("gang" if index < members else None)
        .asking_for(1)
        .gated()
        for index in range(count)
    ]


def a_life_of_everything(feed: Feed, number: int, release: Callable[[str], None]) -> None:
    """A team comes with all it has, works, and goes; the order of the ends changes."""
    team, queue, node, urgent = (f"{what}-{number}" for what in ("team", "queue", "node", "class"))
    things: list[tuple[str, Body]] = [
        ("namespaces", a_namespace(team).with_default_queue(queue).in_mode("enforced")),
        ("queues", a_queue(queue).with_quota({H200: 4}).with_uid(f"{queue}-uid")),
        ("nodes", a_node(node).with_cards(H200, 8)),
        (
            "podgroups",
            a_group("gang")
            .in_namespace(team)
            .with_uid(f"gang-{number}")
            .in_queue(queue)
            .of(2)
            .put(urgent, "spec", "priorityClassName"),
        ),
    ]
    feed.changed("priorityclasses", a_class(urgent))
    for kind, body in things:
        feed.changed(kind, body.body)
    feed.changed("nodes", things[2][1].labelled("nvidia.com/gpu.memory", "odd").body)
    pods = [pod.with_cpu("1") for pod in _pods(team, number, 5, members=3)]
    for pod in pods:
        feed.changed("pods", pod.body)
    for pod in pods[:3]:
        release(pod.uid)
        stamped = pod.stamped(queue, {H200: 1})
        feed.changed("pods", stamped.body)
        feed.changed("pods", stamped.on_node(node).body)
    feed.changed("pods", pods[3].on_node(node).body)
    feed.changed("pods", pods[4].on_node(f"{node}-that-never-comes").body)
    feed.changed("pods", pods[0].on_node(node).in_phase("Succeeded").body)
    feed.changed("pods", pods[1].on_node(node).in_phase("Failed").body)
    if number % 100 == 0:
        feed.changed("pods", {"metadata": a_pod("bad").body["metadata"], "spec": 7})
        feed.deleted("pods", a_pod("bad").body)
    ends = [("pods", pod.body) for pod in pods] + [(kind, body.body) for kind, body in things]
    ends.append(("priorityclasses", a_class(urgent)))
    turn = number % len(ends)
    for kind, end in (*ends[turn:], *ends[:turn]):
        feed.deleted(kind, end)


def through_the_gate(ledger: Ledger, number: int) -> Callable[[str], None]:
    """Charged as the releaser does, and then confirmed, refused, or never heard of."""

    def release(uid: str) -> None:
        account = ledger.pods[uid].queue
        stamp = Stamp(account, ((H200, 1),), "term")
        ledger.decisions.assume(uid, stamp)
        if number % 3 == 0:
            ledger.decisions.confirm(uid, stamp, 10**9)
        elif number % 3 == 1:
            ledger.decisions.retract(uid, stamp, back_off=True)

    return release


def a_team_at_the_gate(number: int) -> list[tuple[str, Body]]:
    """A gang that fits, pods that fit beside it, and pods that do not."""
    team, queue = f"team-{number}", f"queue-{number}"
    pods = [pod.in_queue(queue) for pod in _pods(team, number, 6, members=2)]
    return [
        ("queues", a_queue(queue).with_quota({H200: 4}).with_policy("Gate")),
        ("podgroups", a_group("gang").in_namespace(team).with_uid(team).in_queue(queue).of(2)),
        *(("pods", pod) for pod in pods),
    ]
