"""What a change of nodes moved among very many waiting pods is worked off in the loop."""

import asyncio

import pytest

from builders import CARDS, H200, H800, a_ledger, a_node, a_pod, a_queue
from cardquota.cluster.watch import CatchingUp, ChangeNotifier, catching_up
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift

WAITING = 1_000


def a_crowd() -> Ledger:
    """Each picks nodes by labels of its own, and by a pool that has no node yet."""
    pods = [
        a_pod(f"p{n}")
        .in_queue("red")
        .asking_for(1)
        .gated()
        .requiring([("pool", "In", ["new"]), (f"own-{n}", "DoesNotExist", [])])
        for n in range(WAITING)
    ]
    return a_ledger(*CARDS, a_queue("red").with_quota({H200: 3, H800: 2}), *pods)


def requested(ledger: Ledger, card: str) -> int:
    account = ledger.account("red")
    assert account is not None
    return account.row(card).requested


async def test_all_are_read_anew_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catching_up, "PAUSE", 0.0)
    ledger, notifier, calls = a_crowd(), ChangeNotifier(), []
    notifier.listen(lambda: calls.append(requested(ledger, H800)))
    assert (requested(ledger, H200), requested(ledger, H800)) == (WAITING, 0)
    ledger.node_seen(a_node("n").with_cards(H800, 8).labelled("pool", "new").facts())
    assert ledger.behind
    catching = CatchingUp(ledger, notifier)
    catching.look()
    catching.look()
    assert await notifier.wait_for(lambda: not ledger.behind, 30)
    assert (requested(ledger, H200), requested(ledger, H800)) == (0, WAITING)
    assert len(calls) > 3
    assert calls == sorted(calls)
    assert drift(ledger) == {}


async def test_where_nothing_is_behind_nothing_is_done() -> None:
    ledger, notifier, calls = a_ledger(*CARDS), ChangeNotifier(), list[int]()
    notifier.listen(lambda: calls.append(1))
    CatchingUp(ledger, notifier).look()
    await asyncio.sleep(0.05)
    assert calls == []
