import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from cardquota.cluster.api import Client
from cardquota.cluster.election import Elector
from cardquota.loop import boottime
from cardquota.quota import HANDOVER
from harness.proxy import Proxy

from .conftest import until

DURATION = 2.0
DEADLINE = 1.6
LOOKS_EVERY = 5.0
"""Seconds between two looks of one who is slow; all in seconds."""


class RunningElector:
    """An elector that runs, and what it was told."""

    def __init__(self, elector: Elector) -> None:
        self.elector = elector
        self.told: list[tuple[str, str]] = []
        self.at: list[float] = []
        self._task = asyncio.create_task(
            elector.run(lambda term: self._tell("acquired", term), lambda t: self._tell("lost", t))
        )

    def _tell(self, what: str, term: str) -> None:
        self.told.append((what, term))
        self.at.append(boottime())

    @property
    def renewed_at(self) -> float:
        """When the last renewal that succeeded was sent."""
        return self.elector._renewals.sent  # noqa: SLF001

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


Start = Callable[..., Awaitable[RunningElector]]


@pytest.fixture
async def start(client: Client, namespace: str) -> AsyncIterator[Start]:
    started = []

    async def start(identity: str, *, of: Client = client, slowly: bool = False) -> RunningElector:
        """`slowly`: all times are ten times as long, and it looks every `LOOKS_EVERY`."""
        elector = Elector(
            of,
            namespace=namespace,
            name="cardquota",
            identity=identity,
            duration=DURATION * (10 if slowly else 1),
            renew_deadline=DEADLINE * (10 if slowly else 1),
            retry_period=LOOKS_EVERY if slowly else 0.1,
        )
        started.append(RunningElector(elector))
        return started[-1]

    yield start
    for candidate in started:
        await candidate.stop()


@pytest.fixture
def path(namespace: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/cardquota"


async def lease(client: Client, path: str) -> Any:
    return msgspec.json.decode(await client.get(path))


async def leads(candidate: RunningElector, times: int = 1) -> str:
    """Its newest term, once it was told of that many."""

    def acquired() -> list[str]:
        return [term for what, term in candidate.told if what == "acquired"]

    await until(lambda: len(acquired()) >= times, "an acquisition")
    return acquired()[-1]


async def stops_in_time(candidate: RunningElector, stalled: float) -> None:
    """Wait until its deadline is over. At each moment it has no more left than that, counted from
    when no answer came any more; a look that is late does not matter.
    """

    def over() -> bool:
        asked = boottime()
        left = candidate.elector.time_left()
        assert left <= max(0.0, DEADLINE - (asked - stalled))
        return left <= 0

    await until(over, "the deadline")


async def test_a_missing_lease_is_taken_at_once(client: Client, start: Start, path: str) -> None:
    first = await start("first")
    term = await leads(first)
    assert term.startswith("first_")
    assert first.elector.term == term
    assert 0 < first.elector.time_left() <= DEADLINE
    assert first.elector.previous_renewal_seen is None
    got = await lease(client, path)
    assert got["spec"]["holderIdentity"] == term
    assert got["spec"]["leaseDurationSeconds"] == 2
    assert got["spec"]["leaseTransitions"] == 0
    sent = got["spec"]["renewTime"]
    async with asyncio.timeout(5):
        while got["spec"]["renewTime"] == sent:
            got = await lease(client, path)
    assert got["spec"]["acquireTime"] <= sent < got["spec"]["renewTime"]
    assert first.elector.term == term


@pytest.mark.slow
async def test_a_silent_leader_is_succeeded_after_the_whole_duration(
    client: Client, start: Start, path: str
) -> None:
    first = await start("first")
    await leads(first)
    second = await start("second")
    # Long enough for the second to see a few renewals: none of them is its cue.
    await until(lambda: second.elector.held, "the second looks on")
    assert {second.elector.leader, first.elector.leader} == {first.elector.term}
    await first.stop()
    resource = (await lease(client, path))["metadata"]["resourceVersion"]
    kept = first.elector.term
    assert kept is not None, "cancelling gives nothing up"
    term = await leads(second)
    previous = second.elector.previous_renewal_seen
    assert previous is not None
    assert second.at[0] - previous >= DURATION
    assert first.elector.time_left() <= 0
    assert first.elector.term is None
    assert (first.elector.leader, second.elector.leader) == ("", term)
    got = await lease(client, path)
    assert got["metadata"]["resourceVersion"] != resource
    assert got["spec"]["holderIdentity"] == term
    assert got["spec"]["leaseTransitions"] == 1


async def test_an_orderly_exit_hands_over_at_once(client: Client, start: Start, path: str) -> None:
    first = await start("first", slowly=True)
    await leads(first)
    second = await start("second", slowly=True)
    await until(lambda: second.elector.held, "the second looks on")
    await client.patch(path, {"metadata": {"annotations": {"theirs": "stays"}}})
    await first.stop()
    gave_up = boottime()
    await first.elector.release({"pods": 7})
    assert first.elector.term is None
    assert first.elector.time_left() <= 0
    await leads(second)
    assert boottime() - gave_up < LOOKS_EVERY
    assert second.elector.previous_renewal_seen is None
    assert second.elector.handover == {"pods": 7}
    annotations = (await lease(client, path))["metadata"]["annotations"]
    assert annotations == {"theirs": "stays"}


@pytest.mark.parametrize("how", ["given up", "deleted"])
async def test_a_free_lease_is_taken_before_the_next_look_is_due(
    client: Client, start: Start, path: str, how: str
) -> None:
    first = await start("first", slowly=True)
    await leads(first)
    second = await start("second", slowly=True)
    await until(lambda: second.elector.held, "the second looks on")
    await first.stop()
    freed = boottime()
    if how == "deleted":
        await client.send("DELETE", path)
    else:
        await first.elector.release()
    await leads(second)
    assert boottime() - freed < LOOKS_EVERY


async def test_who_cannot_watch_the_lease_looks_at_it(
    proxied: Client, proxy: Proxy, start: Start
) -> None:
    first = await start("first")
    await leads(first)
    second = await start("second", of=proxied)
    await until(lambda: second.elector.held, "the second looks on")
    for _ in range(3):  # its stream among them, again and again
        proxy.cut()
        await asyncio.sleep(0.1)
    await first.stop()
    await first.elector.release()
    proxy.cut()
    await leads(second)


async def test_times_on_the_lease_are_for_people(client: Client, start: Start, path: str) -> None:
    """Clocks of two machines are never compared: a renewal in a far future holds up nobody."""
    first = await start("first")
    await leads(first)
    second = await start("second")
    await until(lambda: second.elector.held, "the second looks on")
    await first.stop()
    future = {"renewTime": "2100-01-01T00:00:00.000000Z", "acquireTime": None}
    await client.patch(path, {"spec": future})
    touched = boottime()
    await leads(second)
    assert DURATION - 0.15 <= boottime() - touched < DURATION + 3


async def test_a_handover_is_nobodys_who_comes_later(
    client: Client, start: Start, path: str
) -> None:
    """It speaks of the last term alone; nor is it believed of a Lease that somebody holds."""
    first = await start("first")
    await leads(first)
    await first.stop()
    await first.elector.release({"pods": 7})
    second = await start("second")
    await leads(second)
    await client.patch(path, {"metadata": {"annotations": {HANDOVER: '{"pods":9}'}}})
    await second.stop()
    third = await start("third")
    await leads(third)
    assert third.elector.handover is None
    assert third.elector.previous_renewal_seen is not None


async def test_a_deleted_lease_ends_the_term(client: Client, start: Start, path: str) -> None:
    first = await start("first")
    term = await leads(first)
    await client.send("DELETE", path)
    new = await leads(first, times=2)
    assert new != term
    assert first.told == [("acquired", term), ("lost", term), ("acquired", new)]
    assert first.elector.last_loss == "the Lease was deleted"
    assert first.elector.previous_renewal_seen is not None
    assert (await lease(client, path))["spec"]["holderIdentity"] == new


@pytest.mark.slow
async def test_a_lease_taken_by_somebody_else_is_lost(
    client: Client, start: Start, path: str
) -> None:
    first = await start("first")
    term = await leads(first)
    await client.patch(path, {"spec": {"holderIdentity": "usurper"}})
    await until(lambda: first.told[1:], "the loss")
    assert first.told[1] == ("lost", term)
    assert first.elector.last_loss == "the Lease is held by usurper"
    assert first.elector.term is None
    new = await leads(first, times=2)
    assert new != term
    assert first.at[2] - first.at[1] >= DURATION - 0.15


@pytest.mark.slow
async def test_a_leader_without_answers_stops_by_itself(
    proxied: Client, proxy: Proxy, start: Start
) -> None:
    first = await start("first", of=proxied)
    term = await leads(first)
    stalled = boottime()
    proxy.stall()
    await stops_in_time(first, stalled)
    await until(lambda: first.told[1:] == [("lost", term)], "the loss")
    proxy.cut()
    proxy.flow()
    # The Lease is still in the name of its own ended term: no need to wait for anybody.
    assert await leads(first, times=2) != term
    assert first.elector.previous_renewal_seen is not None


async def test_somebody_who_touches_the_lease_does_not_end_the_term(
    client: Client, start: Start, path: str
) -> None:
    first = await start("first")
    term = await leads(first)
    for number in range(20):
        await client.patch(path, {"metadata": {"annotations": {"number": str(number)}}})
    renewed = first.renewed_at
    await until(lambda: first.renewed_at > renewed, "a renewal after that")
    assert first.told == [("acquired", term)]


async def test_health_begins_again_when_answers_are_late(
    proxied: Client, proxy: Proxy, start: Start
) -> None:
    first = await start("first", of=proxied)
    await leads(first)
    assert first.elector.healthy_since == first.elector.acquired_at
    proxy.stall()
    stalled = boottime()
    await until(lambda: first.elector.healthy_since > stalled, "unhealthy")
    proxy.cut()
    proxy.flow()
    before = first.renewed_at
    await until(lambda: first.renewed_at > before, "healthy again")
    assert first.elector.healthy_since > stalled


@pytest.mark.slow
async def test_there_is_never_more_than_one_leader(client: Client, start: Start, path: str) -> None:
    """Five candidates; the Lease is given up, deleted, taken by another holder, left to run out."""
    candidates = [await start(f"c{number}") for number in range(5)]
    terms: set[str] = set()

    def leading(at_most: int = 1) -> list[str]:
        now = [t for c in candidates if (t := c.elector.term) is not None]
        assert len(now) <= at_most
        terms.update(now)
        return now

    async def leader() -> RunningElector:
        await until(leading, "a leader")
        return next(c for c in candidates if c.elector.term is not None)

    async def next_leader(at_most: int = 1) -> None:
        before = set(terms)
        await until(lambda: set(leading(at_most)) - before, "another term")
        await until(lambda: len(leading(at_most)) == 1, "one term alone")

    first = await leader()
    await first.stop()
    await first.elector.release()
    await next_leader()
    # Whoever led does not know it before its next renewal: why a successor settles, and the API
    # server asks for the term.
    await client.send("DELETE", path)
    await next_leader(at_most=2)
    await client.patch(path, {"spec": {"holderIdentity": "another"}})
    await next_leader()
    await (await leader()).stop()
    await next_leader()
    assert len(terms) >= 5
