"""What patches of pods have in common: the path, the precondition that it is the pod that was
decided about, and the label beside which what we write counts.
"""

from typing import Any

from ...quota import vocabulary as v
from ...quota.pods.pod_facts import PodFacts


def precondition(facts: PodFacts) -> dict[str, Any]:
    """Metadata of a patch that lands on this pod as it was seen, or not at all (409)."""
    return {"uid": facts.uid, "resourceVersion": str(facts.revision)}


def pod_path(facts: PodFacts) -> str:
    """The pod's path at the API server."""
    return f"/api/v1/namespaces/{facts.namespace}/pods/{facts.name}"


def guard(facts: PodFacts) -> dict[str, Any]:
    """Metadata that gives the pod our label; none if it has it, whatever the value."""
    return {} if facts.labelled else {"labels": {v.MANAGED: v.IS_MANAGED}}
