"""Which of many nodes a selector picks, by the scheduler's own rule (P3).

Costs about 0.1 microseconds for each node and requirement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..objects.node import Expression, Term
from .card_requirement import bound_of, whole_number
from .selector import NODE_NAME, Selector

_number = lru_cache(maxsize=8_192)(whole_number)  # of labels, which have at most 63 characters


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNode:
    """A node as selectors see it, and a card on it."""

    name: str
    labels: Mapping[str, str]
    card: str | None = None


def picked(selector: Selector, nodes: Sequence[LabelledNode]) -> Sequence[LabelledNode]:
    """Those of the nodes that the selector picks: its labels, and one of its terms."""
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
    if not term.match_expressions and not term.match_fields:
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
