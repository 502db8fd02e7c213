"""Questions to the operator, by the short kinds of the table."""

from cardquota.api.reviews import QUEUE_REVIEW, WORKLOAD_REVIEW
from cardquota.quota import REVIEW_GROUP, REVIEW_VERSION

from .short_forms import Object

ASKED_KINDS = {
    "pod": "Pod",
    "group": "PodGroup",
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "job": "Job",
}


def question(kind: str, name: str) -> Object:
    """The review that asks about a queue, or about a workload of the review's namespace."""
    spec = {"queue": name} if kind == "queue" else {"kind": ASKED_KINDS[kind], "name": name}
    review = QUEUE_REVIEW if kind == "queue" else WORKLOAD_REVIEW
    return {
        "apiVersion": f"{REVIEW_GROUP}/{REVIEW_VERSION}",
        "kind": review.kind,
        "metadata": {"generateName": "ask-"},
        "spec": spec,
    }
