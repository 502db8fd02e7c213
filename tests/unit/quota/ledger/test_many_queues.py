"""What it costs to read very many queues: work in proportion to them, and no look at all others."""

import pytest

from builders import CARDS, H200, a_ledger, a_node, a_pod, a_queue, see
from cardquota.quota.ledger import Ledger

from ..counting import counted_calls

QUEUES = 200


@pytest.fixture
def ledger() -> Ledger:
    return a_ledger(*CARDS)


def test_those_who_share_an_oversold_card_are_counted_out_once_and_not_for_each_queue(
    ledger: Ledger,
) -> None:
    with counted_calls() as calls:
        for number in range(QUEUES):
            see(ledger, a_queue(f"q{number}").with_quota({H200: 1}))
        assert calls["_showing"] == 0
        assert len(ledger.dirty.take_changed()) == QUEUES
        assert calls["_showing"] <= QUEUES + 1  # it yields one after the other


def test_a_queue_that_comes_with_a_card_of_its_own_looks_at_no_other_queue(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(QUEUES):
        see(ledger, a_queue(f"q{number}").with_quota({f"own-{number}": 1}))
    ledger.dirty.take_changed()

    class Queues(dict[str, object]):
        def values(self) -> object:  # type: ignore[override]
            raise AssertionError("all queues are looked at")

    monkeypatch.setattr(ledger, "accounts_by_queue", Queues(ledger.accounts_by_queue))
    see(ledger, a_queue("new").with_quota({"another": 1}))
    see(ledger, a_queue("new").with_quota({}))
    monkeypatch.undo()
    assert ledger.dirty.take_changed() == {"new"}


def test_who_loses_an_oversold_card_before_changes_are_taken_is_told_too(ledger: Ledger) -> None:
    for name in ("red", "blue"):
        see(ledger, a_queue(name).with_quota({H200: 8}))
    ledger.dirty.take_changed()
    see(ledger, a_node("more").with_cards(H200, 1))
    see(ledger, a_queue("red").with_quota({}))
    ledger.queue_gone("blue")
    assert ledger.dirty.take_changed() == {"red", "blue"}


def test_a_name_that_pods_hold_is_news_to_their_queue_once_another_has_a_quota_of_it(
    ledger: Ledger,
) -> None:
    """P8."""
    see(ledger, a_queue("red").with_quota({H200: 8}))
    held = a_pod().in_queue("red").naming("odd").asking_for(1).stamped("red", {"odd": 1})
    see(ledger, held)
    ledger.dirty.take_changed()
    see(ledger, a_queue("blue").with_quota({"odd": 1}))
    assert ledger.dirty.take_changed() == {"red", "blue"}
    ledger.queue_gone("blue")
    assert ledger.dirty.take_changed() == {"red", "blue"}


def test_the_resource_name_by_which_pods_hold_a_card_is_news_to_all_who_show_that_card(
    ledger: Ledger,
) -> None:
    """P4: no node has shown the card."""
    for name in ("red", "blue"):
        see(ledger, a_queue(name).with_quota({"odd": 1}))
    see(ledger, a_queue("green").with_quota({H200: 1}))
    ledger.dirty.take_changed()
    held = a_pod().in_queue("red").naming("odd").asking_for(1).stamped("red", {"odd": 1})
    see(ledger, held)
    assert ledger.dirty.take_changed() == {"red", "blue"}
    ledger.pod_gone(held.uid)
    assert ledger.dirty.take_changed() == {"red", "blue"}
