"""Whether somebody leads, by the Lease. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....quota.moments import seconds_of
from ....quota.stuck.stuck_finding import StuckFinding
from ....quota.vocabulary import LEASE
from ... import sentences
from .installation_fault import fault
from .object_answer import Answer, NotRead, inner

NO_LEADER = "NoLeader"


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
    renewed = seconds_of(inner(last, "spec", "renewTime"))
    return renewed is not None and abs(now - renewed) <= _duration(last)


def lease_findings(leases: Sequence[Answer], namespace: str, now: float) -> Iterator[StuckFinding]:
    """At most one. What may not be read is none."""
    last = leases[-1]
    if isinstance(last, NotRead) or is_renewed(leases, now):
        return
    where = f"{namespace}/{LEASE}"
    yield fault(
        ("Lease", namespace, LEASE), NO_LEADER, _why(last, where, now), sentences.SEE_THE_OPERATOR
    )


def _why(lease: Mapping[str, Any] | None, where: str, now: float) -> str:
    if lease is None:
        return sentences.lease_missing(where)
    holder = _holder(lease)
    if not holder:
        return sentences.lease_free(where)
    renewed = seconds_of(inner(lease, "spec", "renewTime"))
    ago = None if renewed is None else int(now - renewed)
    return sentences.lease_old(where, holder, ago, _duration(lease))


def _holder(lease: Mapping[str, Any]) -> str:
    found = inner(lease, "spec", "holderIdentity")
    return found if isinstance(found, str) else ""


def _duration(lease: Mapping[str, Any]) -> int:
    found = inner(lease, "spec", "leaseDurationSeconds")
    return found if type(found) is int else 0


def _revision(lease: Mapping[str, Any]) -> tuple[Any, Any]:
    return inner(lease, "metadata", "uid"), inner(lease, "metadata", "resourceVersion")
