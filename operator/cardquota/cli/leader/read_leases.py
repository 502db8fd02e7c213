"""Reads the operator's Lease, with the user's own rights."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from ...cluster.api.client import Client
from ...quota.vocabulary import LEASE
from ...quota.words import show
from .. import sentences
from ..cluster_error import ClusterError
from ..object_answer import Answer, NotRead, read_object
from .lease import is_renewed, why_nobody_leads

PATIENCE: Final = 3.0
"""Seconds after which a Lease that seems to be old, or free, is read again."""
_LONGEST: Final = 200
"""Characters of what the API server says."""

Sleep = Callable[[float], Awaitable[None]]


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
    path = lease_path(namespace)
    what = "the operator's Lease"
    first = await read_object(client, path, what)
    if isinstance(first, NotRead) or is_renewed((first,), clock()):
        return (first,)
    await sleep(PATIENCE)
    return (first, await read_object(client, path, what))


def lease_path(namespace: str) -> str:
    """Where the operator's Lease is, in its namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE}"


async def note_unless_led(client: Client, namespace: str, *, published: bool = True) -> str:
    """What to say beside the numbers of queues; empty if somebody leads.

    `published`: the numbers are those that the leader has written. If not, a replica has just sent
    them, so they are not old.
    """
    try:
        leases = await read_leases(client, namespace)
    except ClusterError as error:
        return sentences.leader_not_known(str(error))
    last = leases[-1]
    if last is None and not published:
        return ""  # the operator has just answered: it is installed in another namespace
    if isinstance(last, NotRead):
        return sentences.leader_not_known(show(last.why, most=_LONGEST))
    why, ago = why_nobody_leads(leases, namespace, time.time())
    return sentences.numbers_are_old(why, ago) if why and published else why
