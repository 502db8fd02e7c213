"""A way to a ready replica of the operator: `kubectl port-forward` as a child that ends with us.

Not guaranteed: that it ends if we are killed (SIGKILL). Its port on 127.0.0.1 is open to all users
of this machine meanwhile; they have no token of ours, and the page answers nobody without one.
"""

import asyncio
import re
from contextlib import suppress
from typing import Any, Final

import msgspec

from ...cluster.api.client import Client
from ...quota.vocabulary import DEPLOYMENT
from ...quota.words import show
from ..output import ClusterChoice
from ..reading import ClusterError, inner, listed

_SELECTOR: Final = {"labelSelector": f"app.kubernetes.io/name={DEPLOYMENT}"}
_FORWARDED: Final = re.compile(rb"Forwarding from 127\.0\.0\.1:(\d+) ")
_PORT: Final = 8080
"""Of the metrics, where the pod does not say it."""
_PATIENCE: Final = 20.0
"""Seconds until kubectl forwards."""
_PAUSE: Final = 2.0
"""Seconds until the next try once a pod is gone."""
_LONGEST: Final = 300
_KEPT: Final = 4_096
"""Bytes of what kubectl says last, until it forwards."""
_CHUNK: Final = 65_536
_GRACE: Final = 5.0
"""Seconds for a child that was killed: a program of its own may hold its output open."""


class _OperatorPod(msgspec.Struct):
    metadata: dict[str, Any]
    spec: dict[str, Any]
    status: dict[str, Any]

    @property
    def ready(self) -> bool:
        """Whether it is to get requests."""
        conditions = self.status.get("conditions") or ()
        ready = any(
            inner(one, "type") == "Ready" and inner(one, "status") == "True" for one in conditions
        )
        return ready and "deletionTimestamp" not in self.metadata

    @property
    def port(self) -> int:
        """That of the metrics."""
        containers = self.spec.get("containers") or ()
        ports = [port for one in containers for port in one.get("ports") or ()]
        named = (inner(one, "containerPort") for one in ports if inner(one, "name") == "metrics")
        return next((port for port in named if isinstance(port, int)), _PORT)


class PortForward:
    """Goes to another replica when its own is gone."""

    def __init__(self, client: Client, namespace: str, cluster: ClusterChoice) -> None:
        """`namespace`: the operator's. `cluster`: as kubectl is told."""
        self._client = client
        self._namespace = namespace
        self._cluster = cluster
        self._child: asyncio.subprocess.Process | None = None
        self._keeping: asyncio.Task[None] | None = None
        self.address = ""
        """URL on this machine; empty while there is no way."""

    async def start(self) -> None:
        """Return once there is a way. Errors: ClusterError."""
        await self._begin()
        self._keeping = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """End it."""
        if self._keeping is not None:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        await self._end()

    async def _keep(self) -> None:
        while True:
            if self._child is not None:
                await _drained(self._child)  # it writes a line for each connection
            self.address = ""
            await self._end()
            await asyncio.sleep(_PAUSE)
            with suppress(ClusterError):
                await self._begin()

    async def _begin(self) -> None:
        name, port = await self._ready_pod()
        words = ["kubectl", "port-forward", f"--namespace={self._namespace}", f"pod/{name}"]
        words += [f":{port}", "--address=127.0.0.1"]
        if self._cluster.kubeconfig is not None:
            words.append(f"--kubeconfig={self._cluster.kubeconfig}")
        if self._cluster.context:
            words.append(f"--context={self._cluster.context}")
        pipe, both = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
        try:
            self._child = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=both)
        except OSError as error:
            why = f"kubectl cannot be run: {error.strerror}"
            raise ClusterError(f"{why}; or name where the operator listens: --address") from error
        self.address = f"http://127.0.0.1:{await self._forwarded(name)}"

    async def _forwarded(self, pod: str) -> int:
        assert self._child is not None  # noqa: S101 - for mypy
        assert self._child.stdout is not None  # noqa: S101
        said = b""
        try:
            async with asyncio.timeout(_PATIENCE):
                while more := await self._child.stdout.read(_CHUNK):
                    said += more
                    if found := _FORWARDED.search(said):
                        return int(found[1])
                    said = said[-_KEPT:]
        except TimeoutError:
            said = b"no answer"
        await self._end()
        why = " ".join(said.decode(errors="replace").split())
        raise ClusterError(f"no port-forward to pod <{show(pod)}>: {show(why, most=_LONGEST)}")

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            with suppress(ProcessLookupError):
                child.kill()
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    await _drained(child)
                    await child.wait()

    async def _ready_pod(self) -> tuple[str, int]:
        """Name and port of one. Errors: ClusterError."""
        path = f"/api/v1/namespaces/{self._namespace}/pods"
        async for pod in listed(self._client, path, _OperatorPod, selector=_SELECTOR):
            if isinstance(pod, _OperatorPod) and pod.ready:
                return str(pod.metadata.get("name")), pod.port
        raise ClusterError(
            f"no ready pod of the operator in namespace <{show(self._namespace)}>; name another "
            "with --config, or where it listens with --address"
        )


async def _drained(child: asyncio.subprocess.Process) -> None:
    """Read its output to the end, and keep nothing: a pipe that nobody reads would stop it."""
    assert child.stdout is not None  # noqa: S101 - for mypy
    while await child.stdout.read(_CHUNK):
        pass
