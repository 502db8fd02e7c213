"""A team on the plane with the product: what it asks of the API server and what it is told.

Objects are those of `builders`; names of queues are the test's own, so that tests do not meet.
"""

import json
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from builders import Body, a_group, a_pod, a_queue
from builders.group import GroupBody
from builders.node import NodeBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from cardquota_dev.predicate import Predicate
from cardquota_dev.testing import Cluster, eventually

from .asking import MERGE, ApiReply, Object, ask, credentials
from .pod_watch import PodChanges

_GROUP = f"/apis/{v.API_GROUP}/{v.VERSION}"
QUEUES = f"{_GROUP}/queues"


def gates(pod: Object) -> list[str]:
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", ())]


def released(pod: Object) -> bool:
    """Its gate is open."""
    return v.GATE not in gates(pod)


def of_a_job(pod: PodBody) -> PodBody:
    """As a Job's controller makes it: it can wait (section 2). Runs until it is deleted.

    Of an API group that the plane does not have: it would end pods whose Job is not there.
    """
    owner = {
        "apiVersion": "example.com/v1",
        "kind": "Job",
        "name": "train",
        "uid": "train",
        "controller": True,
    }
    running = pod.annotated("cardquota.dev/run-seconds", "3600")
    return running.put([owner], "metadata", "ownerReferences")


def notes(thing: Object) -> dict[str, str]:
    return dict(thing["metadata"].get("annotations") or {})


@dataclass
class Team:
    """A namespace, and queues whose names begin with the test's own prefix."""

    cluster: Cluster
    namespace: str
    prefix: str
    _queues: set[str] = field(default_factory=set)

    # --- what it writes -------------------------------------------------------------------

    def queue_name(self, name: str = "q") -> str:
        return f"{self.prefix}-{name}"

    def a_queue(self, quota: Mapping[str, int], name: str = "q") -> QueueBody:
        return a_queue(self.queue_name(name)).with_quota(quota)

    def has_queue(self, queue: QueueBody | Mapping[str, int], name: str = "q") -> str:
        """Create a queue; its name."""
        body = queue if isinstance(queue, QueueBody) else self.a_queue(queue, name)
        assert (reply := self.create(body)).ok, reply
        return body.name

    def a_pod(
        self, name: str, cards: int = 0, card: str | None = None, queue: str = "q"
    ) -> PodBody:
        """A pod in a queue of ours, which names a card and asks for some."""
        body = a_pod(name).in_queue(self.queue_name(queue)).naming(card)
        return body.asking_for(cards) if cards else body

    def a_gang(self, name: str, members: int, queue: str = "q") -> GroupBody:
        return a_group(name).in_queue(self.queue_name(queue)).of(members)

    def create(self, thing: Body, *, dry: bool = False, as_user: str = "") -> ApiReply:
        path = self.path(thing) + ("?dryRun=All" if dry else "")
        return ask(self.cluster, "POST", path, self.wire(thing), as_user=as_user)

    def patch(self, thing: Body, change: Object, *, as_user: str = "", sub: str = "") -> ApiReply:
        """A merge patch of the object of that name."""
        path = f"{self.path(thing)}/{thing.name}{sub}"
        return ask(self.cluster, "PATCH", path, change, content_type=MERGE, as_user=as_user)

    def annotate(self, thing: Body, key: str, value: str | None, **options: Any) -> ApiReply:
        return self.patch(thing, {"metadata": {"annotations": {key: value}}}, **options)

    def delete(self, thing: Body, *, now: bool = True) -> ApiReply:
        tail = "?gracePeriodSeconds=0" if now else ""
        return ask(self.cluster, "DELETE", f"{self.path(thing)}/{thing.name}{tail}")

    def finish(self, pod: PodBody, phase: str) -> None:
        """Its containers have ended, as a kubelet would say. Not before kwok has said that they
        run: it says so once, whatever was said meanwhile.
        """
        self.until(lambda: self.pod(pod.name)["status"].get("phase") == "Running", "it runs")
        assert self.patch(pod, {"status": {"phase": phase}}, sub="/status").ok

    def set_quota(self, quota: Mapping[str, int] | str, name: str = "q") -> None:
        """Change a queue's quota; returns once the operator counts with it."""
        text = quota if isinstance(quota, str) else json.dumps(dict(quota))
        queue = a_queue(self.queue_name(name))
        assert (reply := self.annotate(queue, v.QUOTA, text)).ok, reply

    def mark(self, **metadata: Object) -> None:
        """Change labels or annotations of the namespace; the operator sees it a moment later."""
        path = f"/api/v1/namespaces/{self.namespace}"
        reply = ask(self.cluster, "PATCH", path, {"metadata": metadata}, content_type=MERGE)
        assert reply.ok, reply

    def set_mode(self, mode: str | None) -> None:
        """How strict the operator is in the namespace."""
        self.mark(labels={v.NAMESPACE_MODE: mode})

    def path(self, thing: Body) -> str:
        match thing:
            case PodBody():
                return f"/api/v1/namespaces/{self.namespace}/pods"
            case QueueBody():
                return QUEUES
            case GroupBody():
                return f"{_GROUP}/namespaces/{self.namespace}/podgroups"
            case NodeBody():
                return "/api/v1/nodes"
        raise TypeError(thing)

    def wire(self, thing: Body) -> Object:
        """As it is sent: what the API server itself decides is left out."""
        meta = {
            key: value
            for key, value in thing.body["metadata"].items()
            if key not in ("uid", "resourceVersion", "creationTimestamp")
        }
        found = {**thing.body, "metadata": meta}
        if isinstance(thing, PodBody):
            meta["namespace"] = self.namespace
            spec = dict(found.get("spec", {}))
            plain = [{"name": "main"}]
            spec["containers"] = [{"image": "i", **c} for c in spec.get("containers", plain)]
            spec["terminationGracePeriodSeconds"] = 0
            return {"apiVersion": "v1", "kind": "Pod", **found, "spec": spec}
        if isinstance(thing, NodeBody):
            return {"apiVersion": "v1", "kind": "Node", **found}
        kind = "Queue" if isinstance(thing, QueueBody) else "PodGroup"
        if kind == "PodGroup":
            meta["namespace"] = self.namespace
        return {"apiVersion": f"{v.API_GROUP}/{v.VERSION}", "kind": kind, "spec": {}, **found}

    def refused(self, thing: Body, *, tenant: bool = True) -> tuple[str, str]:
        """Create it with kubectl, as a person would; reason and text of the refusal."""
        done = self.cluster.kubectl(
            "create", "-f", "-", input=json.dumps(self.wire(thing)), tenant=tenant
        )
        assert done.returncode == 1, f"admitted: {done.stdout}{done.stderr}"
        found = re.match(r"Error from server \((\w+)\): .*?denied the request: (.*)", done.stderr)
        assert found, done.stderr
        return found[1], found[2]

    # --- what it sees ---------------------------------------------------------------------

    def get(self, thing: Body) -> Object:
        return ask(self.cluster, "GET", f"{self.path(thing)}/{thing.name}").body

    def pod(self, name: str) -> Object:
        return self.get(a_pod(name))

    def pods(self) -> list[Object]:
        return list(ask(self.cluster, "GET", self.path(a_pod())).body["items"])

    def queue(self, name: str = "q") -> Object:
        return self.get(a_queue(self.queue_name(name)))

    def status(self, name: str = "q") -> Object:
        return dict(self.queue(name).get("status") or {})

    def row(self, card: str, name: str = "q") -> Object:
        """The numbers of one card in the queue's status; empty while there are none."""
        rows = self.status(name).get("cards", ())
        return next((dict(row) for row in rows if row["name"] == card), {})

    def condition(self, kind: str, name: str = "q") -> Object:
        """A condition of the queue; one of status "" while there is none."""
        found = self.status(name).get("conditions", ())
        return next((dict(c) for c in found if c["type"] == kind), {"status": "", "message": ""})

    def events(self, name: str, reason: str = "") -> list[Object]:
        """Events on an object of that name, of the operator's own making, oldest first."""
        field_selector = urllib.parse.quote(f"involvedObject.name={name}")
        path = f"/api/v1/namespaces/{self.namespace}/events?fieldSelector={field_selector}"
        found = ask(self.cluster, "GET", path).body["items"]
        return [
            event
            for event in found
            if event.get("reportingComponent") == "cardquota" and reason in ("", event["reason"])
        ]

    def changes(self, thing: Body, since: str, seconds: int) -> list[str]:
        """What happens to one object within the seconds after a resourceVersion."""
        query = f"watch=true&resourceVersion={since}&timeoutSeconds={seconds}"
        url = f"{self.path(thing)}?{query}&fieldSelector=metadata.name={thing.name}"
        answer = self.cluster.admin.rest_client.pool_manager.request(
            "GET",
            self.cluster.admin.configuration.host + url,
            headers=credentials(self.cluster),
            timeout=30.0,
        )
        assert answer.status == 200
        return list(answer.data.decode().splitlines())

    def until(self, condition: Predicate[Any], what: str, seconds: float = 60.0) -> Any:
        return eventually(condition, what, seconds)

    def until_open(self, *names: str) -> None:
        for name in names:
            self.until(lambda n=name: released(self.pod(n)), f"gate of {name} open")

    def until_bound(self, *names: str) -> None:
        for name in names:
            self.until(lambda n=name: self.pod(n)["spec"].get("nodeName"), f"{name} bound")

    def until_row(self, card: str, name: str = "q", **numbers: int | str) -> None:
        """Wait until the queue's status shows these numbers."""

        def shown() -> bool:
            row = self.row(card, name)
            return all(row.get(key) == value for key, value in numbers.items())

        self.until(shown, f"{card} {numbers}")

    def until_told(self, name: str, reason: str) -> Object:
        """The operator's event on an object, once it is there."""
        found = self.until(lambda: self.events(name, reason), f"event {reason} on {name}")
        return dict(found[0])

    @contextmanager
    def watching(self, thing: Body | None = None) -> Iterator[PodChanges]:
        """A watch of the team's pods, or of whatever `thing` is one of, from now on."""
        watch = PodChanges(self.cluster, self.path(thing or a_pod()))
        watch.start()
        try:
            yield watch
        finally:
            watch.stop()


def bugs_logged(cluster: Cluster) -> list[str]:
    """Lines of the product's logs that speak of a bug; every line is one JSON object."""
    assert cluster.folder is not None
    return [
        line
        for log in sorted(cluster.folder.path.glob("logs/cardquota-*.log"))
        for line in log.read_text().splitlines()
        if "Traceback" in line or "this is a bug" in line or not json.loads(line)["message"]
    ]
