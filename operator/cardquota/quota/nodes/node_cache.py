"""What the ledger holds of nodes: their cards, the totals, and the pods that wait for a node."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ..amounts import Amounts, MutableAmounts, add_to
from ..cards.card import Card, Catalog, model_of
from ..cards.discovery import some_of
from ..kept_objects import SizedCache
from ..pods.pod_facts import PodFacts
from ..selectors.selector import decode
from ..vocabulary import GPU_PRODUCT
from .free_cards import FreeCards
from .node_facts import NodeFacts, label_of
from .node_selection import Choice, NodeSelection

_NONE: Final[Mapping[str, str]] = {}


class _Asked(NamedTuple):
    """What a selector asks of nodes, whichever there are."""

    keys: frozenset[str]
    """Of the labels, and of the fields, about which it says something."""
    named: bool
    """Whether it names single nodes."""


_ASKED: Final = SizedCache[bytes, _Asked]()
_KEYS: Final = SizedCache[frozenset[str], frozenset[str]]()
"""One object for equal ones."""


def _asked_by(selector: bytes) -> _Asked:
    found = _ASKED.get(selector)
    if found is None:
        read = decode(selector)
        keys = read.keys_of_nodes()
        keys = _KEYS.get(keys) or _KEYS.put(keys, keys, sum(100 + len(key) for key in keys))
        found = _Asked(keys, read.places() is not None)
        _ASKED.put(selector, found, 2 * len(selector))
    return found


Offer = tuple[tuple[Card, int], ...]
"""The counted cards of one node; zero for a card that it has and does not offer at present."""


class NodeTotals:
    """What nodes offer of the counted cards, in sum. Amounts are cards.

    Sums follow each change at once. A change costs in proportion to the cards of one node, a
    question to the different amounts on nodes.
    """

    def __init__(self) -> None:
        self._by_node: dict[str, tuple[tuple[str, int, int], ...]] = {}
        """The cards of a node, how many it offers, and the most of it that one pod may have."""
        self._rows: dict[str, Counter[tuple[int, int]]] = {}
        """By card and these two amounts: the number of nodes; never zero."""
        self._before: MutableAmounts = {}
        """Cards whose sum has changed: the sum at the last `take_totals`."""
        self.counted_version = 0
        """Goes up whenever `has` changes for some card."""

    def put_offer(self, node: str, offer: Offer, largest: int = 0) -> None:
        """Set what a node offers now; nothing if it is gone. `largest`: the memory of its largest
        card, in its unit, if it shares any.
        """
        before = self._by_node.pop(node, ())
        after = tuple((card.name, n, largest if card.unit else n) for card, n in offer)
        if after:
            self._by_node[node] = after
        if before == after:
            return
        names = {name for name, *_ in (*before, *after)}
        had = names & self._rows.keys()
        for sign, offered in ((-1, before), (1, after)):
            for name, amount, most in offered:
                self._before.setdefault(name, self.total(name))
                rows = self._rows.setdefault(name, Counter())
                add_to(rows, (amount, most), sign)
                if not rows:
                    del self._rows[name]
        self.counted_version += had != names & self._rows.keys()

    def most(self, card: str) -> int:
        """The most of a card that a pod could have on one node, whatever is in use there; of card
        memory on one card.
        """
        return max((most for _, most in self._rows.get(card, ())), default=0)

    def take_totals(self) -> Amounts:
        """Cards whose sum has changed since the last call, with the former sum."""
        taken, self._before = self._before, {}
        return {card: before for card, before in taken.items() if before != self.total(card)}

    def total(self, card: str) -> int:
        """The sum of one card in the whole cluster."""
        rows = self._rows.get(card)
        return sum([amount * nodes for (amount, _), nodes in rows.items()]) if rows else 0

    def totals(self) -> MutableAmounts:
        """The sum of every card that a node offers now."""
        return {card: total for card in self._rows if (total := self.total(card))}

    def has(self, card: str) -> bool:
        """Whether some node has the card, even if none offers it at present, as while a device
        plugin is down.
        """
        return card in self._rows

    def nodes_with(self) -> dict[str, int]:
        """How many nodes offer each card now.

        Zero for a card that nodes show and none offers, as while a device plugin is down.
        """
        return {
            card: sum(nodes for (amount, _), nodes in rows.items() if amount > 0)
            for card, rows in self._rows.items()
        }


class NodeProblems:
    """By node. A node without problems is not kept, but reported once when its last one ends."""

    def __init__(self) -> None:
        self.by_node: dict[str, tuple[tuple[str, ...], bool]] = {}
        """What is wrong, and whether other cards of the node are counted (D5). Only to be read by
        others."""
        self._to_tell: set[str] = set()

    def put(self, node: str, texts: tuple[str, ...], *, offers_others: bool) -> None:
        """Set what is wrong with a node now. If that has changed, it is to be reported."""
        before = self.by_node.pop(node, None)
        if texts:
            self.by_node[node] = texts, offers_others
        if self.by_node.get(node) != before:
            self._to_tell.add(node)

    def drop(self, node: str) -> None:
        """A node is gone: nothing about it is reported any more."""
        self.by_node.pop(node, None)
        self._to_tell.discard(node)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Node and reason."""
        for node, (texts, _) in self.by_node.items():
            for text in texts:
                yield node, text

    def take(self) -> str | None:
        """A node whose problems have changed since they were last reported; None if none has."""
        return self._to_tell.pop() if self._to_tell else None

    def forget_untold(self) -> None:
        """Report none of what is waiting: this replica does not report."""
        self._to_tell.clear()

    def tell_all(self) -> None:
        """Have every problem reported again."""
        self._to_tell.update(self.by_node)


class NodeCache(NodeTotals):
    """The known nodes, the cards they offer, and their sums. Amounts are cards."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._catalog = catalog
        self._facts: dict[str, NodeFacts] = {}
        self._apart: dict[str, dict[str, Card]] = {}
        """By card, if nodes disagree: the nodes that show it by other labels, and how (P5)."""
        self.problems = NodeProblems()
        """Everything that is not counted (D7, D9)."""
        self._remembered: dict[str, dict[str, str]] = {}
        """By node and resource name: the card that a node offers, or last offered (D8). Includes
        cards that are not counted because nodes disagree (D7)."""
        self._resource_changes: tuple[set[str], set[str]] = set(), set()
        self._unresolved: dict[str, set[str]] = {}
        self.selection = NodeSelection()
        """Which nodes pods pick, and whose picks have changed."""
        self.free = FreeCards()
        """The cards that a pod could have at once (E7)."""

    def see(self, facts: NodeFacts) -> bool:
        """Take in a node. Returns whether cards are known that were not, or are told from others,
        or counted, in another way.
        """
        old = self._facts.get(facts.name)
        if old == facts:
            return False
        if old is not None and old.uid != facts.uid:
            self._remembered.pop(facts.name, None)
        learned, changed = self._take(facts)
        for name in changed:
            self._resource_changes[0].add(name)
            self._look_anew(name)
        return self._find_again() or learned

    def record(self, name: str, resource: str) -> bool:
        """Take in a card's resource name from a Queue's status. Returns the same as `see`."""
        before = self._catalog.resource(name)
        if not self._catalog.record(name, resource):
            return False
        if before is not None:
            self._resource_changes[0].add(name)
            self._look_anew(name)
            self._find_again()
        return True

    def take_resource_changes(self) -> tuple[set[str], set[str]]:
        """Cards whose resource name has changed since the last call (D7), and the nodes that were
        read again, for that or because a card is now known by other labels.
        """
        taken, self._resource_changes = self._resource_changes, (set(), set())
        return taken

    def _look_anew(self, card: str) -> None:
        """Read nodes that show or have shown a card as if they were new. Costs O(nodes)."""
        apart = set(self._apart.get(card, ()))
        for name, facts in list(self._facts.items()):
            if name in apart or card in self._remembered.get(name, _NONE).values():
                self._resource_changes[1].add(name)
                self._take(facts)

    def _find_again(self) -> bool:
        """If no node shows a card by its known labels any more, and some show it by others, it is
        known by those from now on (P5). Returns the same as `see`.
        """
        found = False
        for name, nodes in list(self._apart.items()):
            if not self.has(name):
                found = True
                self._catalog.show(nodes[min(nodes)])
                self._look_anew(name)
        return found

    def _put_together(self, node: str) -> None:
        """None of a node's cards is set apart any more."""
        for name, nodes in list(self._apart.items()):
            nodes.pop(node, None)
            if not nodes:
                del self._apart[name]

    def _take(self, facts: NodeFacts) -> tuple[bool, list[str]]:
        """Returns what `see` returns, and the cards whose resource name has changed."""
        counted: list[tuple[Card, int]] = []
        problems, changed, learned = list[str](), list[str](), False
        remembered = self._remembered.setdefault(facts.name, {})
        self._put_together(facts.name)
        for card, amount in facts.cards:
            shown = self._catalog.card(card.name)
            new, problem = self._catalog.learn(card)
            if problem is not None:
                problems.append(problem)
                remembered[card.resource] = card.name
                continue
            if new:
                learned = True
                if shown is not None:
                    changed.append(card.name)
            elif shown is not None and shown.unit != card.unit:  # MiB and GiB are not added (B10)
                problems.append(
                    f"card <{card.name}> is counted in {shown.unit} on other nodes, but in "
                    f"{card.unit} here"
                )
                remembered.pop(card.resource, None)
                self._apart.setdefault(card.name, {})[facts.name] = card
                continue
            elif (key := self._lacks(facts, card.name)) is not None:
                problems.append(
                    f"card <{card.name}> is shown by the label {key} on other nodes, and this node "
                    "lacks that label: pods that ask for the card are not sent here"
                )
                self._apart.setdefault(card.name, {})[facts.name] = card
                continue
            elif self._catalog.note_memory(card):
                learned = True
            counted.append((card, amount))
            remembered[card.resource] = card.name
        largest = max(facts.memory.sizes, default=0) if facts.memory is not None else 0
        self.put_offer(facts.name, tuple(counted), largest)
        self.free.offer(facts.name, tuple(counted) if facts.takes_pods else (), facts.taints)
        self._facts[facts.name] = facts
        offers = any(amount > 0 for _, amount in counted)
        wrong = *facts.problems, *some_of(problems)
        self.problems.put(facts.name, wrong, offers_others=offers)
        names = (self.card_of(facts.name, resource) for resource in remembered)
        had = (self._catalog.card(name) for name in names if name is not None)
        self.selection.put(facts.name, facts.labels, tuple(card for card in had if card))
        return learned, changed

    def _lacks(self, facts: NodeFacts, name: str) -> str | None:
        """A label by which other nodes show a card of this node, and this node does not (P5)."""
        card = self._catalog.card(name)
        for key, value in card.labels if card else ():
            if label_of(facts.labels, key) != value:
                return key
        return None

    def drop(self, name: str) -> bool:
        """A node is gone. Its kinds of cards stay known. Returns the same as `see`."""
        self.put_offer(name, ())
        self.free.offer(name, ())
        self._facts.pop(name, None)
        self._remembered.pop(name, None)
        self.problems.drop(name)
        self.selection.drop(name)
        self._put_together(name)
        return self._find_again()

    def card_of(self, node: str, resource: str) -> str | None:
        """The card that a node offers, or last offered, under a resource name that counts it."""
        card = self._remembered.get(node, _NONE).get(resource)
        return card if card is not None and self._catalog.resource(card) == resource else None

    def get(self, node: str) -> NodeFacts | None:
        """What is kept of a node; None if it is not there."""
        return self._facts.get(node)

    def all(self) -> Collection[NodeFacts]:
        """What is kept of every node."""
        return self._facts.values()

    def product_of(self, node: str) -> str:
        """The product that a node shows; empty if it shows none, or more than one."""
        facts = self._facts.get(node)
        models = {model_of(card.name) for card, _ in facts.cards} if facts is not None else set()
        if len(models) == 1:
            return models.pop()
        return (label_of(facts.labels, GPU_PRODUCT) or "") if facts is not None else ""

    def whole_cards(self, node: str, resources: Iterable[str]) -> dict[str, str]:
        """By resource name: how many cards are used of how many that a node offers."""
        uses = ((name, self.free.use_of(node, name)) for name in sorted(resources))
        return {name: f"{use[0]}/{use[1]}" for name, use in uses if use is not None}

    def take_report(self) -> tuple[NodeFacts, tuple[str, ...], bool] | None:
        """A node whose problems have changed since they were last reported, its problems now, and
        whether other cards of it are counted (D5); None if there is none.
        """
        name = self.problems.take()
        if name is None:
            return None
        return self._facts[name], *self.problems.by_node.get(name, ((), False))

    def wait_for(self, node: str, uid: str) -> None:
        """A pod is bound to a node that is not known yet, or whose card for it is not."""
        self._unresolved.setdefault(node, set()).add(uid)

    def forget(self, node: str, uid: str) -> None:
        """A pod no longer waits for a node."""
        waiting = self._unresolved.get(node)
        if waiting is not None:
            waiting.discard(uid)
            if not waiting:
                del self._unresolved[node]

    def take_unresolved(self, node: str) -> list[str]:
        """The pods that wait for a node, sorted. They stay registered."""
        return sorted(self._unresolved.get(node, ()))

    def picked(self, selector: bytes) -> Collection[str]:
        """The cards of the nodes that a pod's selector picks by more than a product label (P3).

        Empty if it picks no node, or asks only for products.
        """
        return self.choice(selector) or ()

    def choice(self, selector: bytes) -> Choice | None:
        """The nodes that a pod picks by more than a product label (E7); None if it does not."""
        return self.selection.choice(selector) if self.picks_by_node(selector) else None

    def named_by(self, selector: bytes) -> bool:
        """Whether a selector names single nodes and only those can meet it."""
        return bool(selector) and _asked_by(selector).named

    def picks_by_node(self, selector: bytes) -> bool:
        """Whether a selector requires more of nodes than the products of their cards."""
        return bool(selector) and not _asked_by(selector).keys <= self._catalog.product_labels

    def register_pod(self, facts: PodFacts) -> None:
        """Index a pod whose reading depends on which nodes its selector picks."""
        named = facts.card_text is not None and "|" not in facts.card_text
        depends = not named or self.named_by(facts.selector)
        if depends and facts.devices and self.picks_by_node(facts.selector):
            self.selection.join(facts.selector, facts.uid)

    def unregister_pod(self, facts: PodFacts) -> None:
        """The inverse of `register_pod`. May be called again."""
        if facts.selector:
            self.selection.leave(facts.selector, facts.uid)

    def count_selected(self, selector: bytes, cards: Collection[str]) -> int:
        """How many nodes with one of `cards` a pod's selector picks; if `cards` is empty, how many
        nodes at all.

        Taints are not known here. Costs O(nodes): for what people write, not for every pod.
        """
        wanted = frozenset(cards)
        names = {node.name for node in self.selection.nodes(selector)}
        has = (any(card in wanted for card, *_ in self._by_node.get(name, ())) for name in names)
        return sum(has) if cards else len(names)
