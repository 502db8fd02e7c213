import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager

import msgspec
import pytest

from cardquota.cluster.api import Client
from cardquota.cluster.election import Elector, LeadershipLost, settle_and_catch_up
from cardquota.loop import boottime

from .conftest import until

SETTLE = 0.4
DEADLINE = 1.2


class FakeReflector:
    """Stands where a reflector stands: notes the revision asked for, and answers when told."""

    kind = "ConfigMap"
    needed = True
    absent = False

    def __init__(self, namespace: str) -> None:
        self.path = f"/api/v1/namespaces/{namespace}/configmaps"
        self.asked = 0
        self.asked_at = 0.0
        self.caught_up = asyncio.Event()

    async def passed(self, revision: int) -> None:
        self.asked, self.asked_at = revision, boottime()
        await self.caught_up.wait()


def _elector(client: Client, namespace: str) -> Elector:
    return Elector(
        client,
        namespace=namespace,
        name="cardquota",
        identity="me",
        duration=60.0,  # none of its terms is to end by itself
        renew_deadline=50.0,
        retry_period=0.1,
    )


@asynccontextmanager
async def _leading(client: Client, namespace: str) -> AsyncIterator[tuple[Elector, FakeReflector]]:
    """One that leads, and a mirror that has seen nothing."""
    elector, acquired = _elector(client, namespace), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(elector.run(lambda _: acquired.set(), lambda _: None))
        await acquired.wait()
        yield elector, FakeReflector(namespace)
        running.cancel()


def _from_the_start(elector: Elector) -> Callable[[], Awaitable[float]]:
    """The API server knows the term as soon as the Lease is ours."""

    async def held() -> float:
        return elector.acquired_at

    return held


async def test_the_time_counts_from_when_the_api_server_knows_the_term(
    client: Client, namespace: str
) -> None:
    async with _leading(client, namespace) as (elector, mirror):
        mirror.caught_up.set()
        known = asyncio.Event()

        async def held() -> float:
            await known.wait()
            return boottime()

        settling = asyncio.create_task(_settle(elector, mirror, client, held=held))
        await asyncio.sleep(2 * SETTLE)
        assert not mirror.asked
        since = boottime()
        known.set()
        await settling
        assert mirror.asked_at - since >= SETTLE


async def _settle(
    elector: Elector,
    mirror: FakeReflector,
    client: Client,
    *more: FakeReflector,
    settle: float = SETTLE,
    renew_deadline: float = DEADLINE,
    optional_wait: float = 60.0,
    held: Callable[[], Awaitable[float]] | None = None,
) -> None:
    await settle_and_catch_up(
        elector,
        [mirror, *more],  # type: ignore[list-item]
        client,
        held or _from_the_start(elector),
        settle=settle,
        renew_deadline=renew_deadline,
        optional_wait=optional_wait,
    )


async def test_without_a_predecessor_only_the_settle_time_is_waited_for(
    client: Client, namespace: str
) -> None:
    async with _leading(client, namespace) as (elector, mirror):
        settling = asyncio.create_task(_settle(elector, mirror, client, renew_deadline=60.0))
        await until(lambda: mirror.asked, "catching up")
        assert SETTLE <= mirror.asked_at - elector.acquired_at < SETTLE + 60.0
        body = await client.get(mirror.path, params={"limit": "1"})
        assert mirror.asked <= int(msgspec.json.decode(body)["metadata"]["resourceVersion"])
        assert not settling.done()
        mirror.caught_up.set()
        await settling


@pytest.mark.parametrize("kinds", [{"ConfigMap": 41, "Other": 1}, {"Other": 1}])
async def test_after_a_handover_it_is_enough_to_have_seen_what_it_names(
    client: Client, namespace: str, kinds: dict[str, int]
) -> None:
    """If it names every kind; else it is none."""
    async with _leading(client, namespace) as (elector, mirror):
        mirror.caught_up.set()
        elector.handover = kinds
        if "ConfigMap" in kinds:
            async with asyncio.timeout(30):
                await _settle(elector, mirror, client, settle=120.0)
            assert mirror.asked == 41
        else:
            await _settle(elector, mirror, client)
            assert mirror.asked_at - elector.acquired_at >= SETTLE


class OptionalKind(FakeReflector):
    """Of a kind on which no decision depends."""

    kind = "Optional"
    needed = False


async def test_an_optional_kind_is_caught_up_with(client: Client, namespace: str) -> None:
    """The cards that are listed as broken are one: what was listed before must be known."""
    async with _leading(client, namespace) as (elector, mirror):
        optional = OptionalKind(namespace)
        mirror.caught_up.set()
        settling = asyncio.create_task(_settle(elector, optional, client, mirror))
        await until(lambda: optional.asked, "catching up")
        assert not settling.done()
        optional.caught_up.set()
        await settling


async def test_an_optional_kind_is_waited_for_only_a_while(client: Client, namespace: str) -> None:
    async with _leading(client, namespace) as (elector, mirror):
        optional = OptionalKind(namespace)
        mirror.caught_up.set()
        await _settle(elector, optional, client, mirror, optional_wait=0.1)
        assert optional.asked
        assert mirror.asked


@pytest.mark.parametrize("path", ["/apis/not.served/v1/things", "/api/v1/things"])
async def test_an_optional_kind_that_is_absent_is_not_waited_for(
    client: Client, namespace: str, path: str
) -> None:
    async with _leading(client, namespace) as (elector, mirror):
        optional = OptionalKind(namespace)
        optional.path, optional.absent = path, True
        mirror.caught_up.set()
        await _settle(elector, optional, client, mirror)
        assert not optional.asked


async def test_one_that_was_there_a_moment_ago_is_asked_for_again(
    client: Client, namespace: str
) -> None:
    """An API server that was started anew forbids all for a second."""
    async with _leading(client, namespace) as (elector, mirror):
        optional = OptionalKind(namespace)
        optional.caught_up.set()
        mirror.caught_up.set()
        path, optional.path = optional.path, "/apis/not.served/v1/things"
        settling = asyncio.create_task(_settle(elector, optional, client, mirror))
        await until(lambda: mirror.asked, "catching up")
        await asyncio.sleep(0.3)
        assert not settling.done()
        optional.path = path
        await settling
        assert optional.asked


async def test_an_error_of_one_kind_ends_it(client: Client, namespace: str) -> None:
    class Broken(FakeReflector):
        async def passed(self, revision: int) -> None:
            raise ValueError("a bug")

    async with _leading(client, namespace) as (elector, mirror):
        with pytest.raises(ExceptionGroup, match="unhandled"):
            await _settle(elector, Broken(namespace), client, mirror)


async def test_a_predecessors_deadline_is_waited_for(client: Client, namespace: str) -> None:
    async with _leading(client, namespace) as (elector, mirror):
        mirror.caught_up.set()
        elector.previous_renewal_seen = boottime()
        await _settle(elector, mirror, client)
        assert mirror.asked_at - elector.previous_renewal_seen >= DEADLINE + SETTLE


async def test_a_term_that_ends_meanwhile_is_said(client: Client, namespace: str) -> None:
    elector, mirror = _elector(client, namespace), FakeReflector(namespace)
    with pytest.raises(LeadershipLost):
        await _settle(elector, mirror, client)
    acquired, lost = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(elector.run(lambda _: acquired.set(), lambda _: lost.set()))
        await acquired.wait()
        settling = tasks.create_task(_raises(_settle(elector, mirror, client)))
        await until(lambda: mirror.asked, "catching up")
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/cardquota"
        await client.patch(lease, {"spec": {"holderIdentity": "usurper"}})
        assert await settling
        running.cancel()


async def _raises(attempt: Coroutine[object, object, None]) -> bool:
    with pytest.raises(LeadershipLost):
        await attempt
    return True
