"""Reviews of workloads wait a moment for a pod group: few at once, and never too long."""

import asyncio

import pytest

from builders import H200, a_group, a_ledger, a_pod, see
from cardquota.cluster.watch import ChangeNotifier
from cardquota.settings import Settings, Webhook
from cardquota_webhooks import MOST_WAITING, GroupWaits

from .waiting_reviews import until_waiting

AGES = Settings(webhook=Webhook(timeout_seconds=30)).model_copy(
    update={"webhook": Webhook().model_copy(update={"unseen_wait": 3600, "timeout_seconds": 9999})}
)
MEMBER = a_pod().in_queue("queue").naming(H200).asking_for(1).in_group("gang").facts()


async def test_sixteen_wait_at_once_and_others_are_answered_by_what_is_known() -> None:
    ledger, notifier = a_ledger(), ChangeNotifier()
    group = GroupWaits(ledger, AGES, notifier)
    async with asyncio.TaskGroup() as tasks:
        all_of_them = [
            tasks.create_task(group.for_group_of(MEMBER, namespace_known=True))
            for _ in range(MOST_WAITING)
        ]
        await until_waiting(notifier, MOST_WAITING)
        await group.for_group_of(MEMBER, namespace_known=True)
        assert not any(task.done() for task in all_of_them)
        see(ledger, a_group("gang"))
        notifier.notify()
    later = a_pod().in_queue("queue").in_group("later").facts()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(group.for_group_of(later, namespace_known=True))
        await until_waiting(notifier)
        see(ledger, a_group("later"))
        notifier.notify()


async def test_nobody_waits_for_a_group_that_is_there_or_that_is_not_named() -> None:
    group = GroupWaits(a_ledger(a_group("gang")), AGES, ChangeNotifier())
    await group.for_group_of(MEMBER, namespace_known=True)
    await group.for_group_of(a_pod().facts(), namespace_known=True)


@pytest.mark.parametrize("timeout", [1, 2, 3, 5, 30])
@pytest.mark.parametrize("unseen", [0, 0.5, 2])
@pytest.mark.parametrize("known", [True, False])
def test_with_what_is_waited_for_later_it_is_less_than_the_api_server_waits(
    timeout: int, unseen: float, *, known: bool
) -> None:
    settings = Settings(webhook=Webhook(timeout_seconds=timeout, unseen_wait=unseen))
    wait = GroupWaits(a_ledger(), settings, ChangeNotifier()).seconds(namespace_known=known)
    later = unseen * (1 if known else 2)
    assert 0 <= wait <= unseen
    assert wait == 0 or wait + later < timeout


def test_by_default_it_waits_as_long_as_for_anything_else() -> None:
    wait = GroupWaits(a_ledger(), Settings(), ChangeNotifier())
    assert wait.seconds(namespace_known=True) == wait.seconds(namespace_known=False) == 0.5
