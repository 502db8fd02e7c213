"""Pod groups that Volcano makes for pods that have none: what their queue says (V5)."""

import re
from typing import Final

from ...vocabulary import DEFAULT_QUEUE

_MADE_FOR_PODS: Final = re.compile(r"podgroup-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""After the uid of the pods' controller, or of the pod."""


def made_for_pods(name: str) -> bool:
    """Whether Volcano gave a group this name, for pods that were there before it. A user's own
    group of such a name is the same.
    """
    return _MADE_FOR_PODS.fullmatch(name) is not None


def queue_said(name: str, queue: str | None) -> str:
    """The queue that a pod group of this name says; empty if it says none.

    Volcano has the queue of a group of its own making from the pod's annotation. Where it has
    none, `default` is written, which is no news: the pod's namespace, or the settings, may have
    given it another queue, or it was admitted without one, and that stays (V5). Whatever else
    stands there somebody has written.
    """
    return "" if queue == DEFAULT_QUEUE and made_for_pods(name) else queue or ""
