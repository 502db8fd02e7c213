"""A clock that goes on by itself, and says so where a test would never end."""

import asyncio
import socket

import pytest

from harness import fake_clock_loop as module
from harness.fake_clock_loop import ClockStandsError, FakeClockLoop, NothingWillHappenError, pass_by


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.fake_clock
async def test_who_waits_is_woken_at_the_very_time_and_in_order() -> None:
    woken: list[tuple[float, str]] = []

    async def wait(seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append((now() - began, f"{seconds}"))

    began = now()
    async with asyncio.TaskGroup() as tasks:
        for seconds in (3600.0, 0.25, 0.0):
            tasks.create_task(wait(seconds))
    assert woken == [(0.0, "0.0"), (0.25, "0.25"), (3600.0, "3600.0")]


@pytest.mark.fake_clock
async def test_time_may_pass_while_nobody_has_a_turn() -> None:
    began, times = now(), list[float]()
    asyncio.get_running_loop().call_later(1, lambda: times.append(now()))
    pass_by(5)
    assert times == []
    for _ in range(2):  # a timer that is due has its turn after what was ready before
        await asyncio.sleep(0)
    assert times == [began + 5]


def test_a_test_in_which_nothing_will_happen_ends() -> None:
    with (
        asyncio.Runner(loop_factory=FakeClockLoop) as runner,
        pytest.raises(NothingWillHappenError),
    ):
        runner.run(asyncio.Event().wait())


def test_one_in_which_somebody_never_waits_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROUNDS", 1_000)

    async def never_waits() -> None:
        while True:  # noqa: ASYNC110
            await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=FakeClockLoop) as runner, pytest.raises(ClockStandsError):
        runner.run(never_waits())


@pytest.mark.fake_clock
async def test_threads_and_sockets_are_refused() -> None:
    with pytest.raises(RuntimeError, match="threads"):
        await asyncio.to_thread(print)
    one, other = socket.socketpair()
    with one, other, pytest.raises(RuntimeError, match="sockets"):
        asyncio.get_running_loop().add_reader(one, print)
