"""The product as far as it reads: admission, watches, the ledger, and the leader's decisions.

What comes in are bytes, as an API server would send them.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import thread_time
from typing import Any

import msgspec

from cardquota.cluster.watch import BrokenStreamError, ObjectIndex, StreamError
from cardquota.control.queues import refresh
from cardquota.quota import Charge, Mode, Reservation, Stamp
from cardquota.quota.accounts import AccountReader
from cardquota.quota.reports.drift import drift
from harness.replica import Replica

from .moody import Moody

_ROUNDS = 20
"""Of the loop, for what the leader does: what it writes is answered at once."""


class FuzzedProduct(Replica):
    """One replica that leads."""

    def __init__(self) -> None:
        self._timers: list[_ExpiryTimer] = []
        super().__init__(default_queue="other", writes=Moody(), later=self._later)
        self.longest = 0.0
        """Seconds of processor time of the longest round of the loop since this was set to 0."""
        self.beyond: list[str] = []
        """Openings that did not fit."""
        self._check_charges()
        self.lead()

    def line(self, kind: str, line: bytes, newest: int) -> None:
        """One line of a watch, whatever it holds: at worst the stream is given up.

        `newest`: the revision of the newest object; what claims to be newer would hide all others.
        """
        delivery = self.deliveries[kind]
        try:
            delivery.read(line)
        except (BrokenStreamError, StreamError):
            delivery.revision = 0
        if delivery.revision > newest:
            delivery.revision = 0

    def relist(self, objects: Mapping[str, Sequence[bytes]]) -> None:
        """All kinds are listed anew, and hold these."""
        for kind, delivery in self.deliveries.items():
            listed = ObjectIndex()
            for body in objects.get(kind, ()):
                delivery.changed(msgspec.Raw(body), listed=listed)
            sum(delivery.only_in_steps(listed))
            delivery.revision = 0

    async def decide(self, newest: int) -> None:
        """What the leader does with it all: decide, tell, report."""
        self.writes.revision = newest
        self.notifier.notify()
        begun = thread_time()
        self.leadership.report_changes()
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

    def _check_charges(self) -> None:
        """What is charged fits, whatever else is over: but for what audit mode admits."""
        assume, reserve = self.ledger.decisions.assume, self.ledger.decisions.reserve
        enqueue = self.ledger.decisions.enqueue

        def assumed(uid: str, stamp: Stamp) -> None:
            facts = self.ledger.pods[uid].facts
            with self._charging(stamp.queue, facts.namespace, facts.name):
                assume(uid, stamp)

        def reserved(key: str, queue: str, term: str, asked: Charge) -> Reservation:
            namespace, _, name = key.partition("/")
            with self._charging(queue, namespace, name):
                return reserve(key, queue, term, asked)

        def enqueued(key: str, queue: str, term: str, amounts: Charge) -> Reservation:
            """It may stand over what is elastic (E1)."""
            namespace, _, name = key.partition("/")
            with self._charging(queue, namespace, name):
                return enqueue(key, queue, term, amounts)

        self.ledger.decisions.enqueue = enqueued  # type: ignore[method-assign]
        self.ledger.decisions.assume = assumed  # type: ignore[method-assign]
        self.ledger.decisions.reserve = reserved  # type: ignore[method-assign]

    @contextmanager
    def _charging(self, queue: str, namespace: str, name: str) -> Iterator[None]:
        account = self.ledger.account(queue)
        before = self._held(account)
        over = {dimension for dimension, _, _ in account.over()} if account else set()
        yield
        account = self.ledger.account(queue)
        if account is None or self.ledger.mode_in(namespace) is not Mode.ENFORCE:
            return
        now = self._held(account)
        for dimension, charged, limit in account.over():
            if now[dimension] > before.get(dimension, 0) or dimension not in over:
                text = f"{before.get(dimension, 0)} of {dimension}, {charged} with {name}"
                self.beyond.append(f"{queue} held {text}, may hold {limit}")

    @staticmethod
    def _held(account: AccountReader | None) -> dict[str, int]:
        """What is charged."""
        rows = account.rows.items() if account is not None else ()
        return {dimension: row.charged for dimension, row in rows}

    def _later(self, _: float, call: Callable[[], None]) -> "_ExpiryTimer":
        timer = _ExpiryTimer(self._timers, call)
        self._timers.append(timer)
        return timer

    def expire(self) -> None:
        """The time of every reservation is over (E8)."""
        timers, self._timers[:] = list(self._timers), []
        for timer in timers:
            timer.call()

    def differences(self) -> dict[Any, Any]:
        """Between the ledger and a recount; empty is right."""
        return dict(drift(self.ledger))


class _ExpiryTimer:
    """One that runs until all are called, or it is cancelled."""

    def __init__(self, running: list["_ExpiryTimer"], call: Callable[[], None]) -> None:
        self._running = running
        self.call = call

    def cancel(self) -> None:
        if self in self._running:
            self._running.remove(self)


def encoded(body: object) -> bytes:
    """As JSON; texts that are no Unicode stay escaped, numbers that are none stay what they are."""
    return json.dumps(body).encode()
