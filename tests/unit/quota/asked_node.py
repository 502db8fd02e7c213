"""Whether one node meets a selector, asked plainly: what picking is compared with."""

from collections.abc import Mapping

from cardquota.quota.objects import Expression, Term
from cardquota.quota.selectors import NODE_NAME, Selector, compares


def selects(selector: Selector, name: str, labels: Mapping[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in selector.labels):
        return False
    return selector.terms is None or any(_meets(term, name, labels) for term in selector.terms)


def _meets(term: Term, name: str, labels: Mapping[str, str]) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    return all(_is_true(e, labels.get(e.key)) for e in term.match_expressions or ()) and all(
        _is_true(e, name if e.key == NODE_NAME else None) for e in term.match_fields or ()
    )


def _is_true(expression: Expression, value: str | None) -> bool:
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
        case "Gt" | "Lt":
            one = value is not None and len(values) == 1
            return one and compares(expression.operator, value or "", values[0])
    return True
