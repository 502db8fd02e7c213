"""What one change means for very many pods is worked off in the loop, and who listens is told."""

import asyncio

import pytest

from builders import CARDS, H200, H800, a_ledger, a_namespace, a_node, a_pod, a_queue
from cardquota.cluster.watch import CatchingUp, ChangeNotifier, feed, watched_kinds
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift

WAITING = 1_000


def a_crowd() -> Ledger:
    """Each picks nodes by labels of its own, and by a pool that has no node yet."""
    some = (a_pod(f"p{n}").in_queue("red").asking_for(1).gated() for n in range(WAITING))
    new = ("pool", "In", ["new"])
    pods = [p.requiring([new, (f"own-{n}", "DoesNotExist", [])]) for n, p in enumerate(some)]
    return a_ledger(*CARDS, a_queue("red").with_quota({H200: 3, H800: 2}), *pods)


def requested(ledger: Ledger, card: str) -> int:
    account = ledger.account("red")
    assert account is not None
    return account.row(card).requested


async def test_all_are_read_anew_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "PAUSE", 0.0)
    ledger, notifier, calls = a_crowd(), ChangeNotifier(), list[int]()
    CatchingUp(ledger, notifier)
    notifier.listen(lambda: calls.append(requested(ledger, H800)))
    assert (requested(ledger, H200), requested(ledger, H800)) == (WAITING, 0)
    ledger.node_seen(a_node("n").with_cards(H800, 8).labelled("pool", "new").facts())
    assert ledger.behind
    notifier.notify()
    notifier.notify()
    assert await notifier.wait_for(lambda: not ledger.behind, 30)
    assert (requested(ledger, H200), requested(ledger, H800)) == (0, WAITING)
    assert len(calls) > 3
    assert calls == sorted(calls)
    assert drift(ledger) == {}


TEAM = a_namespace("team").with_default_queue("red")
PODS = [a_pod(f"p{n}").naming(H200).asking_for(1).gated() for n in range(20)]


async def test_they_are_read_without_being_asked_for() -> None:
    queues = [a_queue(name).with_quota({H200: 9}) for name in ("red", "blue")]
    ledger, notifier = a_ledger(*CARDS, TEAM, *queues, *PODS, at_once=3), ChangeNotifier()
    kinds = watched_kinds(ledger, notifier)
    sink = next(one for one in kinds if one.kind == "namespaces")
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
    CatchingUp(ledger, notifier)
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
