"""What the name of a pod group tells: that Volcano made it, and for what (V4, V5).

A user's own group of such a name is the same.
"""

import re
from typing import Final

_UID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MADE_FOR_PODS: Final = re.compile(f"podgroup-{_UID}")
"""The uid is that of the pods' controller, or of the pod."""
_OF_JOB: Final = re.compile(f"(.+)-{_UID}")
"""`namespace/name` of the group: its Job's name, and the Job's uid."""


def job_of(key: str) -> str:
    """`namespace/name` of the Job that a group was made for, as its key tells; empty: for none."""
    found = _OF_JOB.fullmatch(key)
    return found[1] if found is not None else ""


def made_for_pods(name: str) -> bool:
    """Whether Volcano gave a group this name, for pods that were there before it."""
    return _MADE_FOR_PODS.fullmatch(name) is not None


def queue_said(name: str, queue: str | None) -> str:
    """The queue that a pod group of this name says; empty if it says none.

    Volcano has the queue of a group of its own making from the pod's annotation, and makes the
    group after the pod: what stands there is no news, or was written by somebody since (V5).
    """
    return "" if made_for_pods(name) else queue or ""
