"""Pods that an event left to be read anew are read in turns, and who listens is told."""

import asyncio

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue
from cardquota.cluster.watch import ChangeNotifier, OverdueReads, watched_kinds
from cardquota.quota.reports.drift import drift

TEAM = a_namespace("team").with_default_queue("red")
PODS = [a_pod(f"p{n}").naming(H200).asking_for(1).gated() for n in range(20)]


async def test_they_are_read_without_being_asked_for() -> None:
    queues = [a_queue(name).with_quota({H200: 9}) for name in ("red", "blue")]
    ledger, notifier = a_ledger(*CARDS, TEAM, *queues, *PODS, at_once=3), ChangeNotifier()
    OverdueReads(ledger, notifier)
    sink = next(
        w.sink for w in watched_kinds(ledger, notifier, lambda _: None) if w.kind == "namespaces"
    )
    calls: list[bool] = []
    notifier.listen(lambda: calls.append(ledger.overdue))
    sink.seen(TEAM.with_default_queue("blue").wire())
    assert calls == [True]
    for _ in PODS:  # at least one in each turn, however busy the machine is
        await asyncio.sleep(0)
    assert {record.queue for record in ledger.pods.values()} == {"blue"}
    # Whoever waits for the ledger to move hears of it once more when that is done.
    assert calls[-1] is False
    assert drift(ledger) == {}


async def test_others_have_a_turn_in_between() -> None:
    ledger, notifier = a_ledger(*CARDS, TEAM, *PODS, at_once=0), ChangeNotifier()
    OverdueReads(ledger, notifier)
    left: list[int] = []
    read_overdue = ledger.reassessment.read_overdue

    def one_a_turn(_: object) -> None:
        left.append(ledger.reassessment.left)
        done = [False]

        def enough() -> bool:
            was, done[0] = done[0], True
            return was

        read_overdue(enough)

    ledger.reassessment.read_overdue = one_a_turn  # type: ignore[method-assign, assignment]
    ledger.namespace_gone("team")
    notifier.notify()
    turns = 0
    while ledger.overdue:
        await asyncio.sleep(0)
        turns += 1
    assert left == list(range(20, 0, -1))
    assert turns >= 20
