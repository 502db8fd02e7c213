"""The table is read strictly, and its cases do not meet."""

from typing import Any

import pytest

from conformance.case import cases
from conformance.found import ADMITTED, GATED, pod_found
from conformance.patterns import holds, says, says_each
from conformance.short_forms import body


def test_no_two_cases_name_the_same_object() -> None:
    names = [thing.name for case in cases() for thing in case.given]
    names += [t.name for case in cases() for stage in case.stages[:1] for t in stage.things]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", [{"pod": "a", "crad": "NVIDIA-H200"}, {"card": "a"}, {}])
def test_a_misspelt_row_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a row of the table"):
        body(row)


def test_a_sentence_may_leave_out_what_is_said_elsewhere() -> None:
    sentence = "the card is not known: correct it; see there"
    assert says(sentence, sentence)
    assert says(sentence, "the card is not known: …")
    assert says(sentence, "… correct it; …")
    assert not says(sentence, "the card is not known")
    assert not says(sentence, "… correct them; …")


def test_an_expectation_says_how_a_pod_differs() -> None:
    case = next(case for case in cases() if case.id == "cards1-D1")
    (expected,) = case.stages[0].things[0].pods
    cards, node = dict(expected.cards or ()), expected.node or ""
    assert expected.wrong(pod_found(ADMITTED, cards=cards, node=node)) == ""
    assert "charged for" in expected.wrong(pod_found(ADMITTED, cards={}, node=node))
    assert "on node" in expected.wrong(pod_found(ADMITTED, cards=cards, node=""))
    assert "denied, not admitted" in expected.wrong(pod_found("denied"))
    warned = pod_found(ADMITTED, cards=cards, node=node, warnings=("a",))
    assert "warnings" in expected.wrong(warned)


def test_who_holds_a_card_stands_apart_from_the_sentence() -> None:
    found = pod_found(
        GATED, text="Queue <q> lacks it; wait; held by a 3, and 2 in other namespaces"
    )
    assert found.text == "Queue <q> lacks it; wait"
    assert found.held == "held by a 3, and 2 in other namespaces"
    assert found == pod_found(GATED, text="Queue <q> lacks it; wait; held by b 1")


def test_of_an_answer_only_what_is_expected_is_compared() -> None:
    found = {"state": "Waits", "place": 2, "asks": [{"name": "H200", "amount": 2}]}
    assert holds(found, {"state": "Waits", "asks": [{"amount": 2}]})
    assert holds(found, {"state": "W…", "holders": [], "before": 0})
    assert not holds(found, {"place": 1})
    assert not holds(found, {"asks": []})
    assert not holds(found, {"asks": [{"amount": 2}, {}]})
    assert not holds({}, {"asks": [{"amount": 2}]})


def test_all_warnings_are_expected() -> None:
    assert says_each(("a", "b c"), ("a", "b …"))
    assert not says_each(("a", "b"), ("a",))
    assert not says_each((), ("a",))
