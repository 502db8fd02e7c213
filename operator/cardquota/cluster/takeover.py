"""Between winning the Lease and deciding: let the predecessor's writes end, then read them all.

No message of the predecessor is needed: after its renew deadline it stopped by its own clock,
what it had in flight was answered within the settle time, and a quorum read now shows the rest.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from . import wire
from .api_error import ApiError, OutcomeUnknown
from .backoff import Backoff
from .client import Client
from .clock import boottime
from .elector import Elector

log = logging.getLogger(__name__)

_CHECK_EVERY = 0.1
"""Seconds between looks at the term and the clock."""


class Source(Protocol):
    """What is needed of a reflector, whatever it reflects."""

    path: str
    kind: str

    async def passed(self, revision: int) -> None:
        """Return once everything up to `revision` was told."""


class LeadershipLost(Exception):  # noqa: N818 - what happened, not what is wrong
    """The term ended before its holder could begin to decide."""


async def settle_and_catch_up(
    elector: Elector,
    reflectors: Sequence[Source],
    client: Client,
    *,
    settle: float = 3.0,
    renew_deadline: float = 8.0,
    clock: Callable[[], float] = boottime,
) -> None:
    """Return when the holder of the current term may decide. Times in seconds.

    Guarantees: at that moment at least `renew_deadline + settle` have passed since the
    predecessor's last renewal was seen (unless there was none, or it gave the Lease up) and
    `settle` since the own acquisition, the last `settle` of them healthy without a break; and all
    reflectors have told everything that was in the store after that.
    Not guaranteed: that a write which the API server accepted earlier than that and stores later
    is seen. `clock` is the elector's. Errors: LeadershipLost.
    """
    term = elector.term
    if term is None:
        raise LeadershipLost("not leading")
    quiet_from = elector.acquired_at
    if elector.previous_renewal_seen is not None:
        quiet_from = max(quiet_from, elector.previous_renewal_seen + renew_deadline)
    while (missing := max(quiet_from, elector.healthy_since) + settle - clock()) > 0:
        await asyncio.sleep(min(missing, _CHECK_EVERY))
        _check(elector, term)
    catching_up = asyncio.create_task(_all_catch_up(reflectors, client))
    try:
        while not catching_up.done():
            await asyncio.wait({catching_up}, timeout=_CHECK_EVERY)
            _check(elector, term)
        await catching_up
    finally:
        catching_up.cancel()
        await asyncio.wait({catching_up})
    _check(elector, term)
    log.info("term %s may decide", term)


def _check(elector: Elector, term: str) -> None:
    if elector.term != term:
        raise LeadershipLost(f"term {term} ended")


async def _all_catch_up(reflectors: Sequence[Source], client: Client) -> None:
    async with asyncio.TaskGroup() as tasks:
        for reflector in reflectors:
            tasks.create_task(_catch_up(reflector, client))


async def _catch_up(reflector: Source, client: Client) -> None:
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
    await reflector.passed(revision)
