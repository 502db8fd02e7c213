"""Node selectors and required affinity against one node."""

import pytest

from cardquota.cli.node_match import matches
from cardquota.quota.objects.node_affinity import Expression, Term
from cardquota.quota.selector import Selector

LABELS = {"zone": "a", "cores": "96"}


@pytest.mark.parametrize(
    ("operator", "key", "values", "holds"),
    [
        ("In", "zone", ("a", "b"), True),
        ("In", "rack", ("a",), False),
        ("NotIn", "zone", ("a",), False),
        ("NotIn", "rack", ("a",), True),
        ("Exists", "zone", (), True),
        ("Exists", "rack", (), False),
        ("DoesNotExist", "rack", (), True),
        ("DoesNotExist", "zone", (), False),
        ("Gt", "cores", ("64",), True),
        ("Gt", "zone", ("64",), False),
        ("Lt", "cores", ("64",), False),
        ("Lt", "rack", ("64",), False),
        ("Unheard", "zone", ("a",), False),
    ],
)
def test_operators(operator: str, key: str, values: tuple[str, ...], holds: bool) -> None:
    term = Term(match_expressions=(Expression(key=key, operator=operator, values=values),))
    assert matches(Selector(terms=(term,)), "node-a", LABELS) is holds


def test_labels_fields_and_empty_terms() -> None:
    here = Expression(key="metadata.name", operator="In", values=("node-a",))
    assert matches(Selector(), "node-a", LABELS)
    assert matches(Selector(labels=(("zone", "a"),)), "node-a", LABELS)
    assert not matches(Selector(labels=(("zone", "b"),)), "node-a", LABELS)
    assert matches(Selector(terms=(Term(), Term(match_fields=(here,)))), "node-a", LABELS)
    assert not matches(Selector(terms=(Term(match_fields=(here,)),)), "node-b", LABELS)
    assert not matches(Selector(terms=(Term(),)), "node-a", LABELS)
    assert not matches(Selector(terms=()), "node-a", LABELS)
