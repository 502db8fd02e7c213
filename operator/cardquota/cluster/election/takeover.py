"""Between winning the Lease and deciding: let the predecessor's writes end, then read them all.

No message of the predecessor is needed. After its renew deadline it stopped by its own clock. Once
the API server is known to compare with our term, what it sends late is refused; what it had in
flight was answered within the settle time, and a quorum read now shows the rest.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from ...loop.timing import Backoff, boottime, ended
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from ..watch.delivery import decode_page, revision_of
from ..watch.reflector import Reflector
from .elector import Elector

T = TypeVar("T")

log = logging.getLogger(__name__)

_CHECK_EVERY = 0.1
"""Seconds between two checks of the term and the clock."""


class LeadershipLost(Exception):  # noqa: N818 - what happened, not what is wrong
    """The term ended before its holder could start deciding."""


async def settle_and_catch_up(
    elector: Elector,
    reflectors: Sequence[Reflector[Any]],
    client: Client,
    held: Callable[[], Awaitable[float]],
    *,
    settle: float = 3.0,
    renew_deadline: float = 8.0,
    optional_wait: float = 10.0,
) -> None:
    """Return when the holder of the current term may decide. Times in seconds.

    `held`: returns once the API server accepts decisions of this term and of no other, with the
    time since when. `optional_wait`: how long kinds are waited for on which no decision depends.

    After a hand-over it is enough to have seen what the predecessor had seen: it had settled all
    its writes, and writes no more.

    Guarantees otherwise: at that moment at least `renew_deadline + settle` have passed since the
    predecessor's last renewal was seen (unless there was none, or it gave the Lease up), and
    `settle` since our term holds, the last `settle` of it healthy without a break. And all
    reflectors have delivered everything that was in the store after that, of optional kinds those
    that could within `optional_wait`.
    Not guaranteed: that a write is seen which the API server accepted before that and stores later.
    Errors: LeadershipLost.
    """
    term = elector.term
    if term is None:
        raise LeadershipLost("not leading")
    quiet_from = await _until(elector, term, held())
    if (handover := elector.handover) is not None and all(r.kind in handover for r in reflectors):
        left = (_caught_up(r, client, optional_wait, handover[r.kind]) for r in reflectors)
        await _until(elector, term, _all(left))
        log.info("term %s may decide, as the last one left it", term)
        return
    if elector.previous_renewal_seen is not None:
        quiet_from = max(quiet_from, elector.previous_renewal_seen + renew_deadline)
    while (missing := max(quiet_from, elector.healthy_since) + settle - boottime()) > 0:
        await asyncio.sleep(min(missing, _CHECK_EVERY))
        _check(elector, term)
    left = (_caught_up(r, client, optional_wait) for r in reflectors)
    await _until(elector, term, _all(left))
    log.info("term %s may decide", term)


async def _until(elector: Elector, term: str, work: Awaitable[T]) -> T:
    """Return once the work is done. Raises LeadershipLost if the term ends before."""
    working = asyncio.ensure_future(work)
    try:
        while not working.done():
            await asyncio.wait({working}, timeout=_CHECK_EVERY)
            _check(elector, term)
        found = await working
    finally:
        await ended({working})
    _check(elector, term)
    return found


def _check(elector: Elector, term: str) -> None:
    if elector.term != term:
        raise LeadershipLost(f"term {term} ended")


async def _all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(work)


async def _caught_up(
    reflector: Reflector[Any], client: Client, optional_wait: float, named: int | None = None
) -> None:
    """Return once `_catch_up` has; for an optional kind not later than after so many seconds."""
    try:
        async with asyncio.timeout(None if reflector.needed else optional_wait):
            await _catch_up(reflector, client, named)
    except TimeoutError:
        log.warning(
            "%s: not up to date after %g s; starting without", reflector.kind, optional_wait
        )


async def _catch_up(reflector: Reflector[Any], client: Client, named: int | None) -> None:
    """Return once a kind was delivered up to `named`, or else up to what the store holds now, or
    an optional kind is absent.

    The read is needed in both cases: it makes the API server ask the store for its revision.
    Without it, a kind that never changes would get no bookmark that passes the revision.
    """
    backoff = Backoff(cap=2.0)
    while True:
        try:
            # Without a resourceVersion: what the store holds now, not what a cache has.
            body = await client.get(reflector.path, params={"limit": "1"}, timeout=5.0)
            revision = revision_of(decode_page(body).metadata.resource_version)
            break
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            # One that was there a moment ago may be forbidden for a second only.
            if reflector.absent and isinstance(error, ApiError) and error.absent:
                return
            log.warning("catching up with %s: %s", reflector.kind, error)
            retry_after = getattr(error, "retry_after", None)
        await asyncio.sleep(backoff.next(retry_after))
    await reflector.passed(revision if named is None else named)
