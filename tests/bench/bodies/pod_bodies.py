"""The pods that benchmarks create through the API server: each but the last asks for one card."""

from typing import Any, Final

from cardquota.quota import CARD_NAME, QUEUE_NAME
from integration.roomy_nodes import T1000

HOLD: Final = "bench.cardquota.dev/hold"
"""A gate of somebody else's: the scheduler leaves such a pod alone, whatever becomes of ours."""

_LABEL: Final = "nvidia.com/gpu.product"


def queued(name: str, queue: str) -> dict[str, Any]:
    """Names its card and its queue."""
    return _pod(name, annotations={CARD_NAME: T1000, QUEUE_NAME: queue})


def plain(name: str) -> dict[str, Any]:
    """Knows nothing of us, and asks for the same card as one does without us."""
    return _pod(name, spec={"nodeSelector": {_LABEL: T1000}})


def held(pod: dict[str, Any]) -> dict[str, Any]:
    """The same with a foreign gate."""
    return {**pod, "spec": {**pod["spec"], "schedulingGates": [{"name": HOLD}]}}


def without_cards(name: str) -> dict[str, Any]:
    """Has nothing to do with us."""
    return _pod(name, annotations={"example.com/note": "some text"}, limits={"cpu": "1m"})


def _pod(
    name: str,
    *,
    annotations: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
    limits: dict[str, str] | None = None,
) -> dict[str, Any]:
    resources = {"limits": dict(limits or {"nvidia.com/gpu": "1"})}
    container = {"name": "main", "image": "i", "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **(spec or {})},
    }
