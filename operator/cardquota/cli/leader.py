"""Whether a replica of the operator leads, by its Lease. Without one no gate opens, and what is
published of queues grows old.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from ..cluster.api.client import Client
from ..quota.vocabulary import LEASE
from ..quota.words import lasting, seconds_of, show
from .reading import Answer, ClusterError, NotRead, inner, read_object

PATIENCE: Final = 3.0
"""Seconds after which a Lease that seems to be old, or free, is read again."""
_LONGEST: Final = 200
"""Characters of what the API server says."""
Sleep = Callable[[float], Awaitable[None]]


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
    where = f"Lease <{show(f'{namespace}/{LEASE}')}>"
    if lease is None:
        return f"there is no {where}: no operator has run here, so no gate opens", None
    ago, holder = _ago(lease, now), _holder(lease)
    if not holder:
        return f"{where} has no holder: no replica leads, so no gate opens", ago
    since = "is not renewed" if ago is None else f"was renewed {lasting(max(0, ago))} ago"
    why = (
        f"{where} of {show(holder)} {since}, and is valid for {_duration(lease)} s: no replica "
        "leads, so no gate opens"
    )
    return why, ago


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


async def read_lease(client: Client, namespace: str) -> Answer:
    """As it is now. Errors: ClusterError."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE}"
    return await read_object(client, path, "the operator's Lease")


async def read_leases(
    client: Client,
    namespace: str,
    clock: Callable[[], float] = time.time,
    sleep: Sleep = asyncio.sleep,
) -> tuple[Answer, ...]:
    """The Lease; twice if the first one did not show that somebody leads: two leaders follow each
    other within a second or two, and this machine's clock may be another than the leader's.
    Errors: ClusterError.
    """
    first = await read_lease(client, namespace)
    if isinstance(first, NotRead) or is_renewed((first,), clock()):
        return (first,)
    await sleep(PATIENCE)
    return (first, await read_lease(client, namespace))


async def note_unless_led(client: Client, namespace: str, *, published: bool = True) -> str:
    """What to say beside the numbers of queues; empty if somebody leads.

    `published`: the numbers are those that the leader has written. If not, a replica has just sent
    them, so they are not old.
    """
    try:
        leases = await read_leases(client, namespace)
    except ClusterError as error:
        return _not_known(str(error))
    last = leases[-1]
    if last is None and not published:
        return ""  # the operator has just answered: it is installed in another namespace
    if isinstance(last, NotRead):
        return _not_known(show(last.why, most=_LONGEST))
    why, ago = why_nobody_leads(leases, namespace, time.time())
    if not why or not published:
        return why
    age = "of when one led" if ago is None else f"{lasting(max(0, ago))} old"
    return f"{why}; the numbers of queues are {age}"


def _not_known(why: str) -> str:
    return f"it is not known whether a replica leads; otherwise these numbers are old: {why}"
