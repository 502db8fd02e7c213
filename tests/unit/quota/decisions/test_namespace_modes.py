"""Section 2: the label of a namespace that says how strict we are there."""

import pytest

from builders import a_ledger, a_namespace, see
from cardquota.quota import vocabulary as v


@pytest.mark.parametrize("label", ["enforce", "on", "Enforced", "true"])
def test_what_means_nothing_counts_as_absent_and_is_known(label: str) -> None:
    ledger = a_ledger(a_namespace("bad").in_mode(label), a_namespace("good").in_mode("enforced"))
    assert ledger.mode_in("bad") is v.Mode.ENFORCE
    assert ledger.namespaces["bad"].mode == ""
    assert {name: facts.unknown_mode for name, facts in ledger.unknown_modes.items()} == {
        "bad": label
    }
    see(ledger, a_namespace("bad").in_mode("off"))
    assert ledger.mode_in("bad") is v.Mode.OFF
    assert ledger.unknown_modes == {}


@pytest.mark.parametrize("label", ["", None])
def test_an_empty_one_is_none(label: str | None) -> None:
    ledger = a_ledger(a_namespace().in_mode(label))
    assert ledger.namespaces["team"].mode == ""
    assert ledger.unknown_modes == {}


def test_a_namespace_that_is_gone_is_told_of_no_more() -> None:
    ledger = a_ledger(a_namespace("bad").in_mode("on"))
    ledger.namespace_gone("bad")
    assert ledger.unknown_modes == {}
