"""A leader in this process, over the real API server, that may die at any of its writes.

Everything in it is the product's own: watches, ledger, judgement, writes. It takes the term that it
is given: who may lead, and for how long a successor waits, is in the tests of the election.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, cast

from cardquota.cluster.api import Client
from cardquota.cluster.events import EventRecorder
from cardquota.cluster.watch import AT_ONCE, ChangeNotifier, Reflector, watched_kinds
from cardquota.cluster.writes import FencedWriter
from cardquota.control.release import GateReleaser, Writers
from cardquota.metrics import Metrics
from cardquota.quota.cards import DEFAULT_TABLE
from cardquota.quota.ledger import Ledger
from cardquota.settings import Settings
from harness.releasing import is_idle, unfinished


@dataclass(frozen=True)
class Death:
    """At which write a leader dies, counted from 1. `landed`: the write is stored all the same."""

    at: int
    landed: bool


class MortalWriter:
    """Sends one write after the other, so that "after the third write" is one state of the store.

    At the write of its death, and ever after, nothing is answered any more: as of a process that is
    killed. Dry runs and reads are no writes.
    """

    def __init__(
        self, client: Client, death: Death | None, after: Callable[[], Awaitable[None]]
    ) -> None:
        """`after`: awaited after every write that is stored, before the next one is sent."""
        self._client = client
        self._death = death
        self._after = after
        self._one_at_a_time = asyncio.Lock()
        self.dead = asyncio.Event()
        self.written: list[str] = []
        """The kinds of objects that were written, in order."""

    async def get(self, path: str) -> bytes:
        return await self._client.get(path)

    async def post(
        self, path: str, body: object, *, params: dict[str, str] | None = None, **more: Any
    ) -> bytes:
        raise NotImplementedError("this leader binds nothing")

    async def patch(
        self, path: str, body: object, *, params: dict[str, str] | None = None, **more: Any
    ) -> bytes:
        if params and "dryRun" in params:
            return await self._client.patch(path, body, params=params, **more)
        async with self._one_at_a_time:
            if self._death is not None and len(self.written) + 1 == self._death.at:
                if self._death.landed:
                    await self._send(path, body, params, more)
                self.dead.set()
                await asyncio.Event().wait()
            return await self._send(path, body, params, more)

    async def _send(
        self, path: str, body: object, params: dict[str, str] | None, more: dict[str, Any]
    ) -> bytes:
        answer = await self._client.patch(path, body, params=params, **more)
        self.written.append(path.split("/")[-2])
        await self._after()
        return answer


class MortalLeader:
    """One term of a leader that knows nothing but what is stored when it begins."""

    def __init__(
        self,
        client: Client,
        term: str,
        death: Death | None,
        after: Callable[[], Awaitable[None]],
    ) -> None:
        self.ledger = Ledger(DEFAULT_TABLE, at_once=AT_ONCE)
        self.writer = MortalWriter(client, death, after)
        notifier = ChangeNotifier()
        kinds = watched_kinds(self.ledger, notifier)
        self._reflectors = [
            Reflector[Any](client, path=w.path, delivery=w.delivery()) for w in kinds if w.needed
        ]

        def fenced() -> FencedWriter:
            client = cast("Client", self.writer)
            return FencedWriter(client, lambda: 60.0, timeout=5.0, at_a_time=32)

        self._releaser = GateReleaser(
            self.ledger,
            Writers(fenced, fenced),
            EventRecorder(client, instance=term),
            Metrics(),
            Settings(),
            term=term,
            clock=asyncio.get_running_loop().time,
        )
        notifier.listen(self._releaser.wake)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(one.run()) for one in self._reflectors]
        for one in self._reflectors:
            await one.wait_synced()
        self._tasks.append(loop.create_task(self._releaser.run()))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing of it runs any more, and nothing more is written."""
        self.writer.dead.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def idle(self) -> bool:
        """Whether nothing of it is under way."""
        return is_idle(self._releaser)

    def standing(self) -> object:
        """What is shown where something does not happen."""
        pods = self.ledger.pods.values()
        waits = {r.facts.name: (r.facts.uid, r.charge_state, r.backed_off) for r in pods}
        groups = {key: group.minimum for key, group in self.ledger.groups.items()}
        return self.writer.written, unfinished(self._releaser), waits, groups

    @property
    def failed(self) -> BaseException | None:
        """What ended its term, if anything did."""
        term = self._tasks[-1]
        return term.exception() if term.done() and not term.cancelled() else None
