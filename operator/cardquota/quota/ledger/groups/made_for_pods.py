"""Pod groups that Volcano makes for pods that have none: what their queue says (V5)."""

import re
from typing import Final

_MADE_FOR_PODS: Final = re.compile(r"podgroup-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""After the uid of the pods' controller, or of the pod."""


def made_for_pods(name: str) -> bool:
    """Whether Volcano gave a group this name, for pods that were there before it. A user's own
    group of such a name is the same.
    """
    return _MADE_FOR_PODS.fullmatch(name) is not None


def queue_said(name: str, queue: str | None) -> str:
    """The queue that a pod group of this name says; empty if it says none.

    Volcano has the queue of a group of its own making from the pod's annotation, and makes the
    group after the pod: what stands there is no news, or was written by somebody since (V5).
    """
    return "" if made_for_pods(name) else queue or ""
