"""Whether somebody leads, by the Lease. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...quota.vocabulary import LEASE
from ...quota.words import seconds_of
from .. import sentences
from ..object_answer import Answer, NotRead, inner


def is_renewed(leases: Sequence[Answer], now: float) -> bool:
    """Whether it has a holder who lives: the clock says so, or it was renewed between two reads.

    `leases`: as it was read, one after the other. `now`: seconds since 1970, by a clock that may be
    some seconds from the leader's.
    """
    last = leases[-1]
    if not isinstance(last, Mapping) or not _holder(last):
        return False
    if len(leases) > 1 and isinstance(leases[0], Mapping):
        return _revision(leases[0]) != _revision(last)
    ago = _ago(last, now)
    return ago is not None and abs(ago) <= _duration(last)


def why_nobody_leads(
    leases: Sequence[Answer], namespace: str, now: float
) -> tuple[str, int | None]:
    """In words, and for how many seconds nobody has, if that is known. Empty if somebody leads, or
    the Lease may not be read.
    """
    lease = leases[-1]
    if isinstance(lease, NotRead) or is_renewed(leases, now):
        return "", None
    where = f"{namespace}/{LEASE}"
    if lease is None:
        return sentences.lease_missing(where), None
    ago, holder = _ago(lease, now), _holder(lease)
    if not holder:
        return sentences.lease_free(where), ago
    return sentences.lease_old(where, holder, ago, _duration(lease)), ago


def _ago(lease: Mapping[str, Any], now: float) -> int | None:
    renewed = seconds_of(inner(lease, "spec", "renewTime"))
    return None if renewed is None else int(now - renewed)


def _holder(lease: Mapping[str, Any]) -> str:
    found = inner(lease, "spec", "holderIdentity")
    return found if isinstance(found, str) else ""


def _duration(lease: Mapping[str, Any]) -> int:
    found = inner(lease, "spec", "leaseDurationSeconds")
    return found if type(found) is int else 0


def _revision(lease: Mapping[str, Any]) -> tuple[Any, Any]:
    return inner(lease, "metadata", "uid"), inner(lease, "metadata", "resourceVersion")
