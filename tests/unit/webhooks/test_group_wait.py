"""Reviews wait a moment for objects: few at once for a pod group, and never too long."""

import asyncio

import pytest

from builders import H200, a_group, a_ledger, a_pod, see
from cardquota.cluster.watch import ChangeNotifier
from cardquota.quota.ledger import Ledger
from cardquota.settings import Settings, Webhook
from cardquota_webhooks import MOST_WAITING, VisibilityWait

from .waiting_reviews import until_waiting

AGES = 3600.0
MEMBER = a_pod().in_queue("queue").naming(H200).asking_for(1).in_group("gang").facts()


def visibility(
    ledger: Ledger,
    notifier: ChangeNotifier,
    settings: Settings | None = None,
    longest: float | None = None,
) -> VisibilityWait:
    async def not_there(_: str) -> bool | None:
        return False

    return VisibilityWait(ledger, settings or Settings(), notifier, not_there, longest=longest)


async def test_sixteen_wait_at_once_and_others_are_answered_by_what_is_known() -> None:
    ledger, notifier = a_ledger(), ChangeNotifier()
    group = visibility(ledger, notifier, longest=AGES)
    async with asyncio.TaskGroup() as tasks:
        all_of_them = [tasks.create_task(group.group_of(MEMBER)) for _ in range(MOST_WAITING)]
        await until_waiting(notifier, MOST_WAITING)
        await group.group_of(MEMBER)
        assert not any(task.done() for task in all_of_them)
        see(ledger, a_group("gang"))
        notifier.notify()
    later = a_pod().in_queue("queue").in_group("later").facts()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(group.group_of(later))
        await until_waiting(notifier)
        see(ledger, a_group("later"))
        notifier.notify()


async def test_nobody_waits_for_a_group_that_is_there_or_that_is_not_named() -> None:
    ledger = a_ledger(a_group("gang"))
    group = visibility(ledger, ChangeNotifier(), longest=AGES)
    await group.group_of(MEMBER)
    await group.group_of(a_pod().facts())


@pytest.mark.fake_clock
@pytest.mark.parametrize(("patience", "longest"), [(1, 0.25), (2, 0.5), (5, 1.0), (30, 1.0)])
async def test_for_one_object_a_review_waits_a_second_or_a_quarter_of_the_api_servers_patience(
    patience: int, longest: float
) -> None:
    settings = Settings(webhook=Webhook(timeout_seconds=patience))
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert not await visibility(a_ledger(), ChangeNotifier(), settings).namespace("new")
    assert loop.time() - began == pytest.approx(longest)
