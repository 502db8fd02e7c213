"""Whether a node satisfies a pod's node selector and required affinity, by the scheduler's rule.

The domain's `Selector.allows` asks whether *some* node could; here the node is at hand.
"""

from collections.abc import Mapping
from typing import Final

from ..quota.objects.node_affinity import Expression, Term
from ..quota.selector import Selector

NODE_NAME_FIELD: Final = "metadata.name"


def matches(selector: Selector, name: str, labels: Mapping[str, str]) -> bool:
    """Whether the node of this name with these labels is selected."""
    if any(labels.get(key) != value for key, value in selector.labels):
        return False
    if selector.terms is None:
        return True
    return any(_term_holds(term, name, labels) for term in selector.terms)


def _term_holds(term: Term, name: str, labels: Mapping[str, str]) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {NODE_NAME_FIELD: name}
    return all(_holds(e, labels.get(e.key)) for e in term.match_expressions or ()) and all(
        _holds(e, fields.get(e.key)) for e in term.match_fields or ()
    )


def _holds(expression: Expression, value: str | None) -> bool:
    values = expression.values or ()
    match expression.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _number(value) > _number(values[0]) if value and values else False
        case "Lt":
            return _number(value) < _number(values[0]) if value and values else False
        case _:
            return False


def _number(text: str) -> float:
    """A label as a number; what is none compares as false with everything."""
    try:
        return int(text)
    except ValueError:
        return float("nan")
