"""What a training operator writes for PyTorchJobs, as v1.9.3 does with Volcano's pod groups.

The plane has no such operator, only its definition. It writes a PodGroup for each job, and no pod
before the PodGroup is Inqueue.
"""

from collections import Counter

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import Object, ask

from .ownership import controlled_by


def write_groups_and_pods(cluster: Cluster, namespace: str) -> None:
    """Create what is missing now."""
    jobs = f"/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs"
    for job in ask(cluster, "GET", jobs).body["items"]:
        name = job["metadata"]["name"]
        groups = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{namespace}/podgroups"
        found = ask(cluster, "GET", f"{groups}/{name}")
        if found.code == 404:
            assert (reply := ask(cluster, "POST", groups, _group(job))).ok, reply
            continue
        # It writes the group anew at each turn, its status and our annotations as it has read them.
        written = ask(
            cluster, "PUT", f"{groups}/{name}", {**found.body, "spec": _group(job)["spec"]}
        )
        assert written.ok or written.code == 409, written
        if found.body.get("status", {}).get("phase", "Pending") != "Pending":
            _write_pods(cluster, namespace, job)


def _write_pods(cluster: Cluster, namespace: str, job: Object) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for kind, replicas in job["spec"]["pytorchReplicaSpecs"].items():
        for index in range(replicas["replicas"]):
            reply = ask(cluster, "POST", pods, _pod(job, kind, index))
            assert reply.ok or reply.code == 409, reply


def _group(job: Object) -> Object:
    """`schedulingPolicy` as a PodGroup's spec, and the annotations of the job."""
    policy = job["spec"]["runPolicy"]["schedulingPolicy"]
    return {
        "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
        "kind": "PodGroup",
        "metadata": {
            "name": job["metadata"]["name"],
            "annotations": job["metadata"]["annotations"],
            "ownerReferences": controlled_by(job),
        },
        "spec": {
            "minMember": policy["minAvailable"],
            "queue": policy["queue"],
            "priorityClassName": policy["priorityClass"],
            "minResources": _resources(job),
        },
    }


def _resources(job: Object) -> dict[str, str]:
    """What all pods ask for together; in the sample minAvailable is their number, and amounts are
    whole numbers.
    """
    total: Counter[str] = Counter()
    for replicas in job["spec"]["pytorchReplicaSpecs"].values():
        for container in replicas["template"]["spec"]["containers"]:
            resources = container["resources"]
            asked = resources.get("requests", resources["limits"])
            for name, amount in asked.items():
                total[name] += int(amount) * replicas["replicas"]
    return {name: str(amount) for name, amount in total.items()}


def _pod(job: Object, kind: str, index: int) -> Object:
    name, replicas = job["metadata"]["name"], job["spec"]["pytorchReplicaSpecs"][kind]
    template = replicas["template"]
    labels = {
        "training.kubeflow.org/job-name": name,
        "training.kubeflow.org/operator-name": "pytorchjob-controller",
        "training.kubeflow.org/replica-type": kind.lower(),
        "training.kubeflow.org/replica-index": str(index),
    }
    if kind == "Master":
        labels["training.kubeflow.org/job-role"] = "master"
    metadata = template["metadata"]
    decorated = {v.GROUP_NAME: name, "volcano.sh/task-spec": kind.lower()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-{kind.lower()}-{index}",
            "labels": {**metadata.get("labels", {}), **labels},
            "annotations": {**metadata["annotations"], **decorated},
            "ownerReferences": controlled_by(job),
        },
        "spec": {
            "schedulerName": "volcano",  # where the job says nothing
            **template["spec"],
            "restartPolicy": replicas["restartPolicy"],
        },
    }
