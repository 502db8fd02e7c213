"""How a Deployment replaces its pods: how many may be gone before the new ones exist."""

from typing import Final

import msgspec

from cardquota.quota.objects.wire import Wire

_DEFAULT: Final = "25%"
_ROLLING: Final = "RollingUpdate"

Share = int | str
"""Pods, or a percentage of the wanted pods, such as `25%`."""


class RollingUpdate(Wire):
    """The parameters. If absent, the API server's defaults."""

    max_surge: Share | None = None
    max_unavailable: Share | None = None


class Strategy(Wire):
    """`strategy` of a Deployment."""

    type: str | None = _ROLLING
    rolling_update: RollingUpdate | None = None


class Rollout(Wire):
    """The fields of a Deployment's specification that control its updates."""

    paused: bool | None = None
    strategy: Strategy = msgspec.field(default_factory=Strategy)


class UpdatedDeployment(Wire):
    """A Deployment whose template is changed."""

    spec: Rollout = msgspec.field(default_factory=Rollout)


def may_be_gone(rollout: Rollout, replicas: int) -> int | None:
    """How many of `replicas` pods may be missing while new ones start. None: no rolling update.

    Computed as its controller does: a percentage is rounded down, and if it and the surge are both
    0, the result is 1. Raises ValueError for what is neither a number nor a percentage.
    """
    if rollout.paused or (rollout.strategy.type or _ROLLING) != _ROLLING:
        return None
    shares = rollout.strategy.rolling_update or RollingUpdate()
    gone = _pods(shares.max_unavailable, replicas)
    if gone <= 0 and _pods(shares.max_surge, replicas, up=True) <= 0:
        return 1
    return gone


def _pods(share: Share | None, replicas: int, *, up: bool = False) -> int:
    if isinstance(share, int):
        return share
    hundredths = int((_DEFAULT if share is None else share).removesuffix("%")) * replicas
    return -(-hundredths // 100) if up else hundredths // 100
