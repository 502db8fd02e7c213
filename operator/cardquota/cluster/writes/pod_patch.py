"""The path of a pod's patch, and the precondition that it is the pod that was decided about."""

from typing import Any

from ...quota.pods.pod_facts import PodFacts


def precondition(facts: PodFacts) -> dict[str, Any]:
    """Metadata of a patch that lands on this pod as it was seen, or not at all (409)."""
    return {"uid": facts.uid, "resourceVersion": str(facts.revision)}


def pod_path(facts: PodFacts) -> str:
    """The pod's path at the API server."""
    return f"/api/v1/namespaces/{facts.namespace}/pods/{facts.name}"
