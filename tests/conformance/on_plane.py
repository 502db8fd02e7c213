"""The table asked of a real API server with the product.

The objects that all cases are given are created together, then each case plays in a namespace of
its own, some of them at once. What is waited for is what the table, or else the simulation, says;
what is there when the time is over is what was found.
"""

import json
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cardquota.quota import messages
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, Object, Reply, ask

from .case import Case, Expected, Stage, Thing
from .comparing import differences_in
from .found import ADMITTED, DENIED, GATED, LET_BY, Found, PodFound, pod_found
from .patterns import says
from .short_forms import CASE_LABEL, SHARED_NAMESPACE

PATIENCE = 15.0
"""Seconds in which a case has become what it is going to be. After 10, a pod whose group or gang is
not complete is told so.
"""
_EVERY = 0.2
"""Seconds between two looks at a case. Many play at once: to ask takes time from the plane."""
_VOLCANO = f"/apis/{v.GROUP}/{v.VERSION}"
_QUEUES = f"{_VOLCANO}/queues"
_KINDS = {
    "node": "/api/v1/nodes",
    "namespace": "/api/v1/namespaces",
    "queue": _QUEUES,
    "group": f"{_VOLCANO}/namespaces/%s/podgroups",
    "pod": "/api/v1/namespaces/%s/pods",
    "deployment": "/apis/apps/v1/namespaces/%s/deployments",
    "statefulset": "/apis/apps/v1/namespaces/%s/statefulsets",
    "daemonset": "/apis/apps/v1/namespaces/%s/daemonsets",
    "job": "/apis/batch/v1/namespaces/%s/jobs",
}
_DENIED = "denied the request: "
_AT_ONCE = "propagationPolicy=Background"
_CONTROLLED = ("deployment", "statefulset", "daemonset", "job")


@dataclass
class OnPlane:
    """One case on the plane."""

    cluster: Cluster
    case: Case
    replies: dict[str, Reply] = field(default_factory=dict)
    """What the API server said to each bare pod and each queue."""
    controlled: dict[str, str] = field(default_factory=dict)
    """Workloads, by name: their namespace."""

    # --- what is given --------------------------------------------------------------------

    @property
    def namespaces(self) -> list[str]:
        return [self.case.namespace, *(thing.name for thing in self.case.objects("namespace"))]

    def give(self) -> None:
        """Create all that the pods of the case need. Returns before it is usable."""
        for kind in ("namespace", "node", "queue"):
            for thing in self.case.objects(kind):
                reply = self.replies[thing.name] = self._create(thing)
                assert reply.ok or "refused" in (thing.expect or {}), reply

    def until_given(self, seen: Found) -> None:
        """Returns once the product counts with what was given, as the simulation does."""
        for thing in self.case.objects("node"):
            path = f"/api/v1/nodes/{thing.name}"
            self._until(lambda p=path: _usable(self._get(p)), f"{path} usable")
        for name in self.namespaces:
            path = f"/api/v1/namespaces/{name}/serviceaccounts"
            self._until(lambda p=path: self._get(p)["items"], f"a service account in {name}")
        for name in seen.rows:
            self._until(lambda n=name: self._rows(n) == seen.rows[n], f"{name}: {seen.rows[name]}")
        for thing in self.case.objects("group"):
            self._must(self._create(thing))
            path = f"{self._path(thing)}/{thing.name}"
            self._until(lambda p=path: self._get(p).get("status"), f"{path} seen")

    def take_away(self) -> None:
        """Leave nothing behind but namespaces that are going."""
        mine = f"labelSelector={CASE_LABEL}={self.case.prefix}"
        for name in dict.fromkeys(self.namespaces):
            kinds = _CONTROLLED if self.controlled else ()
            for kind in (*kinds, "pod", "group"):
                path = _KINDS[kind] % name
                self._ask("DELETE", f"{path}?{mine}&gracePeriodSeconds=0&{_AT_ONCE}")
            if name != SHARED_NAMESPACE:
                self._ask("DELETE", f"/api/v1/namespaces/{name}")
        for thing in self.case.objects("node"):
            self._ask("DELETE", f"/api/v1/nodes/{thing.name}")
        for thing in self.case.objects("queue"):
            path = f"{_QUEUES}/{thing.name}"
            self._until(lambda p=path: self._ask("DELETE", p).code in (200, 404), f"{path} gone")

    # --- what happens ---------------------------------------------------------------------

    def play(self, simulated: Found) -> tuple[Found, list[str]]:
        """What the first stage came to, and how the later ones differ from the table."""
        first, *later = self.case.stages
        self._enter(first)
        self._wait(lambda: self._settled(first, simulated))
        found = self._found(first, simulated)
        wrong = self._stored_wrong(first)
        for number, stage in enumerate(later, start=1):
            wrong += [f"then {number}: {text}" for text in self._change(stage)]
        return found, wrong

    def _enter(self, stage: Stage) -> None:
        for thing in stage.things:
            if thing.kind == "queue":
                self._alter(thing)
                continue
            reply = self._create(thing)
            if thing.kind == "pod":
                self.replies[thing.name] = reply
                self._let_settle(thing)
            else:
                self._must(reply)
                self.controlled[thing.name] = thing.namespace
                self._wait(lambda t=thing: not self._pods_wrong({t.name: t.pods}))

    def _let_settle(self, thing: Thing) -> None:
        """The simulation creates a pod when all is said about the one before; a member waits for
        the others of its gang.
        """
        answers = {one.answer for one in thing.pods}
        if "group" not in thing.row and answers & {ADMITTED, LET_BY}:
            self._wait(lambda: not self._pods_wrong({thing.name: thing.pods}))

    def _change(self, stage: Stage) -> list[str]:
        wrong: list[str] = []
        for row in stage.deletes:
            wrong += self._delete(row)
        self._enter(stage)

        def told() -> list[str]:
            found = Found(rows={queue: self._rows(queue) for queue in stage.rows})
            found.pods = {name: self._pods(name) for name in stage.pods}
            return [*differences_in(stage, found), *self._stored_wrong(stage)]

        self._wait(lambda: not told())
        return [*wrong, *told()]

    def _alter(self, thing: Thing) -> None:
        keys = {"annotations": thing.body["metadata"]["annotations"]}
        change = {"metadata": keys, "spec": thing.body["spec"]}
        reply = self._ask("PATCH", f"{_QUEUES}/{thing.name}", change, content_type=MERGE)
        expected = (thing.expect or {}).get("refused", "")
        assert says(_sentence(reply, thing), expected), reply

    def _delete(self, row: Mapping[str, Any]) -> list[str]:
        what = row["delete"]
        kind, name = ("pod", what) if isinstance(what, str) else next(iter(what.items()))
        path = _KINDS[kind]
        path = path % self.case.namespace if "%s" in path else path
        reply = self._ask("DELETE", f"{path}/{name}?gracePeriodSeconds=0")
        said = "" if reply.ok else reply.message.partition(_DENIED)[2]
        expected = row.get("expect", {}).get("refused", "")
        return [] if says(said, expected) else [f"delete {name}: {said or reply}"]

    # --- what is there --------------------------------------------------------------------

    def _settled(self, stage: Stage, simulated: Found) -> bool:
        rows = all(self._rows(name) == rows for name, rows in simulated.rows.items())
        told = all(self._told(name) for name in simulated.not_counted)
        return rows and told and not self._pods_wrong(stage.pods)

    def _found(self, stage: Stage, simulated: Found) -> Found:
        queues = self.case.objects("queue")
        said = {thing.name: _sentence(self.replies[thing.name], thing) for thing in queues}
        return Found(
            pods={name: self._pods(name) for name in stage.pods},
            refused={name: text for name, text in said.items() if text},
            not_counted={
                thing.name: text
                for thing in self.case.objects("node")
                if (text := self._told(thing.name))
            },
            rows={name: self._rows(name) for name in simulated.rows},
        )

    def _pods_wrong(self, expected: Mapping[str, list[Expected]]) -> list[str]:
        stage = Stage((), (), expected, {}, {})
        found = Found(pods={name: self._pods(name) for name in expected})
        return differences_in(stage, found)

    def _pods(self, name: str) -> list[PodFound]:
        if name in self.controlled:
            return sorted(self._pods_of_controller(name))
        reply = self.replies[name]
        if not reply.ok:
            return [_denied(reply)]
        namespace = reply.body["metadata"]["namespace"]
        return [self._pod(self._get(f"{_KINDS['pod'] % namespace}/{name}"), reply.warnings)]

    def _pods_of_controller(self, name: str) -> Iterable[PodFound]:
        namespace = self.controlled[name]
        listed = self._get(_KINDS["pod"] % namespace)["items"]
        for pod in listed:
            if any(owner["name"].startswith(name) for owner in _owners(pod)):
                yield self._pod(pod, ())
        events = self._events(namespace, "reason=FailedCreate")
        texts = {
            event["message"].partition(_DENIED)[2]
            for event in events
            if event["involvedObject"]["name"].startswith(name)
        }
        for text in sorted(texts):
            yield pod_found(DENIED, text=text)

    def _pod(self, pod: Object, warnings: tuple[str, ...]) -> PodFound:
        spec, notes = pod["spec"], pod["metadata"].get("annotations") or {}
        node = spec.get("nodeName", "")
        if v.GATE in [gate["name"] for gate in spec.get("schedulingGates", ())]:
            told = self._last_word(pod)
            return pod_found(GATED, reason=told[0], text=told[1], warnings=warnings)
        if v.ALLOCATED not in notes:
            return pod_found(LET_BY, node=node, warnings=warnings)
        cards = json.loads(notes[v.ALLOCATED])
        return pod_found(ADMITTED, cards=cards, node=node, warnings=warnings)

    def _last_word(self, pod: Object) -> tuple[str, str]:
        """Reason and text of the latest event on a pod or, of a gang, on its group."""
        meta = pod["metadata"]
        group = (meta.get("annotations") or {}).get(v.GROUP_NAME)
        events = self._events(meta["namespace"], f"involvedObject.name={meta['name']}")
        if group is not None:
            events += self._events(meta["namespace"], f"involvedObject.name={group}")
        ours = [e for e in events if e.get("reportingComponent") == v.FIELD_MANAGER]
        ours.sort(key=lambda e: e.get("eventTime") or e.get("lastTimestamp") or "")
        return (ours[-1]["reason"], ours[-1]["message"]) if ours else ("", "")

    def _told(self, node: str) -> str:
        """What the product says is wrong with a node."""
        for event in self._events("default", f"involvedObject.name={node}"):
            if event["reason"] == v.NOT_COUNTED:
                start, end = messages.not_counted(node, ["|"]).split("|")
                return event["message"].removeprefix(start).removesuffix(end)
        return ""

    def _stored_wrong(self, stage: Stage) -> list[str]:
        """What only a cluster keeps: the pods' affinity, and conditions of the queues."""
        told = []
        for name, (one, *_) in stage.pods.items():
            if one.affinity is not None:
                pod = self._get(f"{_KINDS['pod'] % self.case.namespace}/{name}")
                if (found := _terms(pod)) != one.affinity:
                    told.append(f"{name}: its affinity is {found}")
        for queue, expected in stage.conditions.items():
            conditions = self._get(f"{_QUEUES}/{queue}").get("status", {}).get("conditions", ())
            there = {one["type"]: one for one in conditions}
            for kind, text in expected.items():
                one = there.get(kind, {})
                right = one.get("status") == ("True" if text is not False else "False")
                if not right or (isinstance(text, str) and not says(one["message"], text)):
                    told.append(f"queue {queue}: {kind} is {one}")
        return told

    def _rows(self, queue: str) -> Object:
        status = self._get(f"{_QUEUES}/{queue}").get("status") or {}
        return {
            "cards": [{"resource": None, **row} for row in status.get("cards", ())],
            "resources": [{"quota": None, **row} for row in status.get("resources", ())],
        }

    def _events(self, namespace: str, field_selector: str) -> list[Object]:
        query = urllib.parse.urlencode({"fieldSelector": field_selector})
        return list(self._get(f"/api/v1/namespaces/{namespace}/events?{query}")["items"])

    # --- requests -------------------------------------------------------------------------

    def _until(self, condition: Callable[[], Any], what: str, seconds: float = 30.0) -> None:
        eventually(condition, what, seconds, every=_EVERY)

    def _wait(self, condition: Callable[[], bool]) -> None:
        """Until the condition holds or the time is over: what is there then is judged later."""
        with suppress(AssertionError):
            self._until(condition, "as the table says", PATIENCE)

    def _create(self, thing: Thing) -> Reply:
        return self._create_body(thing.kind, thing.body)

    def _create_body(self, kind: str, thing: Object) -> Reply:
        path = _KINDS[kind]
        namespace = thing["metadata"].get("namespace")
        return self._ask("POST", path % namespace if namespace else path, thing)

    def _path(self, thing: Thing) -> str:
        path = _KINDS[thing.kind]
        return path % thing.namespace if thing.namespace else path

    def _must(self, reply: Reply) -> None:
        assert reply.ok, reply

    def _get(self, path: str) -> Object:
        return self._ask("GET", path).body

    def _ask(self, method: str, path: str, thing: object = None, **options: Any) -> Reply:
        return ask(self.cluster, method, path, thing, **options)


def _usable(node: Object) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and not node["spec"].get("taints")


def _owners(thing: Object) -> list[Object]:
    return [one for one in thing["metadata"].get("ownerReferences", ()) if one.get("controller")]


def _denied(reply: Reply) -> PodFound:
    text = reply.message.partition(_DENIED)[2] or reply.message
    return pod_found(DENIED, reason=reply.reason, text=text, warnings=reply.warnings)


def _sentence(reply: Reply, queue: Thing) -> str:
    """Why a queue was refused, without its name in front; empty: it was not.

    What the schema refuses already has words of its own, and never comes to us: those that we
    should have for it count as said.
    """
    if reply.ok:
        return ""
    if _DENIED not in reply.message and "schema" in (queue.expect or {}):
        said = says(reply.message, queue.expect["schema"])
        return str(queue.expect["refused"]) if said else reply.message
    return reply.message.partition(_DENIED)[2].removeprefix(f"Queue <{queue.name}>: ")


def _terms(pod: Object) -> list[list[Object]]:
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    return [term["matchExpressions"] for term in required.get("nodeSelectorTerms", ())]
