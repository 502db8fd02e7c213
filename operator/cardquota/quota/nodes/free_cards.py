"""The free cards on nodes that take pods now, so that a pod can have them at once (E7).

This serves a choice between cards with quota and is never a limit. The ledger decides on quota; a
pod that finds no node waits for one (an autoscaler has to see it).

Not considered: what a pod asks for besides its cards. Pods that were released and have no node
yet are assumed to fill nodes tightly, and to take nodes that the asking pod tolerates.

Costs: an event about a node or a bound pod is one step per card. A question costs by the number of
different amounts of free cards on nodes, and of different taints, not by the number of nodes.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..amounts import Devices, add_to
from ..cards.card import Card
from ..cards.card_memory import KeptByNode
from ..selectors.selector import Taints, Tolerance

Offers = tuple[tuple[Card, int], ...]


Rows = Counter[int]
"""By number of free cards on a node: how many nodes."""


ByTaints = Mapping[Taints, Mapping[int, int]]
"""By the taints of nodes, then by number of free cards on a node: how many nodes."""
_NONE: ByTaints = {}


class FreeCards:
    """Amounts are cards."""

    def __init__(self) -> None:
        self.used: dict[str, dict[str, int]] = {}
        """By node and resource name: what the node's pods hold. Only to be read by others."""
        self.offers: dict[str, Offers] = {}
        """By node, only of nodes that take pods. Only to be read by others."""
        self.kept = KeptByNode()
        """What others keep that follows from `used` and `offers`."""
        self._taints_of: dict[str, Taints] = {}
        """Of each of those nodes."""
        self._taints = Counter[Taints]()
        """How many of those nodes have them: a pod tolerates all of these or none."""
        self._rows: dict[str, dict[Taints, Rows]] = {}
        """By card, then by the taints of its nodes."""
        self._awaited: dict[str, Rows] = {}
        """By card: the amounts of pods that were released and have no node yet."""

    def offer(self, node: str, offers: Offers, taints: Taints = ()) -> None:
        """Set what a node offers: nothing if it takes no pods or is gone."""
        self.kept.drop(node)
        self._post(node, -1)
        if self.offers.pop(node, None):
            add_to(self._taints, self._taints_of.pop(node), -1)
        if offers:
            self.offers[node] = offers
            self._taints_of[node] = taints
            self._taints[taints] += 1
        self._post(node, 1)

    def use(self, node: str, devices: Devices, sign: int) -> None:
        """A pod with these devices was bound to a node (1), or no longer holds them (-1)."""
        self.kept.drop(node)
        used = self.used.setdefault(node, {})
        offers = self.offers.get(node, ())
        for resource, amount in devices:
            before = used.get(resource, 0)
            after = before + sign * amount
            add_to(used, resource, sign * amount)
            for card, offered in offers:
                if card.resource == resource:
                    rows = self._rows[card.name][self._taints_of[node]]
                    rows[offered - after] += 1
                    add_to(rows, offered - before, -1)
        if not used:
            del self.used[node]

    def await_node(self, card: str, amount: int, sign: int) -> None:
        """A pod was released for a card and has no node yet (1), or that has ended (-1)."""
        rows = self._awaited.setdefault(card, Counter())
        add_to(rows, amount, sign)
        if not rows:
            del self._awaited[card]

    def use_of(self, node: str, resource: str) -> tuple[int, int] | None:
        """How many cards a node that takes pods has in use, of how many that it offers; None if it
        offers none by this resource.
        """
        for card, amount in self.offers.get(node, ()):
            if card.resource == resource:
                return self.used.get(node, {}).get(resource, 0), amount
        return None

    def total(self, card: str) -> int:
        """What is free of a card on all nodes together, less what pods will take that were released
        and have no node yet. Costs a step for each of the `by_taints`.
        """
        rows = self.by_taints(card).values()
        free = sum(max(0, amount) * nodes for row in rows for amount, nodes in row.items())
        awaited: Rows = self._awaited.get(card, Counter())
        return max(0, free - sum(amount * pods for amount, pods in awaited.items()))

    def most_on_node(self, card: str) -> int:
        """The most that one node has free, once those pods have filled nodes tightly."""
        return max(0, self.on(card, self.by_taints(card).values()).most_after(Counter()))

    def by_taints(self, card: str) -> ByTaints:
        """What nodes have free of a card. Valid until something changes there."""
        return self._rows.get(card, _NONE)

    def of_nodes(self, card: str, nodes: Collection[str]) -> ByTaints:
        """What these nodes have free of a card. Costs a step for each of them."""
        offers_of, used_of, taints_of = self.offers.get, self.used.get, self._taints_of
        found: dict[Taints, dict[int, int]] = {}
        for node in nodes:
            for one, offered in offers_of(node, ()):
                if one.name == card:
                    used = used_of(node)
                    free = offered if used is None else offered - used.get(one.resource, 0)
                    rows = found.setdefault(taints_of[node], {})
                    rows[free] = rows.get(free, 0) + 1
        return found

    def on(self, card: str, nodes: Collection[Mapping[int, int]]) -> "FreeOn":
        """What these rows have free of a card, for several questions. Valid until a change there.

        Pods that still get a node are then assumed to go to these. Costs a step for each row.
        """
        awaited = self._awaited.get(card, Counter())
        if len(nodes) == 1:
            return FreeOn(next(iter(nodes)), awaited)
        total: dict[int, int] = {}
        for rows in nodes:
            for free, number in rows.items():
                total[free] = total.get(free, 0) + number
        return FreeOn(total, awaited)

    def tolerated(self, tolerance: Tolerance) -> frozenset[Taints]:
        """Those taints that a pod with these tolerations tolerates. Costs `comparisons`."""
        return frozenset(filter(tolerance.covers, self._taints))

    def comparisons(self, tolerance: Tolerance) -> int:
        """How many steps `tolerated` takes at most."""
        return len(self._taints) + sum(map(len, self._taints)) * tolerance.most

    def _post(self, node: str, sign: int) -> None:
        used = self.used.get(node, {})
        for card, amount in self.offers.get(node, ()):
            taints, by_taints = self._taints_of[node], self._rows.setdefault(card.name, {})
            rows = by_taints.setdefault(taints, Counter())
            add_to(rows, amount - used.get(card.resource, 0), sign)
            if not rows:
                del by_taints[taints]
                if not by_taints:
                    del self._rows[card.name]


class FreeOn(NamedTuple):
    """The free cards of one name on some nodes."""

    rows: Mapping[int, int]
    awaited: Rows

    def most_after(self, going: Rows) -> int:
        """The most that one node has free after the pods in `going` and those that were released
        before have gone to these nodes; 0 if there is no node.
        """
        if not self.rows:
            return 0
        awaited = self.awaited + going
        return _largest_after(Counter(self.rows), awaited) if awaited else max(self.rows)


def _largest_after(rows: Rows, awaited: Rows) -> int:
    """The most that one node has free after the `awaited` pods have filled nodes tightly."""
    most = max(rows)
    # A pod that fits on no node takes nothing.
    for amount in sorted((amount for amount in awaited if amount <= most), reverse=True):
        left = awaited[amount]
        while left:
            free = min((free for free in rows if free >= amount), default=0)
            if not free:
                break
            each = min(free // amount, left)
            nodes = min(rows[free], left // each)
            add_to(rows, free, -nodes)
            rows[free - each * amount] += nodes
            left -= nodes * each
    return max(rows, default=0)
