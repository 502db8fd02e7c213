"""Which cards are free on nodes that take pods now, so that a pod can have them at once (E7).

A choice between cards with quota, never a limit: quota is the ledger's affair, and a pod that
finds no node waits for one (an autoscaler has to see it).

Not looked at: what a pod asks for beside its cards. Pods that were let through and have no node yet
are taken to fill nodes tightly, and those that the asking pod tolerates.

Costs: an event about a node or a bound pod is one step per card. A question costs by how many
different numbers of free cards nodes have, and different taints, not by nodes.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from .card import Card
from .taints import Taints, Tolerations, tolerates

Offers = tuple[tuple[Card, int], ...]
Rows = Counter[int]
"""By how many cards a node has free: how many nodes."""


class FreeCards:
    """Amounts are cards."""

    def __init__(self) -> None:
        self._used: dict[str, dict[str, int]] = {}
        """By node and resource name: what its pods hold."""
        self._offers: dict[str, Offers] = {}
        """Of the nodes that take pods."""
        self._taints: dict[str, Taints] = {}
        """Of those of them that have any."""
        self._rows: dict[str, dict[Taints, Rows]] = {}
        """By card, and by what keeps pods away from its nodes."""
        self._awaited: dict[str, Rows] = {}
        """By card: the amounts of pods that were let through and have no node yet."""

    def offer(self, node: str, offers: Offers, taints: Taints = ()) -> None:
        """A node offers these from now on; none if it takes no pods, or is gone."""
        self._post(node, -1)
        self._offers.pop(node, None)
        self._taints.pop(node, None)
        if offers:
            self._offers[node] = offers
            if taints:
                self._taints[node] = taints
        self._post(node, 1)

    def use(self, node: str, devices: Iterable[tuple[str, int]], sign: int) -> None:
        """A pod with these devices was bound to a node (1), or holds them no longer (-1)."""
        used = self._used.setdefault(node, {})
        offers, taints = self._offers.get(node, ()), self._taints.get(node, ())
        for resource, amount in devices:
            before = used.get(resource, 0)
            after = used[resource] = before + sign * amount
            if not after:
                del used[resource]
            for card, offered in offers:
                if card.resource == resource:
                    rows = self._rows[card.name][taints]
                    rows[offered - after] += 1
                    _take(rows, offered - before, 1)
        if not used:
            del self._used[node]

    def await_node(self, card: str, amount: int, sign: int) -> None:
        """A pod was let through for a card and has no node yet (1), or is no such one now (-1)."""
        rows = self._awaited.get(card)
        if rows is None:
            rows = self._awaited[card] = Counter()
        rows[amount] += sign
        if not rows[amount]:
            del rows[amount]
            if not rows:
                del self._awaited[card]

    def at_once(
        self,
        card: str,
        amount: int,
        going: Rows | None = None,
        *,
        tolerations: Tolerations = (),
        nodes: Collection[str] | None = None,
    ) -> bool:
        """Whether a node has so many of a card free beside those that are on their way there.

        `going`: who goes there just now, by amount. `tolerations`: a node with other taints does
        not count. `nodes`: the only ones that count, if given. Who is on the way is then taken to
        go to those that count.
        """
        free = self.on(card, tolerations=tolerations, nodes=nodes)
        return 0 < amount <= free.most_after(going or Counter())

    def on(
        self,
        card: str,
        *,
        tolerations: Tolerations = (),
        nodes: Collection[str] | None = None,
    ) -> "FreeOn":
        """The same nodes, to be asked more than once while nothing else changes there.

        Costs a step for each of `nodes`.
        """
        if nodes is None:
            rows = self._tolerated(card, tolerations)
        else:
            rows = self._of_nodes(card, nodes, tolerations)
        return FreeOn(rows, self._awaited.get(card, Counter()))

    def _tolerated(self, card: str, tolerations: Tolerations) -> Rows:
        found = [
            rows
            for taints, rows in self._rows.get(card, {}).items()
            if tolerates(tolerations, taints)
        ]
        if len(found) == 1:
            return found[0]
        total: Rows = Counter()
        for rows in found:
            total.update(rows)
        return total

    def _of_nodes(self, card: str, nodes: Collection[str], tolerations: Tolerations) -> Rows:
        taints_of, offers_of, used_of = self._taints.get, self._offers.get, self._used.get
        rows: dict[int, int] = {}
        for node in nodes:
            taints = taints_of(node)
            if taints is not None and not tolerates(tolerations, taints):
                continue
            for one, offered in offers_of(node, ()):
                if one.name == card:
                    used = used_of(node)
                    free = offered if used is None else offered - used.get(one.resource, 0)
                    rows[free] = rows.get(free, 0) + 1
        return Counter(rows)

    def _post(self, node: str, sign: int) -> None:
        used, taints = self._used.get(node, {}), self._taints.get(node, ())
        for card, amount in self._offers.get(node, ()):
            by_taints = self._rows.setdefault(card.name, {})
            rows = by_taints.setdefault(taints, Counter())
            _take(rows, amount - used.get(card.resource, 0), -sign)
            if not rows:
                del by_taints[taints]
                if not by_taints:
                    del self._rows[card.name]


class FreeOn:
    """What some nodes have free of a card."""

    __slots__ = ("_awaited", "_rows")

    def __init__(self, rows: Rows, awaited: Rows) -> None:
        self._rows = rows
        self._awaited = awaited

    def most_after(self, going: Rows) -> int:
        """The most that one of them has free when those have gone there, and those who were let
        through before; 0 if there is none.
        """
        if not self._rows:
            return 0
        awaited = self._awaited + going
        return _largest_after(Counter(self._rows), awaited) if awaited else max(self._rows)


def _largest_after(rows: Rows, awaited: Rows) -> int:
    """The most that one node has free when those on their way have filled nodes tightly."""
    most = max(rows)
    # Whom no node takes takes nothing.
    for amount in sorted((amount for amount in awaited if amount <= most), reverse=True):
        left = awaited[amount]
        while left:
            free = min((free for free in rows if free >= amount), default=0)
            if not free:
                break
            each = min(free // amount, left)
            nodes = min(rows[free], left // each)
            _take(rows, free, nodes)
            rows[free - each * amount] += nodes
            left -= nodes * each
    return max(rows, default=0)


def _take(rows: Rows, free: int, nodes: int) -> None:
    rows[free] -= nodes
    if not rows[free]:
        del rows[free]
