"""The product as far as it reads: admission, watches, the ledger, and the leader's decisions.

What comes in are bytes, as an API server would send them.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import thread_time
from typing import Any

import msgspec

from cardquota.cluster.watch.object_index import ObjectIndex
from cardquota.cluster.watch.reflector import Reflector, _BrokenError
from cardquota.cluster.watch.resume_policy import StreamError
from cardquota.control.queues.queue_metrics import refresh
from cardquota.quota.release.release_judge import Opening
from cardquota.quota.reports.drift import drift
from cardquota.quota.vocabulary import Mode
from harness.replica import Replica

from .moody import Moody

_ROUNDS = 20
"""Of the loop, for what the leader does: what it writes is answered at once."""


class Product(Replica):
    """One replica that leads."""

    def __init__(self) -> None:
        super().__init__(default_queue="other", writes=Moody())
        self.longest = 0.0
        """Seconds of processor time of the longest round of the loop since this was set to 0."""
        self.beyond: list[str] = []
        """Openings that did not fit."""
        self._reflectors: dict[str, Reflector[Any]] = {}
        self.lead()

    def line(self, kind: str, line: bytes, newest: int) -> None:
        """One line of a watch, whatever it holds: at worst the stream is given up.

        `newest`: the revision of the newest object; what claims to be newer would hide all others.
        """
        reflector = self._reflectors.get(kind)
        if reflector is None:
            reflector = self._reflectors[kind] = self.reflector(kind)
        try:
            reflector._event(line)
        except (_BrokenError, StreamError):
            del self._reflectors[kind]
        if reflector.revision > newest:
            self._reflectors.pop(kind, None)

    def relist(self, objects: Mapping[str, Sequence[bytes]]) -> None:
        """All kinds are listed anew, and hold these."""
        for kind, delivery in self.deliveries.items():
            listed = ObjectIndex()
            for body in objects.get(kind, ()):
                delivery.changed(msgspec.Raw(body), listed=listed)
            sum(delivery.only_in_steps(listed))
            self._reflectors.pop(kind, None)

    async def decide(self, newest: int) -> None:
        """What the leader does with it all: decide, tell, report."""
        self.writes.revision = newest
        self.notifier.notify()
        begun = thread_time()
        self.leadership._flush_now()
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
            now = thread_time()
            self.longest, begun = max(self.longest, now - begun), now
        if (error := self.failed()) is not None:
            self.lead()
            raise error

    async def show(self) -> None:
        """As when somebody scrapes."""
        await refresh(self.ledger, self.metrics)

    async def another_term(self) -> None:
        """What nobody has seen of the decisions is forgotten."""
        await self.follow()
        self.lead()

    def lead(self) -> None:
        """A term begins, whose every opening is looked at."""
        super().lead()
        releaser: Any = self.leadership._releaser
        releaser._open = partial(self._opens, releaser._open)

    def _opens(self, charge: Callable[..., None], opening: Opening, since: float) -> None:
        """What an opening charges fits, whatever else is over: but for what audit mode lets by."""
        account = self.ledger.account(opening.queue)
        before = {d: row.charged for d, row in account.rows.items()} if account else {}
        charge(opening, since)
        account = self.ledger.account(opening.queue)
        first = opening.pods[0][0].facts
        if account is None or self.ledger.mode_in(first.namespace) is not Mode.ENFORCE:
            return
        for dimension, charged, limit in account.over():
            if charged > before.get(dimension, 0):
                text = f"{before.get(dimension, 0)} of {dimension}, {charged} with {first.name}"
                self.beyond.append(f"{opening.queue} held {text}, may hold {limit}")

    def expire(self) -> None:
        """The time of every reservation is over (E8)."""
        if (releaser := self.leadership._releaser) is not None:
            for key in list(releaser._timeouts._running):
                releaser._timeouts._fire(key)

    def differences(self) -> dict[Any, Any]:
        """Between the ledger and a recount; empty is right."""
        return dict(drift(self.ledger))


def encoded(body: object) -> bytes:
    """As JSON; texts that are no Unicode stay escaped, numbers that are none stay what they are."""
    return json.dumps(body).encode()
