"""Taints as nodes carry them, and tolerations as pods do."""

from .wire import Wire


class Taint(Wire):
    """A taint of a node."""

    key: str = ""
    value: str | None = None
    effect: str = ""


class Toleration(Wire):
    """A toleration of a pod."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
