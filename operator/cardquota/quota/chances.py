"""Which of its cards a pod could have at once, or later, while others are let through (E7).

A choice between cards with quota, never a limit.
"""

from collections import Counter
from typing import Final

from .asking import Chance, Preference
from .free_cards import FreeOn, Rows
from .ledger_view import LedgerView
from .node_book import Choice
from .pod_facts import PodFacts
from .pod_record import PodRecord
from .taints import Tolerations

MOST_SELECTORS: Final = 2
"""Different ones by which pods that are let through together pick their nodes: each costs a walk
over those. Who picks by another one gets the first of its cards with quota."""

_Pool = tuple[str, bytes, Tolerations]
_NOBODY: Final[Rows] = Counter()


class Chances:
    """Of pods that are let through one after the other, in one go.

    The nodes of a card are looked at once for all that pick and tolerate alike: nothing changes
    there meanwhile but by those who go.
    """

    def __init__(self, ledger: LedgerView) -> None:
        self._nodes = ledger.nodes
        self._going: dict[str, Rows] = {}
        """By card, of those who were let through: how many ask for which amount."""
        self._choices: dict[bytes, Choice | None] = {}
        self._walks = 0
        self._free: dict[_Pool, FreeOn] = {}
        self._largest: dict[_Pool, int] = {}
        """The most that a node has free beside those who go; of a card to which nobody has gone
        since."""
        self._asked: dict[str, list[_Pool]] = {}
        """By card: the keys of these."""

    def of(self, record: PodRecord) -> Preference | None:
        """When a node can give a pod with a choice this or that card; None: it has no choice.

        A pod that picks its nodes gets, where none of them has a card free, one that they have: of
        the others it could only hold quota. Where none of them has any, an autoscaler may bring
        one.
        """
        request = record.request
        if request is None or len(request.cards) < 2:
            return None
        facts, amount = record.facts, request.amount

        def chance_of(card: str) -> Chance:
            if not self._looked_at(facts):
                return Chance.NOW
            pool = card, facts.selector, facts.tolerations
            if self._most_free(pool) >= amount:
                return Chance.NOW
            choice = self._choice(facts.selector)
            return Chance.LATER if choice and choice.get(card) else Chance.NONE

        return chance_of

    def go(self, card: str, amount: int, number: int) -> None:
        """So many are let through for so much of a card each."""
        self._going.setdefault(card, Counter())[amount] += number
        for pool in self._asked.pop(card, ()):
            del self._largest[pool]

    def as_many(self, record: PodRecord, card: str, amount: int, most: int) -> int:
        """How many alike, at most so many, have the same chance of a card, one after the other.

        Who goes takes nodes, and never gives one back.
        """
        pool = card, record.facts.selector, record.facts.tolerations
        if not self._looked_at(record.facts) or self._most_free(pool) < amount:
            return most
        enough, too_many, number = 1, most + 1, most
        while enough + 1 < too_many:
            if self._after(pool, Counter({amount: number - 1})) >= amount:
                enough = number
            else:
                too_many = number
            number = (enough + too_many) // 2
        return enough

    def _most_free(self, pool: _Pool) -> int:
        found = self._largest.get(pool)
        if found is None:
            found = self._largest[pool] = self._after(pool, _NOBODY)
            self._asked.setdefault(pool[0], []).append(pool)
        return found

    def _after(self, pool: _Pool, others: Rows) -> int:
        free = self._free.get(pool)
        if free is None:
            card, selector, tolerations = pool
            choice = self._choice(selector)
            nodes = None if choice is None else choice.get(card, ())
            free = self._nodes.free.on(card, tolerations=tolerations, nodes=nodes)
            self._free[pool] = free
        return free.most_after(self._going.get(pool[0], _NOBODY) + others)

    def _choice(self, selector: bytes) -> Choice | None:
        if not selector:
            return None
        if selector not in self._choices:
            found = self._choices[selector] = self._nodes.choice(selector)
            self._walks += found is not None
        return self._choices[selector]

    def _looked_at(self, facts: PodFacts) -> bool:
        selector = facts.selector
        return not selector or selector in self._choices or self._walks < MOST_SELECTORS
