"""What a pod's node selector, required node affinity and tolerations say (P3, P5, E7).

For a card, only the card's labels are checked; of every other label we assume that some node fits.
Which existing nodes it picks says `picked`, by the scheduler's own rule. When the gate opens,
affinity may only become narrower, never wider: Kubernetes allows nothing else.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from ..cards.card import Card, MemoryLabel, MemoryUnit
from ..kept_objects import SizedCache
from ..objects.node import Expression, Taint, Term, Toleration
from ..objects.pod import PodSpec
from ..words import first_of, listed, show
from .card_requirement import CardRequirement, bound_of, compares, whole_number


def memory_asked_for(memories: Sequence[MemoryLabel | None]) -> tuple[Expression, ...]:
    """The requirements of a node that has one of these cards. Empty if they cannot be expressed.

    For shares of several sizes, every size between them is allowed too: all requirements of a term
    must hold, and a gated pod must not get more terms than it had.
    """
    known = [memory for memory in memories if memory is not None]
    if len(known) < len(memories) or len({(memory.key, memory.unit) for memory in known}) != 1:
        return ()
    key = known[0].key
    if known[0].unit is MemoryUnit.WRITTEN:
        values = dict.fromkeys(value for memory in known for value in memory.values)
        all_shown = all(memory.values for memory in known)
        return (Expression(key=key, operator="In", values=tuple(values)),) if all_shown else ()
    least, most = min(one.least for one in known), max(one.most for one in known)
    return (
        Expression(key=key, operator="Gt", values=(str(least - 1),)),
        Expression(key=key, operator="Lt", values=(str(most + 1),)),
    )


NODE_SELECTOR_IN: Final = "In"
NODE_SELECTOR_NOT_IN: Final = "NotIn"
NODE_NAME: Final = "metadata.name"
"""The only field of a node that affinity can name."""
HOST_NAME: Final = "kubernetes.io/hostname"
_OS: Final = frozenset({"kubernetes.io/os", "beta.kubernetes.io/os"})
"""Stock charts ask for them. They tell no card from another, also where its pool is at zero."""

NodeLabel = tuple[str, str]
"""NODE_NAME or HOST_NAME, and its value."""


class Selector(msgspec.Struct, frozen=True, array_like=True):
    """A pod's node selector and the terms of its required node affinity (one must hold)."""

    labels: tuple[tuple[str, str], ...] = ()
    terms: tuple[Term, ...] | None = None

    @classmethod
    def of(cls, spec: PodSpec) -> "Selector":
        """Read it from a pod's specification."""
        affinity = spec.affinity and spec.affinity.node_affinity
        required = affinity.required if affinity else None
        return cls(
            labels=tuple(sorted((spec.node_selector or {}).items())),
            terms=required.node_selector_terms if required else None,
        )

    def allowed(self, cards: Iterable[Card]) -> list[Card]:
        """The cards of which a node that shows them can satisfy this, as far as their labels go, in
        their order. Costs a microsecond for each card and requirement.
        """
        left = list(cards)
        for key, value in self.labels:
            left = CardRequirement(key, NODE_SELECTOR_IN, (value,)).allowed(left)
        return left if self.terms is None else _allowed_by_one(self.terms, left)

    def keys_of_nodes(self) -> frozenset[str]:
        """What of nodes it reads: labels, but that of the operating system, and fields."""
        fields = (field.key for term in self.terms or () for field in term.match_fields or ())
        return (self.keys() - _OS).union(fields)

    def places(self) -> frozenset[NodeLabel] | None:
        """Names of nodes; a selected node must have one of them. None: it names no nodes."""
        own = frozenset((key, value) for key, value in self.labels if key == HOST_NAME)
        if own or self.terms is None:
            return own or None
        found: set[NodeLabel] = set()
        for term in self.terms:
            places = _places(term)
            if places is None:
                return None
            found |= places
        return frozenset(found)

    def values(self, key: str) -> tuple[str, ...]:
        """The values that a label key must have by name, in the user's order."""
        found: dict[str, None] = {value: None for name, value in self.labels if name == key}
        for term in self.terms or ():
            for expression in term.match_expressions or ():
                if expression.key == key and expression.operator == NODE_SELECTOR_IN:
                    found.update(dict.fromkeys(expression.values or ()))
        return tuple(found)

    def keys(self) -> frozenset[str]:
        """All label keys that it reads."""
        keys = {key for key, _ in self.labels}
        for term in self.terms or ():
            keys.update(e.key for e in term.match_expressions or ())
        return frozenset(keys)

    @property
    def requirements(self) -> int:
        """How many it has."""
        of_terms = (
            len(term.match_expressions or ()) + len(term.match_fields or ())
            for term in self.terms or ()
        )
        return len(self.labels) + sum(of_terms)

    def narrowed(self, cards: Collection[Card]) -> tuple[Term, ...]:
        """The required terms narrowed to nodes that show one of `cards`. Adds to each own term.

        All cards must show themselves under the same label keys, as cards of one resource name of
        one vendor do. An empty term matches no node and must stay empty.
        """
        added = _asking_for(cards)
        if not self.terms:
            return (Term(match_expressions=added),)
        return tuple(
            Term(
                match_expressions=(term.match_expressions or ())
                + tuple(e for e in added if e not in (term.match_expressions or ())),
                match_fields=term.match_fields,
            )
            if not _is_empty(term)
            else term
            for term in self.terms
        )


def _asking_for(cards: Collection[Card]) -> tuple[Expression, ...]:
    """The requirements that these cards make on each of their label keys."""
    shown: dict[str, dict[str, None]] = {}
    barred: dict[str, dict[str, None]] = {}
    for card in cards:
        for labels, by_key in ((card.labels, shown), (card.barred, barred)):
            for key, value in labels:
                by_key.setdefault(key, {})[value] = None
    added = []
    for key in dict.fromkeys((*shown, *barred)):
        if key not in barred:
            values = tuple(shown[key])
            added.append(Expression(key=key, operator=NODE_SELECTOR_IN, values=values))
        elif key not in shown:
            values = tuple(barred[key])
            added.append(Expression(key=key, operator=NODE_SELECTOR_NOT_IN, values=values))
        # Else one card needs a value that another card must not have: no common requirement.
    return (*added, *memory_asked_for([card.memory for card in cards]))


def _places(term: Term) -> frozenset[NodeLabel] | None:
    """The single nodes that a term names. An empty term selects nothing, so it names none."""
    if _is_empty(term):
        return frozenset()
    for expressions, key in ((term.match_fields, NODE_NAME), (term.match_expressions, HOST_NAME)):
        for expression in expressions or ():
            if expression.key == key and expression.operator == NODE_SELECTOR_IN:
                return frozenset((key, value) for value in expression.values or ())
    return None


def _allowed_by_one(terms: Iterable[Term], cards: list[Card]) -> list[Card]:
    """The cards that at least one of these terms allows. An empty term allows none."""
    found: set[str] = set()
    for term in terms:
        if _is_empty(term):
            continue
        left = [card for card in cards if card.name not in found]
        for one in term.match_expressions or ():
            left = CardRequirement(one.key, one.operator, one.values or ()).allowed(left)
        found.update(card.name for card in left)
    return [card for card in cards if card.name in found]


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Selector)
_NOTHING: Final = Selector()


def encode(selector: Selector) -> bytes:
    """Compact form for keeping; `b""` for a selector without any requirement."""
    return b"" if selector == _NOTHING else _ENCODER.encode(selector)


def decode(encoded: bytes) -> Selector:
    """The inverse of `encode`."""
    return _DECODER.decode(encoded) if encoded else _NOTHING


def requirements(selector: Selector, keys: Collection[str]) -> str:
    """The requirements of labels with these keys; empty if there are none.

    `zone a; gpu not in X or gpu > 5`: the node selector and the affinity must both hold, and of the
    affinity one term. At most five terms, then a count. If one of the terms requires nothing of
    these labels, neither does the affinity.
    """
    parts = [f"{show(key)} {show(value)}" for key, value in selector.labels if key in keys]
    terms = [_term(term, keys) for term in selector.terms or () if not _is_empty(term)]
    if terms and all(terms):
        parts.append(first_of(list(dict.fromkeys(terms)), " or "))
    return "; ".join(parts)


def _term(term: Term, keys: Collection[str]) -> str:
    found = [_requirement(one) for one in term.match_expressions or () if one.key in keys]
    return first_of(found, " and ")


def _is_empty(term: Term) -> bool:
    """An empty term selects no node, so beside other terms it does not matter."""
    return not term.match_expressions and not term.match_fields


def _requirement(expression: Expression) -> str:
    key, values = expression.key, expression.values or ()
    match expression.operator:
        case "In":
            return f"{show(key)} {listed(values, ' or ')}"
        case "NotIn":
            return f"{show(key)} not in {listed(values)}"
        case "Exists":
            return f"{show(key)} exists"
        case "DoesNotExist":
            return f"{show(key)} does not exist"
        case "Gt":
            return f"{show(key)} > {listed(values)}"
        case "Lt":
            return f"{show(key)} < {listed(values)}"
    return f"{show(key)} {show(expression.operator)} {listed(values)}"


_number = lru_cache(maxsize=8_192)(whole_number)  # of labels, which have at most 63 characters


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNode:
    """A node as selectors see it, and a card on it."""

    name: str
    labels: Mapping[str, str]
    card: str | None = None


def picked(selector: Selector, nodes: Sequence[LabelledNode]) -> Sequence[LabelledNode]:
    """Those of the nodes that the selector picks: its labels, and one of its terms. Costs about
    0.1 microseconds for each node and requirement.
    """
    for key, value in selector.labels:
        nodes = [node for node in nodes if node.labels.get(key) == value]
    if selector.terms is None:
        return nodes
    found: dict[LabelledNode, None] = {}
    for term in selector.terms:
        found.update(dict.fromkeys(_meeting(term, nodes)))
        nodes = [node for node in nodes if node not in found]
    return list(found)


def _meeting(term: Term, nodes: Sequence[LabelledNode]) -> list[LabelledNode]:
    """An empty term picks no node."""
    if _is_empty(term):
        return []
    asked = [(node, node.labels) for node in nodes]
    for one in term.match_expressions or ():
        asked = _fitting(one, asked)
    if term.match_fields:
        asked = [(node, {NODE_NAME: node.name}) for node, _ in asked]
    for one in term.match_fields or ():
        asked = _fitting(one, asked)
    return [node for node, _ in asked]


_Asked = list[tuple[LabelledNode, Mapping[str, str]]]
"""Nodes, with what they show under keys."""


def _fitting(expression: Expression, nodes: _Asked) -> _Asked:
    key, values = expression.key, frozenset(expression.values or ())
    match expression.operator:
        case "In":
            return [node for node in nodes if node[1].get(key) in values]
        case "NotIn":
            return [node for node in nodes if node[1].get(key) not in values]
        case "Exists":
            return [node for node in nodes if key in node[1]]
        case "DoesNotExist":
            return [node for node in nodes if key not in node[1]]
        case "Gt" | "Lt":
            return _compared(expression, nodes)
        case _:
            return nodes  # an operator of a later Kubernetes: the scheduler decides


def _compared(expression: Expression, nodes: _Asked) -> _Asked:
    """Both must be whole numbers of 64 bits; anything else compares as false."""
    key, bound = expression.key, bound_of(expression.values)
    if bound is None:
        return []
    shown = {value for _, labels in nodes if (value := labels.get(key)) is not None}
    numbers = [(text, number) for text in shown if (number := _number(text)) is not None]
    above = expression.operator == "Gt"
    fit = {text for text, number in numbers if (number > bound if above else number < bound)}
    return [node for node in nodes if node[1].get(key) in fit]


_KEEP_AWAY: Final = ("NoSchedule", "NoExecute")
"""The third effect, PreferNoSchedule, keeps no pod away."""


class NodeTaint(NamedTuple):
    """A taint that keeps pods away from a node."""

    key: str
    value: str
    effect: str


class PodToleration(NamedTuple):
    """A toleration. An empty key stands for every key, an empty effect for every effect."""

    key: str
    operator: str
    value: str
    effect: str

    def covers(self, taint: NodeTaint) -> bool:
        """Whether it tolerates this taint."""
        if self.effect not in ("", taint.effect):
            return False
        if self.key not in ("", taint.key):
            return False
        match self.operator:
            case "Exists":
                return True
            case "Equal" | "":
                return bool(self.key) and self.value == taint.value
            case "Gt" | "Lt":
                return bool(self.key) and compares(self.operator, taint.value, self.value)
            case _:
                return False


Taints = tuple[NodeTaint, ...]
Tolerations = tuple[PodToleration, ...]


_TUPLE: Final = 300
"""Bytes of a taint or toleration besides its characters."""
TAINTS_KEPT: Final = SizedCache[Taints, Taints]()
TOLERATIONS_KEPT: Final = SizedCache[Tolerations, Tolerations]()


def taints_of(found: Iterable[Taint] | None) -> Taints:
    """The taints that keep pods away, sorted."""
    kept = (one for one in found or () if one.effect in _KEEP_AWAY)
    taints = tuple(sorted({NodeTaint(t.key, t.value or "", t.effect) for t in kept}))
    known = TAINTS_KEPT.get(taints)
    return known if known is not None else TAINTS_KEPT.put(taints, taints, _size_of(taints))


def tolerations_of(found: Iterable[Toleration] | None) -> Tolerations:
    """The tolerations of taints that keep pods away, sorted."""
    kept = (
        PodToleration(t.key or "", t.operator or "", t.value or "", t.effect or "")
        for t in found or ()
        if not t.effect or t.effect in _KEEP_AWAY
    )
    tolerations = tuple(sorted(set(kept)))
    known = TOLERATIONS_KEPT.get(tolerations)
    if known is None:
        known = TOLERATIONS_KEPT.put(tolerations, tolerations, _size_of(tolerations))
    return known


class Tolerance:
    """Tolerations prepared for many taints: each is compared with those of its key or of any."""

    __slots__ = ("_by_key", "_of_any", "most")

    def __init__(self, tolerations: Tolerations) -> None:
        by_key: dict[str, list[PodToleration]] = {}
        for one in tolerations:
            by_key.setdefault(one.key, []).append(one)
        self._of_any = by_key.pop("", [])
        self._by_key = by_key
        self.most = len(self._of_any) + max(map(len, by_key.values()), default=0)
        """How many tolerations a taint is compared with, at most."""

    def covers(self, taints: Taints) -> bool:
        """Whether a pod with these tolerations can go to a node with these taints."""
        for taint in taints:
            for one in (*self._by_key.get(taint.key, ()), *self._of_any):
                if one.covers(taint):
                    break
            else:
                return False
        return True


def tolerates(tolerations: Tolerations, taints: Taints) -> bool:
    """Whether a pod with these tolerations can go to a node with these taints."""
    return not taints or Tolerance(tolerations).covers(taints)


def _size_of(things: Iterable[tuple[str, ...]]) -> int:
    return sum(_TUPLE + sum(map(len, thing)) for thing in things)
