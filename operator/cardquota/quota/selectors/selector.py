"""What a pod's node selector and required node affinity say about cards (P3, P5).

For a card, only the card's labels are checked; of every other label we assume that some node fits.
Which existing nodes it picks says `picking`. When the gate opens, affinity may only
become narrower, never wider: Kubernetes allows nothing else.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from ..cards.card import Card, MemoryLabel, MemoryUnit
from ..objects.node import Expression, Term
from ..objects.pod import PodSpec
from ..words import first_of, listed, show
from .card_requirement import CardRequirement


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

Place = tuple[str, str]
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

    def allows(self, card: Card) -> bool:
        """Whether a node that shows `card` can satisfy this, as far as the card's labels go."""
        return bool(self.allowed((card,)))

    def allowed(self, cards: Iterable[Card]) -> list[Card]:
        """The cards that this allows (see `allows`), in their order.

        Costs a microsecond for each card and requirement.
        """
        left = list(cards)
        for key, value in self.labels:
            left = CardRequirement(key, NODE_SELECTOR_IN, (value,)).allowed(left)
        return left if self.terms is None else _allowed_by_one(self.terms, left)

    def says_more_than(self, keys: Collection[str]) -> bool:
        """Whether it requires anything of nodes beyond these labels (those that show cards)."""
        if any(term.match_fields for term in self.terms or ()):
            return True
        return any(key not in keys and key not in _OS for key in self.keys())

    def places(self) -> frozenset[Place] | None:
        """Names of nodes; a selected node must have one of them. None: it names no nodes."""
        own = frozenset((key, value) for key, value in self.labels if key == HOST_NAME)
        if own or self.terms is None:
            return own or None
        found: set[Place] = set()
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
            if term.match_expressions or term.match_fields
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


def _places(term: Term) -> frozenset[Place] | None:
    """The single nodes that a term names. An empty term selects nothing, so it names none."""
    if not term.match_expressions and not term.match_fields:
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
        if not term.match_expressions and not term.match_fields:
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
    parts = [_among(key, (value,)) for key, value in selector.labels if key in keys]
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
            return _among(key, values)
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


def _among(key: str, values: tuple[str, ...]) -> str:
    return f"{show(key)} {listed(values, ' or ')}"
