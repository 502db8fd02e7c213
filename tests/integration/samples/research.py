"""The namespace and the queue of `manifests/samples`, and the controllers that the plane lacks."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually
from integration.asking import Object, ask
from integration.team import QUEUES, Team, notes

from .controllers import OF_SET, write_groups_and_pods, write_jobs

SAMPLES = CHECKOUT / "manifests" / "samples"
NAME = "research"
"""Of the namespace, and of the queue."""

_GROUPS = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{NAME}/podgroups"
_PODS = f"/api/v1/namespaces/{NAME}/pods"
_WORKLOADS = (
    "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs",
    "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    "/apis/batch/v1/namespaces/{}/jobs",
    "/apis/apps/v1/namespaces/{}/deployments",
)


@dataclass(frozen=True)
class GroupSample:
    """A manifest of a group."""

    file: str
    name: str
    """Of the group and of its workload."""
    pods: int
    """Its members, all of which start together."""
    waiting: int
    """How many of them exist while the group waits."""

    @property
    def path(self) -> Path:
        return SAMPLES / self.file

    def renamed(self, name: str) -> str:
        """The same under another name, as text; its pods run for an hour."""
        text = re.sub(rf"\b{self.name}\b", name, self.path.read_text())
        documents = list(yaml.safe_load_all(text))
        for document in documents:
            _run_long(document)
        return yaml.safe_dump_all(documents)

    def workload(self, name: str) -> str:
        """What of it belongs to one workload alone, under another name."""
        documents = yaml.safe_load_all(self.renamed(name))
        return yaml.safe_dump_all([one for one in documents if one["kind"] != "PriorityClass"])


class Research(Team):
    """Who works in the namespace. Its queue has one name, whatever a test calls it."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster, NAME, NAME)

    def queue_name(self, name: str = NAME) -> str:
        return NAME

    def opens(self) -> None:
        """The namespace and the queue are there, and the operator knows both."""
        self.applies(SAMPLES / "namespace.yaml", SAMPLES / "queue.yaml")
        eventually(lambda: self.status().get("cards"), "status of the queue")
        accounts = f"/api/v1/namespaces/{NAME}/serviceaccounts"
        eventually(lambda: ask(self.cluster, "GET", accounts).body["items"], "service account")

    def applies(self, *files: Path) -> None:
        """`kubectl apply -f` of files as they are."""
        named = [part for file in files for part in ("-f", str(file))]
        done = self.cluster.kubectl("apply", *named)
        assert done.returncode == 0, done.stderr

    def controllers_write(self) -> None:
        """What the controllers that are not there would create by now."""
        write_jobs(self.cluster, NAME)
        write_groups_and_pods(self.cluster, NAME)

    def members(self, group: str) -> list[Object]:
        """The pods of a group, as they are now."""
        self.controllers_write()
        return [pod for pod in self.pods() if notes(pod).get(v.GROUP_NAME) == group]

    def phase(self, group: str) -> str:
        found = ask(self.cluster, "GET", f"{_GROUPS}/{group}").body
        return str(found.get("status", {}).get("phase", ""))

    def until_charged(self, sample: GroupSample, group: str) -> list[dict[str, int]]:
        """Wait until all members are released in the queue; the cards that each is charged."""

        def charged() -> list[dict[str, Any]] | None:
            stamps = [notes(pod) for pod in self.members(group)]
            found = [json.loads(s[v.ALLOCATED]) for s in stamps if s.get(v.CHARGED_QUEUE) == NAME]
            return found if len(found) == sample.pods else None

        found = eventually(charged, f"members of {group} charged")
        return sorted(found, key=str)

    def removes(self, sample: GroupSample, name: str) -> None:
        """Delete a workload, its pods and its group, as people do and the garbage collector."""
        done = self.cluster.kubectl(
            "delete", "-f", "-", "--wait=false", "--ignore-not-found", input=sample.workload(name)
        )
        assert done.returncode == 0, done.stderr
        of_set = f"?labelSelector={OF_SET}={name}&propagationPolicy=Background"
        ask(self.cluster, "DELETE", f"/apis/batch/v1/namespaces/{NAME}/jobs{of_set}")
        for pod in self.members(name):
            path = f"{_PODS}/{pod['metadata']['name']}?gracePeriodSeconds=0"
            ask(self.cluster, "DELETE", path)
        ask(self.cluster, "DELETE", f"{_GROUPS}/{name}")

    def removes_all(self) -> None:
        """Nothing of the tests is left in the namespace, and nothing is held in the queue."""
        for path in _WORKLOADS:
            query = "?propagationPolicy=Background"
            ask(self.cluster, "DELETE", path.format(NAME) + query)

        def empty() -> bool:
            ask(self.cluster, "DELETE", f"{_PODS}?gracePeriodSeconds=0")
            ask(self.cluster, "DELETE", _GROUPS)
            return not self.pods()

        eventually(empty, "no pods left")
        self.until_row("NVIDIA-H200", requested=0, allocated=0, inqueue=0)

    def closes(self) -> None:
        """Queue and namespace go."""
        self.removes_all()
        eventually(lambda: ask(self.cluster, "DELETE", f"{QUEUES}/{NAME}").ok, "queue deleted")
        ask(self.cluster, "DELETE", f"/api/v1/namespaces/{NAME}")


def _run_long(thing: object) -> None:
    """Annotate pods and pod templates: those of Jobs would end after a second."""
    if isinstance(thing, dict):
        if "containers" in thing.get("spec", {}):
            thing.setdefault("metadata", {}).setdefault("annotations", {})[
                "cardquota.dev/run-seconds"
            ] = "3600"
        for part in thing.values():
            _run_long(part)
    elif isinstance(thing, list):
        for part in thing:
            _run_long(part)
