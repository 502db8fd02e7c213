"""A stand-in for the controllers of the tools: it makes what they make, and tries again as they do.

It shares no code with them. What it does was read in the sources that the table names. Jobs,
Deployments and StatefulSets it only writes: their real controllers are there and make the pods. It
leaves out `schedulerName: volcano`, which some write with their groups: Volcano is not here.
"""

import json
from typing import Any

from cardquota.quota import vocabulary as v
from integration.asking import ApiReply, Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team

from .tool_case import Again, ToolCase, ToolStep

GPU = "nvidia.com/gpu"
_GROUP_VERSION = f"{v.API_GROUP}/{v.VERSION}"
_RUN_LONG = {"cardquota.dev/run-seconds": "3600"}


class ToolStandIn:
    """Plays one row of the table in a namespace."""

    def __init__(self, team: Team, case: ToolCase) -> None:
        self._team = team
        self._case = case
        self._made: dict[str, Object] = {}
        self.refusals: list[ApiReply] = []
        """Of pods, one for each try."""
        self.failed = False
        """It has given up, as its tool does after such a refusal."""

    def turn(self) -> bool:
        """One turn of its loop: make what is missing, as far as it may be made; whether all was.

        It ends at the first refusal, as controllers do that return an error.
        """
        for number, step in enumerate(self._case.steps):
            key = f"{number} {step.name}"
            if key in self._made:
                continue
            if self.failed or not self._may(step):
                return False
            reply = self._write(step)
            if reply.code == 409:
                reply = ask(self._team.cluster, "GET", f"{self._path(step)}/{step.name}")
            if not reply.ok:
                assert step.kind == "pod", (step, reply)
                self.refusals.append(reply)
                self.failed = not tries_again(self._case.again, reply)
                return False
            self._made[key] = reply.body
        return True

    def _may(self, step: ToolStep) -> bool:
        """Whether its time has come."""
        match step.once.split():
            case []:
                return True
            case ["group", name, "is", "enqueued"]:
                group = ask(self._team.cluster, "GET", f"{self._groups()}/{name}").body
                return bool(group.get("status", {}).get("phase", "Pending") != "Pending")
            case [name, "exists"]:
                return bool(self._pods_of(name))
            case [name, "runs"]:
                found = self._pods_of(name)
                return bool(found) and all(p["status"].get("phase") == "Running" for p in found)
        raise ValueError(step.once)

    def _pods_of(self, name: str) -> list[Object]:
        """The pod of that name, or those of a Job of that name."""
        pods = self._team.pods()
        return [
            pod
            for pod in pods
            if pod["metadata"]["name"] == name
            or pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == name
        ]

    def _write(self, step: ToolStep) -> ApiReply:
        return ask(self._team.cluster, "POST", self._path(step), self._object(step))

    def _path(self, step: ToolStep) -> str:
        if step.kind == "pod":
            return f"/api/v1/namespaces/{self._team.namespace}/pods"
        if step.kind == "group":
            return self._groups()
        return f"/apis/{step.api_version}/namespaces/{self._team.namespace}/{step.kind.lower()}s"

    def _groups(self) -> str:
        return f"/apis/{_GROUP_VERSION}/namespaces/{self._team.namespace}/podgroups"

    def _object(self, step: ToolStep) -> Object:
        metadata: Object = {"name": step.name, "labels": step.labels}
        if step.owner:
            metadata["ownerReferences"] = [self._owner(step)]
        match step.kind:
            case "pod":
                return self._pod(step, metadata, restart="Never")
            case "group":
                return self._group(step, metadata)
            case "Job":
                spec: Object = {
                    "parallelism": step.pods,
                    "completions": step.pods,
                    "template": self._template(step, restart="Never"),
                }
            case "StatefulSet" | "Deployment":
                labels = {"app": step.name}
                spec = {
                    "replicas": step.pods,
                    "selector": {"matchLabels": labels},
                    "template": self._template(step, restart="Always", labels=labels),
                }
                if step.kind == "StatefulSet":
                    spec |= {
                        "serviceName": step.name,
                        "podManagementPolicy": "Parallel",
                        "ordinals": {"start": step.first},
                    }
            case _:
                spec = step.spec
        return {
            "apiVersion": step.api_version,
            "kind": step.kind,
            "metadata": metadata,
            "spec": spec,
        }

    def _owner(self, step: ToolStep) -> Object:
        """A reference to its controller: what was made last of that name, else a pod that a
        controller has made.
        """
        made = [one for key, one in self._made.items() if key.split()[1] == step.owner]
        owner = made[-1] if made else self._team.pod(step.owner)
        return {
            "apiVersion": owner.get("apiVersion", "v1"),
            "kind": owner.get("kind", "Pod"),
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def _group(self, step: ToolStep, metadata: Object) -> Object:
        if step.request:
            asked = json.dumps({T1000: step.request})
            metadata["annotations"] = {v.REQUEST: asked}
        spec = {"minMember": step.members, "queue": self._team.queue_name()}
        return {
            "apiVersion": _GROUP_VERSION,
            "kind": "PodGroup",
            "metadata": metadata,
            "spec": spec,
        }

    def _template(
        self, step: ToolStep, *, restart: str, labels: dict[str, str] | None = None
    ) -> Object:
        metadata = {"labels": {**step.labels, **(labels or {})}}
        found = self._pod(step, metadata, restart=restart)
        return {"metadata": found["metadata"], "spec": found["spec"]}

    def _pod(self, step: ToolStep, metadata: Object, *, restart: str) -> Object:
        annotations = dict(_RUN_LONG)
        if step.group:
            annotations[v.GROUP_NAME] = step.group
            if step.task:
                annotations[v.TASK] = step.task
        elif step.cards:
            annotations[v.QUEUE_NAME] = self._team.queue_name()
        resources: Any = {"limits": {GPU: step.cards}} if step.cards else {}
        if step.cards:
            annotations[v.CARD_NAME] = T1000
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**metadata, "annotations": annotations},
            "spec": {
                "restartPolicy": restart,
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "i", "resources": resources}],
            },
        }


def tries_again(rule: Again, refusal: ApiReply) -> bool:
    """Whether a tool of that rule creates the pod again after such an answer."""
    if "exceeded quota" in rule and refusal.code == 403:
        return "exceeded quota" in refusal.message
    return rule == "always" or ("500" in rule and refusal.code == 500)
