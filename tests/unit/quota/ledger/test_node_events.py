"""What an event about a node costs: the queues that deserve something else now, and no others."""

import pytest

from builders import CARDS, H200, H800, a_ledger, a_node, a_pod, a_queue, see
from cardquota.quota.ledger import Ledger
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports import report

SOLD = a_queue("sold").with_quota({H200: 20})
"""More than there are: 8, and 8 in the tests that add a node."""
TOO = a_queue("too").with_quota({H200: 1, H800: 1})
LESS = a_queue("less").with_quota({H800: 3})


@pytest.fixture
def ledger() -> Ledger:
    ledger = a_ledger(*CARDS, SOLD, TOO, LESS)
    ledger.dirty.take_changed()
    ledger.dirty.pending.take()
    return ledger


def changed_by(ledger: Ledger, *nodes: object) -> set[str]:
    """The queues that are told of it; what is shown of the others is as it was."""
    before = {name: report(ledger, name) for name in ("sold", "too", "less")}
    see(ledger, *nodes)  # type: ignore[arg-type]
    told = ledger.dirty.take_changed()
    for name, found in before.items():
        assert name in told or report(ledger, name) == found
    return told


def test_those_who_have_the_card_hear_of_it_where_it_is_oversold(ledger: Ledger) -> None:
    assert changed_by(ledger, a_node("more").with_cards(H200, 8)) == {"sold", "too"}


def test_nobody_does_where_there_is_enough_before_and_after(ledger: Ledger) -> None:
    assert changed_by(ledger, a_node("more").with_cards(H800, 8)) == set()


def test_those_who_have_the_card_do_when_there_is_enough_from_now_on(ledger: Ledger) -> None:
    assert changed_by(ledger, a_node("more").with_cards(H200, 50)) == {"sold", "too"}
    assert changed_by(ledger, a_node("more").with_cards(H200, 51)) == set()
    ledger.node_gone("more")
    assert ledger.dirty.take_changed() == {"sold", "too"}


def test_nobody_does_of_what_says_nothing_about_cards(ledger: Ledger) -> None:
    assert changed_by(ledger, CARDS[0].labelled("zone", "a")) == set()


def test_nobody_is_tried_again_for_another_number_of_cards(ledger: Ledger) -> None:
    """Room is a matter of quota; of nodes only whether a card is known."""
    for name, card in (("waits", H200), ("never", H200), ("unknown", "NVIDIA-A100")):
        amount = 50 if name == "never" else 1
        see(ledger, a_pod(name).in_queue("sold").naming(card).asking_for(amount).gated())
    list(openings(ledger, "sold"))
    ledger.dirty.pending.take()
    epoch = ledger.epoch
    see(ledger, a_node("more").with_cards(H200, 8))
    ledger.node_gone("more")
    assert (ledger.dirty.pending.take(), ledger.epoch) == (set(), epoch)


def test_who_waits_for_a_card_to_be_known_is_tried_again_when_one_is(ledger: Ledger) -> None:
    see(ledger, a_pod("odd").in_queue("sold").naming("NVIDIA-A100").asking_for(1).gated())
    see(ledger, a_pod("never").in_queue("less").naming(H800).asking_for(50).gated())
    list(openings(ledger, "sold"))
    list(openings(ledger, "less"))
    ledger.dirty.pending.take()
    see(ledger, a_node("new").with_cards("XPU-1", 8, "example.com/xpu"))
    assert "sold" in ledger.dirty.pending.take()


def test_an_event_looks_at_no_queue_that_it_does_not_concern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever number of them there is."""
    others = [a_queue(f"q{n}").with_quota({H800: 1, f"other-{n}": 1}) for n in range(300)]
    ledger = a_ledger(*CARDS, SOLD, *others, a_node("more").with_cards(H200, 8))
    ledger.dirty.take_changed()
    monkeypatch.setattr(ledger, "accounts_by_queue", None)  # any look at all of them would fail
    see(ledger, a_node("more").with_cards(H200, 7))
    ledger.node_gone("more")
    monkeypatch.undo()
    assert ledger.dirty.take_changed() == {"sold"}


def test_p4_a_card_that_no_node_has_any_more_is_not_what_was_meant() -> None:
    """What was read of a pod is kept, but not beyond that."""
    node, waits = a_node().with_cards(H800, 8), a_pod().in_queue("red").naming(H200).asking_for(1)
    ledger = a_ledger(node, waits.gated())

    def refused() -> str:
        record = ledger.pods[waits.uid]
        invalid = ledger.reading_of(record.facts, ledger.account("red")).invalid_request
        return invalid.text if invalid is not None else ""

    assert "did you mean <NVIDIA-H800>?" in refused()
    see(ledger, node.without_allocatable())
    assert "did you mean" not in refused()
    see(ledger, node)
    assert "did you mean <NVIDIA-H800>?" in refused()
