"""D8: without a queue, and in audit mode, no affinity makes a pod run on the card that it names. So
once it is bound it is counted by the card of its node, whatever it names.
"""

import pytest

from builders import CARDS, H200, H800, a_ledger, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger

RED = a_queue("red").with_quota({H200: 3, H800: 3})
NAMED = a_pod().naming(H800).asking_for(2)


def charged(ledger: Ledger, queue: str) -> dict[str, tuple[int, int]]:
    """Allocated and let through, by card."""
    account = ledger.account(queue)
    assert account is not None
    rows = {card: account.row(card) for card in (H200, H800)}
    return {c: (row.allocated, row.inqueue) for c, row in rows.items() if row.charged}


@pytest.mark.parametrize(("queue", "mode"), [("", ""), ("red", "audit")])
def test_a_bound_pod_counts_by_its_node_whatever_it_names(queue: str, mode: str) -> None:
    ledger = a_ledger(*CARDS, RED, a_namespace("team").in_mode(mode or None))
    pod: PodBody = NAMED.in_queue(queue or None)
    ledger.pod_seen(pod.facts())
    if not mode:
        assert charged(ledger, queue) == {H800: (0, 2)}
    else:
        assert ledger.pods[pod.uid].charge == ()
    ledger.pod_seen(pod.on_node("h200-a").at_revision(2).facts())
    assert charged(ledger, queue) == {H200: (2, 0)}


@pytest.mark.parametrize(("queue", "mode"), [("", ""), ("red", "audit")])
def test_of_a_node_that_shows_its_card_later_it_counts_by_name_until_then(
    queue: str, mode: str
) -> None:
    ledger = a_ledger(*CARDS, RED, a_namespace("team").in_mode(mode or None))
    ledger.pod_seen(NAMED.in_queue(queue or None).on_node("new").facts())
    assert charged(ledger, queue) == {H800: (2, 0)}
    ledger.node_seen(a_node("new").with_cards(H200, "8").facts())
    assert charged(ledger, queue) == {H200: (2, 0)}
