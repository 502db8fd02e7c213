"""What a pod's node selector and required node affinity say about cards (P3, P5).

Only the labels of a card are looked at; of every other label we assume that some node fits. The
gate may open only with affinity that is narrower, never wider: Kubernetes allows nothing else.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from .card import Card
from .objects import Expression, PodSpec, Term

NODE_SELECTOR_IN: Final = "In"


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
        shown = dict(card.labels)
        if any(shown.get(key, value) != value for key, value in self.labels):
            return False
        if self.terms is None:
            return True
        return any(_term_allows(term, shown) for term in self.terms)

    def values(self, key: str) -> tuple[str, ...]:
        """The values that are asked for by name under a label key, in the user's order."""
        found: dict[str, None] = {value: None for name, value in self.labels if name == key}
        for term in self.terms or ():
            for expression in term.match_expressions or ():
                if expression.key == key and expression.operator == NODE_SELECTOR_IN:
                    found.update(dict.fromkeys(expression.values or ()))
        return tuple(found)

    def keys(self) -> frozenset[str]:
        """All label keys that are looked at."""
        keys = {key for key, _ in self.labels}
        for term in self.terms or ():
            keys.update(e.key for e in term.match_expressions or ())
        return frozenset(keys)

    def narrowed(self, cards: Iterable[Card]) -> tuple[Term, ...]:
        """The required terms that also ask for one of `cards`, as additions to each own term.

        All cards must show themselves under the same label keys, which holds for cards of one
        resource name of one vendor. An empty term matches no node and must stay empty.
        """
        wanted: dict[str, dict[str, None]] = {}
        for card in cards:
            for key, value in card.labels:
                wanted.setdefault(key, {})[value] = None
        added = tuple(
            Expression(key=key, operator=NODE_SELECTOR_IN, values=tuple(values))
            for key, values in wanted.items()
        )
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


def _term_allows(term: Term, shown: dict[str, str]) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    return all(_holds(e, shown) for e in term.match_expressions or ())


def _holds(expression: Expression, shown: dict[str, str]) -> bool:
    value = shown.get(expression.key)
    if value is None:
        return True  # not a label of the card: some node may fit
    values = expression.values or ()
    match expression.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return True
        case "DoesNotExist":
            return False
        case "Gt" | "Lt":
            return _compares(expression.operator, value, values)
        case _:
            return True  # an operator of a later Kubernetes: the scheduler has the last word


def _compares(operator: str, value: str, values: tuple[str, ...]) -> bool:
    try:
        number, bound = int(value), int(values[0])
    except (ValueError, IndexError):
        return False
    return number > bound if operator == "Gt" else number < bound


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Selector)
_NOTHING: Final = Selector()


def encode(selector: Selector) -> bytes:
    """Compact form for keeping; `b""` where nothing is selected."""
    return b"" if selector == _NOTHING else _ENCODER.encode(selector)


def decode(encoded: bytes) -> Selector:
    """The inverse of `encode`."""
    return _DECODER.decode(encoded) if encoded else _NOTHING
