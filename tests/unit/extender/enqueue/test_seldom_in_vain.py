"""Who waits in vain once does not wait again soon."""

import asyncio

from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.extender.enqueue.seldom_in_vain import PAUSE, SeldomInVain

WAIT = 0.05


class EventToCome:
    """Something that is not there yet."""

    def __init__(self, notifier: ChangeNotifier) -> None:
        self._notifier = notifier
        self._there = False

    def there(self) -> bool:
        return self._there

    def comes_soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._come)

    def _come(self) -> None:
        self._there = True
        self._notifier.notify()


async def test_after_a_wait_in_vain_there_is_none_for_a_time() -> None:
    now, notifier = [0.0], ChangeNotifier()
    wait = SeldomInVain(notifier, WAIT, lambda: now[0])
    first, second = EventToCome(notifier), EventToCome(notifier)
    assert not await wait.wait_for(first.there)
    first.comes_soon()
    assert not await wait.wait_for(first.there)
    await asyncio.sleep(0)
    assert await wait.wait_for(first.there)
    now[0] = PAUSE * WAIT
    second.comes_soon()
    assert await wait.wait_for(second.there)


async def test_waits_that_find_what_they_wait_for_may_follow_each_other() -> None:
    notifier = ChangeNotifier()
    wait = SeldomInVain(notifier, WAIT, lambda: 0.0)
    for _ in range(3):
        event = EventToCome(notifier)
        event.comes_soon()
        assert await wait.wait_for(event.there)
