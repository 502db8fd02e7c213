"""Waits take a small part of the time together, in vain or not."""

import asyncio

import pytest

from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import SHARE, WaitBudget

pytestmark = pytest.mark.fake_clock

WAIT = 0.05


class EventToCome:
    """Something that is not there yet."""

    def __init__(self, notifier: ChangeNotifier) -> None:
        self._notifier = notifier
        self._there = False

    def there(self) -> bool:
        return self._there

    def comes_soon(self) -> None:
        asyncio.get_running_loop().call_soon(self.come)

    def come(self) -> None:
        self._there = True
        self._notifier.notify()


async def test_waits_that_find_what_they_wait_for_do_not_add_up_either() -> None:
    now, notifier = [0.0], ChangeNotifier()
    wait = WaitBudget(notifier, WAIT, lambda: now[0])
    spent, found = 0.0, []
    for _ in range(40):
        event = EventToCome(notifier)

        def comes(event: EventToCome = event) -> None:
            now[0] += 0.4 * WAIT
            event.come()

        waiting = asyncio.get_running_loop().call_soon(comes)
        before = now[0]
        found.append(await wait.wait_for(event.there))
        waiting.cancel()
        spent += now[0] - before
    assert found[:2] == [True, True]
    assert not any(found[4:])
    assert spent <= 1.3 * WAIT


async def test_who_asks_many_times_at_once_shares_it() -> None:
    notifier = ChangeNotifier()
    clock = asyncio.get_running_loop().time
    wait = WaitBudget(notifier, WAIT, clock)
    never = EventToCome(notifier)
    began = clock()
    await asyncio.gather(*(wait.wait_for(never.there) for _ in range(100)))
    assert clock() - began < 3 * WAIT
    event = EventToCome(notifier)
    await asyncio.sleep(1.5 * WAIT / SHARE)
    event.comes_soon()
    assert await wait.wait_for(event.there)
