"""Which containers wait for device IDs that the kubelet is about to hand out: it does not say for
whom it asks.

It admits one pod after the other, and lists the one that it admits with containers that have no IDs
yet. Where several are listed that ask for as many, it is a guess which of them is meant.
"""

import asyncio
from typing import Final, NamedTuple

from .api_server import ApiServer, ApiServerError, NotFoundError, PodOnNode
from .kubelet import ContainerOwner, PodResources

_LONGEST: Final = 2.0
"""Seconds until it is given up: the kubelet waits, and containers that start wait for the same
threads.
"""


class WaitingContainer(NamedTuple):
    """A container that has no IDs yet."""

    owner: ContainerOwner
    pod: PodOnNode
    of_pod: int
    """What all containers of its pod ask for."""


class WaitingContainers:
    """Of one resource."""

    def __init__(self, resource: str, pods: PodResources, server: ApiServer) -> None:
        self._resource, self._pods, self._server = resource, pods, server
        self._others: set[tuple[str, str]] = set()
        """Pods that ask for nothing of it: most of a node's."""

    async def asking_for(self, amount: int) -> list[WaitingContainer]:
        """Those that ask for so many. Raises PodResourcesError, ApiServerError."""
        pods, unserved = await self._pods.unserved(self._resource)
        self._others &= pods
        unserved = [one for one in unserved if one[:2] not in self._others]
        names = list(dict.fromkeys(one[:2] for one in unserved))
        try:
            async with asyncio.timeout(_LONGEST):
                read = await asyncio.gather(*(self._read(*name) for name in names))
        except TimeoutError:
            raise ApiServerError(
                f"<{len(names)}> pods could not be read within {_LONGEST:.0f} s"
            ) from None
        found = dict(zip(names, read, strict=True))
        waiting = []
        for one in unserved:
            pod = found[one[:2]]
            asked = pod.asks_for(self._resource) if pod is not None else {}
            if not asked:
                self._others.add((one.namespace, one.pod))
            elif pod is not None and asked.get(one.container) == amount:
                waiting.append(WaitingContainer(one, pod, sum(asked.values())))
        return waiting

    def forget(self) -> None:
        """Ask of all pods anew: another pod may have the name of one that is gone."""
        self._others.clear()

    async def _read(self, namespace: str, name: str) -> PodOnNode | None:
        try:
            return await asyncio.to_thread(self._server.pod, namespace, name)
        except NotFoundError:
            return None
