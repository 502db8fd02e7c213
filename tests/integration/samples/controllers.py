"""What JobSet's controller (v0.8.2) writes, and a training operator with Volcano's pod groups
(v1.9.3), as far as the product sees it.

The plane has their definitions alone. The pods of Jobs are made by its own Job controller.
"""

from collections import Counter

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import Object, ask

OF_SET = "jobset.sigs.k8s.io/jobset-name"


def write_jobs(cluster: Cluster, namespace: str) -> None:
    """The Jobs of each JobSet."""
    sets = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets"
    for job_set in ask(cluster, "GET", sets).body["items"]:
        for part in job_set["spec"]["replicatedJobs"]:
            for index in range(part["replicas"]):
                _made(
                    cluster,
                    f"/apis/batch/v1/namespaces/{namespace}/jobs",
                    _job(job_set, part, index),
                )


def _job(job_set: Object, part: Object, index: int) -> Object:
    name = job_set["metadata"]["name"]
    metadata = {
        "name": f"{name}-{part['name']}-{index}",
        "labels": {OF_SET: name},
        "ownerReferences": _controlled_by(job_set),
    }
    spec = {"completionMode": "Indexed", **part["template"]["spec"]}  # the default of its webhook
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def write_groups_and_pods(cluster: Cluster, namespace: str) -> None:
    """A PodGroup for each PyTorchJob, and no pod before that is Inqueue."""
    jobs = f"/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs"
    for job in ask(cluster, "GET", jobs).body["items"]:
        groups = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{namespace}/podgroups"
        there = f"{groups}/{job['metadata']['name']}"
        found = ask(cluster, "GET", there)
        if found.code == 404:
            _made(cluster, groups, _group(job))
            continue
        # It writes the group anew at each turn, its status and our annotations as it has read them.
        written = ask(cluster, "PUT", there, {**found.body, "spec": _group(job)["spec"]})
        assert written.ok or written.code == 409, written
        if found.body.get("status", {}).get("phase", "Pending") != "Pending":
            for kind, replicas in job["spec"]["pytorchReplicaSpecs"].items():
                for index in range(replicas["replicas"]):
                    pod = _pod(job, kind.lower(), replicas, index)
                    _made(cluster, f"/api/v1/namespaces/{namespace}/pods", pod)


def _group(job: Object) -> Object:
    """`schedulingPolicy` as a PodGroup's spec, and the annotations of the job."""
    policy = job["spec"]["runPolicy"]["schedulingPolicy"]
    total: Counter[str] = Counter()
    for replicas in job["spec"]["pytorchReplicaSpecs"].values():
        for container in replicas["template"]["spec"]["containers"]:
            resources = container["resources"]
            for name, amount in resources.get("requests", resources["limits"]).items():
                total[name] += int(amount) * replicas["replicas"]
    return {
        "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
        "kind": "PodGroup",
        "metadata": {
            "name": job["metadata"]["name"],
            "annotations": job["metadata"]["annotations"],
            "ownerReferences": _controlled_by(job),
        },
        "spec": {
            "minMember": policy["minAvailable"],
            "queue": policy["queue"],
            "priorityClassName": policy["priorityClass"],
            "minResources": {name: str(amount) for name, amount in total.items()},
        },
    }


def _pod(job: Object, kind: str, replicas: Object, index: int) -> Object:
    name, template = job["metadata"]["name"], replicas["template"]
    decorated = {v.GROUP_NAME: name, "volcano.sh/task-spec": kind}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-{kind}-{index}",
            "annotations": {**template["metadata"]["annotations"], **decorated},
            "ownerReferences": _controlled_by(job),
        },
        "spec": {
            "schedulerName": "volcano",  # where the job says nothing
            **template["spec"],
            "restartPolicy": replicas["restartPolicy"],
        },
    }


def _controlled_by(maker: Object) -> list[Object]:
    named = {key: maker["metadata"][key] for key in ("name", "uid")}
    kind = {key: maker[key] for key in ("apiVersion", "kind")}
    return [{**kind, **named, "controller": True, "blockOwnerDeletion": True}]


def _made(cluster: Cluster, path: str, body: Object) -> None:
    reply = ask(cluster, "POST", path, body)
    assert reply.ok or reply.code == 409, reply
