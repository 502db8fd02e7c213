"""A pod's requirements of some labels, from its node selector and affinity, in words (P5).

They become part of a sentence of `messages`, like those of `words`. Each requirement appears as it
is written, also one that names no value that a node should have.
"""

from collections.abc import Collection

from ..objects.node_affinity import Expression, Term
from ..words import first_of, listed, show
from .selector import Selector


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
