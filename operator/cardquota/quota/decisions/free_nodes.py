"""Whether nodes have a card free for pods, so that they start at once (E7).

This serves a choice between cards with quota and is never a limit.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

from ..ledger.ledger_reader import LedgerReader
from ..nodes.free_cards import FreeOn
from ..pods.pod_facts import PodFacts
from ..selectors.taints import Tolerance

MOST_COMPARED: Final = 20_000
"""Comparisons of a pod's tolerations with the different taints of the nodes with cards: some
milliseconds. Nobody looks at nodes for a pod that takes more."""
NOBODY: Final[Counter[int]] = Counter()


def free_for(ledger: LedgerReader, facts: PodFacts) -> Callable[[str], FreeOn] | None:
    """A function that says of a card what the nodes have free that the pod selects and tolerates.
    None: nobody looks at nodes for this pod.

    Costs a step for each node that it selects, if it selects by other labels than those of cards,
    and for each different taint.
    """
    free, tolerance = ledger.nodes.free, Tolerance(facts.tolerations)
    if free.comparisons(tolerance) > MOST_COMPARED:
        return None
    tolerated = free.tolerated(tolerance)
    selected = ledger.nodes.choice(facts.selector) if facts.selector else None

    def free_of(card: str) -> FreeOn:
        if selected is None:
            by_taints = free.by_taints(card)
        else:
            by_taints = free.of_nodes(card, selected.get(card, ()))
        return free.on(card, [by_taints[taints] for taints in by_taints if taints in tolerated])

    return free_of


def has_free(ledger: LedgerReader, facts: PodFacts, amount: int) -> Callable[[str], bool]:
    """A function that says of a card whether a node has it free for one pod."""
    free_of = free_for(ledger, facts)
    return lambda card: free_of is None or free_of(card).most_after(NOBODY) >= amount
