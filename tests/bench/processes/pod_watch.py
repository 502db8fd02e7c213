"""When the pods of a namespace were released, bound and deleted, by one watch."""

import asyncio
from time import monotonic
from typing import Final

import aiohttp
import msgspec

from cardquota.quota import GATE
from cardquota_dev.predicate import Predicate


class _PodMeta(msgspec.Struct, rename="camel"):
    name: str = ""
    resource_version: str = ""


class _PodGate(msgspec.Struct):
    name: str


class _PodSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    scheduling_gates: tuple[_PodGate, ...] = ()


class _PodStatus(msgspec.Struct):
    phase: str = ""


class _PodNow(msgspec.Struct):
    metadata: _PodMeta = msgspec.field(default_factory=_PodMeta)
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


class _PodChange(msgspec.Struct):
    type: str
    object: _PodNow


_DECODE: Final = msgspec.json.Decoder(_PodChange).decode


class PodWatch:
    """First moments by the pod's name, seconds, monotonic: when the event reached this process."""

    def __init__(self, revision: str, *, patience: float) -> None:
        self.revision = revision
        """Where the watch stands."""
        self._patience = patience
        self._moved = asyncio.Event()
        self._failure: Exception | None = None
        self.gated: dict[str, float] = {}
        self.opened: dict[str, float] = {}
        """Without our gate; pods that never had it too."""
        self.bound: dict[str, float] = {}
        self.running: dict[str, float] = {}
        self.deleted: dict[str, float] = {}

    async def until(self, condition: Predicate[bool], what: str) -> None:
        """Return once what was seen fulfils a condition."""
        try:
            async with asyncio.timeout(self._patience):
                while not condition():
                    if self._failure is not None:
                        raise self._failure
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            seen = {
                name: len(getattr(self, name))
                for name in ("gated", "opened", "bound", "running", "deleted")
            }
            raise RuntimeError(f"{what}: not within {self._patience:.0f} s; {seen}") from None

    async def read(self, stream: aiohttp.StreamReader) -> None:
        """Note what comes, until the stream ends."""
        rest = b""
        async for chunk in stream.iter_any():
            at = monotonic()
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._note(_DECODE(line), at)
            self._moved.set()

    def fail(self, error: Exception) -> None:
        """Nothing will come any more: whoever waits ends with this."""
        self._failure = error
        self._moved.set()

    def _note(self, event: _PodChange, at: float) -> None:
        pod = event.object
        name = pod.metadata.name
        self.revision = pod.metadata.resource_version
        if event.type == "DELETED":
            self.deleted.setdefault(name, at)
            return
        gated = any(gate.name == GATE for gate in pod.spec.scheduling_gates)
        (self.gated if gated else self.opened).setdefault(name, at)
        if pod.spec.node_name:
            self.bound.setdefault(name, at)
        if pod.status.phase == "Running":
            self.running.setdefault(name, at)
