"""Between winning the Lease and deciding: let the predecessor's writes end, then read them all.

No message of the predecessor is needed: after its renew deadline it stopped by its own clock,
what it had in flight was answered within the settle time, and a quorum read now shows the rest.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol

import msgspec

from ..api import wire
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.backoff import Backoff
from ..api.client import Client
from ..api.clock import boottime
from .elector import Elector

log = logging.getLogger(__name__)

_CHECK_EVERY = 0.1
"""Seconds between looks at the term and the clock."""


_POLICY_LAG = 0.25
"""Seconds after an acquisition in which the API server may not know the new term yet, and would
refuse what is decided in it: a few tens of milliseconds as measured."""


class RevisionSource(Protocol):
    """What is needed of a reflector, whatever it reflects."""

    path: str
    kind: str

    async def passed(self, revision: int) -> None:
        """Return once everything up to `revision` was told."""


class LeadershipLost(Exception):  # noqa: N818 - what happened, not what is wrong
    """The term ended before its holder could begin to decide."""


async def settle_and_catch_up(
    elector: Elector,
    reflectors: Sequence[RevisionSource],
    client: Client,
    *,
    settle: float = 3.0,
    renew_deadline: float = 8.0,
    clock: Callable[[], float] = boottime,
) -> None:
    """Return when the holder of the current term may decide. Times in seconds.

    After a hand-over it is enough to have seen what the predecessor had seen: it had settled all
    that it wrote, and writes no more.

    Guarantees otherwise: at that moment at least `renew_deadline + settle` have passed since the
    predecessor's last renewal was seen (unless there was none, or it gave the Lease up) and
    `settle` since the own acquisition, the last `settle` of them healthy without a break; and all
    reflectors have told everything that was in the store after that.
    Not guaranteed: that a write which the API server accepted earlier than that and stores later
    is seen. `clock` is the elector's. Errors: LeadershipLost.
    """
    term = elector.term
    if term is None:
        raise LeadershipLost("not leading")
    if (handover := elector.handover) is not None and all(r.kind in handover for r in reflectors):
        await asyncio.sleep(max(0.0, elector.acquired_at + _POLICY_LAG - clock()))
        left = (_catch_up(r, client, handover[r.kind]) for r in reflectors)
        await _until(elector, term, left)
        log.info("term %s may decide, as the last one left it", term)
        return
    quiet_from = elector.acquired_at
    if elector.previous_renewal_seen is not None:
        quiet_from = max(quiet_from, elector.previous_renewal_seen + renew_deadline)
    while (missing := max(quiet_from, elector.healthy_since) + settle - clock()) > 0:
        await asyncio.sleep(min(missing, _CHECK_EVERY))
        _check(elector, term)
    await _until(elector, term, (_catch_up(reflector, client) for reflector in reflectors))
    log.info("term %s may decide", term)


async def _until(elector: Elector, term: str, works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Return once all are done, while the term lasts."""
    working = asyncio.create_task(_all(works))
    try:
        while not working.done():
            await asyncio.wait({working}, timeout=_CHECK_EVERY)
            _check(elector, term)
        await working
    finally:
        working.cancel()
        await asyncio.wait({working})
    _check(elector, term)


def _check(elector: Elector, term: str) -> None:
    if elector.term != term:
        raise LeadershipLost(f"term {term} ended")


async def _all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(work)


async def _catch_up(reflector: RevisionSource, client: Client, named: int | None = None) -> None:
    """Return once a kind was told up to `named`, or else up to what the store holds now.

    The read is due in both cases: it has the API server ask the store how far it is, without which
    a kind that nobody changes gets no bookmark to be passed by.
    """
    backoff = Backoff(cap=2.0)
    while True:
        try:
            # Without a resourceVersion: what the store holds now, not what a cache remembers.
            body = await client.get(reflector.path, params={"limit": "1"}, timeout=5.0)
            revision = wire.revision_of(wire.decode_page(body).metadata.resource_version)
            break
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            log.warning("catching up with %s: %s", reflector.kind, error)
            retry_after = getattr(error, "retry_after", None)
        await asyncio.sleep(backoff.next(retry_after))
    await reflector.passed(revision if named is None else named)
