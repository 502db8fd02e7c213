"""Bytes of bodies in work, and which connections are closed: too many, or too slow."""

import asyncio

import pytest

from cardquota.cluster.serving import (
    IDLE,
    REQUEST_WITHIN,
    SMALL,
    BodyBudget,
    BodyHold,
    BusyError,
    Connection,
    Connections,
)

LARGE = 4 * SMALL


def held(budget: BodyBudget, size: int) -> BodyHold:
    hold = BodyHold(budget)
    hold.grow_to(size)
    return hold


def test_what_is_released_has_room_for_others() -> None:
    budget = BodyBudget(4 * LARGE)
    holds = [held(budget, LARGE) for _ in range(3)]
    with pytest.raises(BusyError):
        held(budget, LARGE)
    holds[0].release()
    holds[0].release()
    held(budget, LARGE)
    assert budget.held == 3 * LARGE


def test_large_bodies_leave_a_quarter_to_small_ones() -> None:
    budget = BodyBudget(4 * LARGE)
    for _ in range(3):
        held(budget, LARGE)
    for _ in range(LARGE // SMALL):
        held(budget, SMALL)
    with pytest.raises(BusyError):
        held(budget, 1)


def test_a_body_that_grows_holds_what_has_come() -> None:
    budget = BodyBudget(4 * SMALL)
    hold = held(budget, SMALL)
    hold.grow_to(3 * SMALL)
    hold.grow_to(2 * SMALL)
    with pytest.raises(BusyError):
        hold.grow_to(3 * SMALL + 1)
    assert budget.held == 3 * SMALL
    hold.release()
    assert budget.held == 0


class FakeWire(asyncio.Transport):
    """Only tells whether it was cut."""

    def __init__(self) -> None:
        super().__init__()
        self._aborted = False

    def abort(self) -> None:
        self._aborted = True

    def cut(self) -> bool:
        return self._aborted


class Port:
    """A port with room for three."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.all = Connections(3, self.refused.append)

    def connect(self) -> tuple[FakeWire, Connection]:
        wire = FakeWire()
        found = self.all.accept(wire)
        assert found is not None
        found.idle()
        return wire, found


@pytest.mark.fake_clock
async def test_strangers_close_the_oldest_of_their_own() -> None:
    port = Port()
    server, known = port.connect()
    known.working()
    known.idle(answered=True)
    (first, _), (second, _) = port.connect(), port.connect()
    third, _ = port.connect()
    assert [wire.cut() for wire in (server, first, second, third)] == [False, True, False, False]
    assert len(port.all) == 3
    assert port.refused == ["connections"]


@pytest.mark.fake_clock
async def test_of_those_that_were_answered_the_longest_silent_goes() -> None:
    port = Port()
    found = [port.connect() for _ in range(3)]
    for _, one in (*found, found[0]):
        one.working()
        one.idle(answered=True)
    port.connect()
    assert [wire.cut() for wire, _ in found] == [False, True, False]


@pytest.mark.fake_clock
async def test_nobody_is_closed_while_he_is_answered() -> None:
    port = Port()
    found = [port.connect() for _ in range(3)]
    for _, one in found:
        one.working()
    refused = FakeWire()
    assert port.all.accept(refused) is None
    assert refused.cut()
    await asyncio.sleep(2 * IDLE)
    assert not any(wire.cut() for wire, _ in found)
    found[1][1].lost()
    found[1][1].idle()
    assert len(port.all) == 2


@pytest.mark.fake_clock
@pytest.mark.parametrize("begun", [True, False])
async def test_a_request_comes_in_time_or_not_at_all(*, begun: bool) -> None:
    """It does not help to send a byte now and then, nor to say nothing while TLS is set up."""
    port = Port()
    wire = FakeWire()
    connection = port.all.accept(wire)
    assert connection is not None
    if begun:
        connection.idle()
        await asyncio.sleep(IDLE / 2)
    for _ in range(3):
        connection.reading()
        await asyncio.sleep(REQUEST_WITHIN / 4)
    assert not wire.cut()
    await asyncio.sleep(REQUEST_WITHIN / 4 + 2)
    assert wire.cut()
    assert port.refused == ["slow"]
    assert len(port.all) == 0


@pytest.mark.fake_clock
async def test_a_silent_one_is_closed_late_and_without_a_word() -> None:
    port = Port()
    wire, _ = port.connect()
    await asyncio.sleep(IDLE - 2)
    assert not wire.cut()
    await asyncio.sleep(4)
    assert wire.cut()
    assert port.refused == []
