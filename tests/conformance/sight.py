"""What is there on the plane: pods, queues and nodes, in the terms of the table."""

import json
import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cardquota.quota import vocabulary as v
from cardquota.quota.messages import report_messages
from cardquota_dev.testing import Cluster
from integration.asking import ApiReply, Object, ask

from .case import CaseStage, Thing
from .found import ADMITTED, DENIED, GATED, UNMANAGED, PodFound, pod_found
from .patterns import says
from .questions import question

_VOLCANO = f"/apis/{v.API_GROUP}/{v.VERSION}"
QUEUES = f"{_VOLCANO}/queues"
KINDS = {
    "node": "/api/v1/nodes",
    "namespace": "/api/v1/namespaces",
    "queue": QUEUES,
    "group": f"{_VOLCANO}/namespaces/%s/podgroups",
    "pod": "/api/v1/namespaces/%s/pods",
    "deployment": "/apis/apps/v1/namespaces/%s/deployments",
    "statefulset": "/apis/apps/v1/namespaces/%s/statefulsets",
    "daemonset": "/apis/apps/v1/namespaces/%s/daemonsets",
    "job": "/apis/batch/v1/namespaces/%s/jobs",
}
_DENIED = "denied the request: "
_PLACE = re.compile(r"; (number <\d+> of|more than) <\d+> (that )?wait in Queue <[^>]*>.*$")


@dataclass
class Sight:
    """Looks at the objects of one case."""

    cluster: Cluster
    replies: dict[str, ApiReply] = field(default_factory=dict)
    """What the API server said to each bare pod, queue and pod group, by name."""
    controlled: dict[str, str] = field(default_factory=dict)
    """Workloads, by name: their namespace."""

    def get(self, path: str) -> Object:
        return ask(self.cluster, "GET", path).body

    def pods(self, name: str) -> list[PodFound]:
        if name in self.controlled:
            return sorted(self._pods_of_controller(name))
        reply = self.replies[name]
        if not reply.ok:
            return [_denied(reply)]
        namespace = reply.body["metadata"]["namespace"]
        return [self._pod(self.get(f"{KINDS['pod'] % namespace}/{name}"), reply.warnings)]

    def _pods_of_controller(self, name: str) -> Iterator[PodFound]:
        namespace = self.controlled[name]
        listed = self.get(KINDS["pod"] % namespace)["items"]
        for pod in listed:
            if any(owner["name"].startswith(name) for owner in _owners(pod)):
                yield self._pod(pod, ())
        events = self._events(namespace, "reason=FailedCreate")
        yield from {
            pod_found(DENIED, text=event["message"].partition(_DENIED)[2])
            for event in events
            if event["involvedObject"]["name"].startswith(name)
        }

    def _pod(self, pod: Object, warnings: tuple[str, ...]) -> PodFound:
        spec, notes = pod["spec"], pod["metadata"].get("annotations") or {}
        node = spec.get("nodeName", "")
        if v.GATE in [gate["name"] for gate in spec.get("schedulingGates", ())]:
            told = self._last_word(pod)
            return pod_found(GATED, reason=told[0], text=told[1], warnings=warnings)
        if v.ALLOCATED not in notes:
            return pod_found(UNMANAGED, node=node, warnings=warnings)
        cards = json.loads(notes[v.ALLOCATED])
        return pod_found(ADMITTED, cards=cards, node=node, warnings=warnings)

    def _last_word(self, pod: Object) -> tuple[str, str]:
        """Reason and text of the latest event on a pod or, of a gang, on its group. Without its
        place in the order: the simulation says nothing of that, and others come and go.
        """
        meta = pod["metadata"]
        group = (meta.get("annotations") or {}).get(v.GROUP_NAME)
        events = self._events(meta["namespace"], f"involvedObject.name={meta['name']}")
        if group is not None:
            events += self._events(meta["namespace"], f"involvedObject.name={group}")
        ours = [e for e in events if e.get("reportingComponent") == v.FIELD_MANAGER]
        # Their times are whole seconds: two of one second would be told apart by chance.
        ours.sort(key=lambda e: int(e["metadata"]["resourceVersion"]))
        return (ours[-1]["reason"], _PLACE.sub("", ours[-1]["message"])) if ours else ("", "")

    def told(self, node: str) -> str:
        """What the product says is wrong with a node."""
        for event in self._events("default", f"involvedObject.name={node}"):
            if event["reason"] == v.NOT_COUNTED:
                for others in (True, False):
                    start, end = report_messages.not_counted(node, ["|"], others=others).split("|")
                    if event["message"].startswith(start):
                        return str(event["message"]).removeprefix(start).removesuffix(end)
        return ""

    def stored_wrong(self, stage: CaseStage, namespace: str) -> list[str]:
        """What only a cluster keeps: the pods' affinity, and conditions of the queues."""
        told = []
        for name, (one, *_) in stage.pods.items():
            if one.affinity is not None:
                pod = self.get(f"{KINDS['pod'] % namespace}/{name}")
                if (found := _terms(pod)) != one.affinity:
                    told.append(f"{name}: its affinity is {found}")
        for queue, expected in stage.conditions.items():
            conditions = self.get(f"{QUEUES}/{queue}").get("status", {}).get("conditions", ())
            there = {one["type"]: one for one in conditions}
            for kind, text in expected.items():
                one = there.get(kind, {})
                right = one.get("status") == ("True" if text is not False else "False")
                if not right or (isinstance(text, str) and not says(one["message"], text)):
                    told.append(f"queue {queue}: {kind} is {one}")
        return told

    def rows(self, queue: str) -> Object:
        """What it counts now."""
        status = self.get(f"{QUEUES}/{queue}").get("status") or {}
        return {kind: list(status.get(kind, ())) for kind in ("cards", "resources")}

    def _events(self, namespace: str, field_selector: str) -> list[Object]:
        query = urllib.parse.urlencode({"fieldSelector": field_selector})
        return list(self.get(f"/api/v1/namespaces/{namespace}/events?{query}")["items"])

    def answers(self, stage: CaseStage, namespace: str) -> dict[str, dict[str, Any]]:
        """What is said to whoever asks the operator what the table asks."""
        return {
            kind: {name: self._answer(kind, name, namespace) for name in expected}
            for kind, expected in stage.answers.items()
        }

    def _answer(self, kind: str, name: str, namespace: str) -> Object:
        body = question(kind, name)
        where = "" if kind == "queue" else f"/namespaces/{namespace}"
        path = f"/apis/{body['apiVersion']}{where}/{body['kind'].lower()}s?dryRun=All"
        reply = ask(self.cluster, "POST", path, body)
        status = reply.body.get("status")
        return status if reply.ok and isinstance(status, dict) else {"message": reply.message}


def usable(node: Object) -> bool:
    """Whether pods can be bound to a node."""
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and not node["spec"].get("taints")


def _owners(thing: Object) -> list[Object]:
    return [one for one in thing["metadata"].get("ownerReferences", ()) if one.get("controller")]


def _denied(reply: ApiReply) -> PodFound:
    return pod_found(DENIED, reason=reply.reason, text=refusal(reply), warnings=reply.warnings)


def refusal(reply: ApiReply) -> str:
    """The sentence of a refusal; empty: there was none."""
    return "" if reply.ok else reply.message.partition(_DENIED)[2] or reply.message


def sentence(reply: ApiReply, queue: Thing) -> str:
    """Why a queue or pod group was refused, without its name in front; empty: it was not.

    What the schema refuses already has words of its own, and never comes to us: those that we
    should have for it count as said.
    """
    if reply.ok:
        return ""
    if _DENIED not in reply.message and "schema" in (queue.expect or {}):
        said = says(reply.message, queue.expect["schema"])
        return str(queue.expect["refused"]) if said else reply.message
    return refusal(reply).removeprefix(f"Queue <{queue.name}>: ")


def _terms(pod: Object) -> list[list[Object]]:
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    return [term["matchExpressions"] for term in required.get("nodeSelectorTerms", ())]
