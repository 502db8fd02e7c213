"""Gates that an administrator opens, and not the operator: nothing is judged or charged by that."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, NamedTuple

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import JSON_PATCH, Client
from ...cluster.watch.listing import Unreadable
from ...install.pause import GUARD, guarded, opened_to
from ...quota import vocabulary as v
from ...quota.objects.meta import Wire
from ...quota.words import counted, first_of
from ...settings import Settings
from ..leader import Sleep
from ..reading import ClusterError, listed, without_call
from .product_objects import ADMISSION, TAKES_UP, change, products, whoami

_AT_ONCE: Final = 8
_ROUNDS: Final = 3
"""Lists of gates: pods that were created just before have one too."""
_MOST: Final = 5
"""Pods that are named if they could not be changed."""


class _SchedulingGate(Wire):
    name: str = ""


class _GatedMeta(Wire):
    name: str
    namespace: str = ""
    deletion_timestamp: str | None = None


class _GatedSpec(Wire):
    scheduling_gates: list[_SchedulingGate] | None = None


class _PodWithGates(Wire):
    metadata: _GatedMeta
    spec: _GatedSpec


class GatedPod(NamedTuple):
    """A pod that waits at our gate."""

    namespace: str
    name: str
    at: int
    """The place of the gate among its gates."""


async def gated_pods(client: Client) -> list[GatedPod]:
    """All that wait at the gate and are not being deleted, also those that were created with it by
    hand. Errors: ClusterError.
    """
    found = []
    async for pod in listed(client, "/api/v1/pods", _PodWithGates, ahead=True):
        if isinstance(pod, Unreadable):
            raise ClusterError(str(pod))
        names = [gate.name for gate in pod.spec.scheduling_gates or ()]
        if v.GATE in names and pod.metadata.deletion_timestamp is None:
            meta = pod.metadata
            found.append(GatedPod(meta.namespace, meta.name, names.index(v.GATE)))
    return found


async def open_gates(client: Client) -> int:
    """Open every gate, with the user's own rights: nothing is charged by that. How many were
    opened. Errors: ClusterError, if some stay shut.
    """
    opened, refused, limit = 0, dict[str, str](), asyncio.Semaphore(_AT_ONCE)
    for _ in range(_ROUNDS):
        waiting = await gated_pods(client)
        if not waiting:
            return opened
        refused.clear()
        answers = await asyncio.gather(*(_open(client, pod, limit) for pod in waiting))
        for pod, why in zip(waiting, answers, strict=True):
            if why is not None:
                refused[f"{pod.namespace}/{pod.name}"] = why
        opened += answers.count(None)
    if refused:
        names = first_of(sorted(refused), ", ", most=_MOST)
        first = refused[min(refused)]
        raise ClusterError(f"{counted(len(refused), 'gate')} not opened, of {names}: {first}")
    return opened


async def _open(client: Client, pod: GatedPod, limit: asyncio.Semaphore) -> str | None:
    """Why it was not opened; None if it was."""
    at = f"/spec/schedulingGates/{pod.at}"
    patch = [
        {"op": "test", "path": f"{at}/name", "value": v.GATE},
        {"op": "remove", "path": at},
    ]
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
    try:
        async with limit:
            await client.patch(path, patch, content_type=JSON_PATCH, metadata_only=True)
    except ApiError as error:
        # Such a pod is gone, or its gates are others by now: the next round looks again.
        return str(error)
    except OutcomeUnknown as error:
        return without_call(str(error))
    return None


@asynccontextmanager
async def may_open_gates(client: Client, settings: Settings, sleep: Sleep) -> AsyncIterator[None]:
    """For the block, the policy by which only the operator opens gates lets this user do it too,
    and nobody else. Errors: ClusterError.
    """
    user = await whoami(client)
    policies = await products(client, ADMISSION, "ValidatingAdmissionPolicy", settings)
    guards = [one.path for one in policies if one.name == GUARD]
    for path in guards:
        await change(client, path, partial(opened_to, user=user))
    try:
        await sleep(TAKES_UP * bool(guards))
        yield
    finally:
        for path in guards:
            await change(client, path, guarded)
        await sleep(TAKES_UP * bool(guards))
