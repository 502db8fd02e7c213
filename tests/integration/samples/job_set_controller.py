"""What JobSet's controller writes, as its v0.8.2 does: the Jobs of each JobSet.

The plane has no such controller, only its definition. The pods are made by the Job controller.
"""

import hashlib
from collections.abc import Iterator

from cardquota_dev.testing import Cluster
from integration.asking import Object, ask

from .ownership import controlled_by

_KEYS = "jobset.sigs.k8s.io"


def write_jobs(cluster: Cluster, namespace: str) -> None:
    """Create the Jobs that are missing."""
    sets = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets"
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    there = {one["metadata"]["name"] for one in ask(cluster, "GET", jobs).body["items"]}
    for job_set in ask(cluster, "GET", sets).body["items"]:
        for job in _jobs_of(job_set):
            if job["metadata"]["name"] not in there:
                assert (reply := ask(cluster, "POST", jobs, job)).ok, reply


def _jobs_of(job_set: Object) -> Iterator[Object]:
    name, namespace = job_set["metadata"]["name"], job_set["metadata"]["namespace"]
    replicated = job_set["spec"]["replicatedJobs"]
    total = sum(one["replicas"] for one in replicated)
    place = 0
    for one in replicated:
        for index in range(one["replicas"]):
            job_name = f"{name}-{one['name']}-{index}"
            marks = {
                f"{_KEYS}/jobset-name": name,
                f"{_KEYS}/replicatedjob-name": one["name"],
                f"{_KEYS}/restart-attempt": "0",
                f"{_KEYS}/replicatedjob-replicas": str(one["replicas"]),
                f"{_KEYS}/global-replicas": str(total),
                f"{_KEYS}/job-index": str(index),
                f"{_KEYS}/job-key": _job_key(namespace, job_name),
                f"{_KEYS}/job-global-index": str(place),
            }
            yield _job(job_set, one["template"], job_name, marks)
            place += 1


def _job(job_set: Object, template: Object, name: str, marks: dict[str, str]) -> Object:
    spec = template["spec"]
    pod = spec["template"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            **_marked(template.get("metadata", {}), marks),
            "name": name,
            "ownerReferences": controlled_by(job_set),
        },
        "spec": {
            "completionMode": "Indexed",  # the default of its webhook
            **spec,
            "suspend": False,
            "template": {
                "metadata": _marked(pod.get("metadata", {}), marks),
                "spec": {**pod["spec"], "subdomain": job_set["metadata"]["name"]},
            },
        },
    }


def _marked(metadata: Object, marks: dict[str, str]) -> Object:
    """With the controller's labels, which it writes as annotations too."""
    return {
        "labels": {**metadata.get("labels", {}), **marks},
        "annotations": {**metadata.get("annotations", {}), **marks},
    }


def _job_key(namespace: str, job: str) -> str:
    return hashlib.sha1(f"{namespace}/{job}".encode(), usedforsecurity=False).hexdigest()
