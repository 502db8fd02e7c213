"""The page of all messages is what the product says, and every sentence on it keeps the rules."""

import re

import pytest

from cardquota.quota import vocabulary as v
from cardquota.quota.messages import gate_messages
from cardquota_dev.catalogue.__main__ import main
from cardquota_dev.catalogue.entry import Entry, Where
from cardquota_dev.catalogue.page import ENTRIES, unexplained, unsaid

ASKS = (
    "add|ask|change|close|correct|create|did you mean|leave|let|lower|make|name|raise|remove|"
    "select|split|try|use|wait|write"
)
LONGEST_WARNING = 120
"""Characters that Kubernetes recommends at most."""


def name(entry: Entry) -> str:
    return f"{entry.under}: {entry.when[:40]}"


TOLD = [
    e
    for e in ENTRIES
    if {Where.REFUSAL, Where.POD_EVENT, Where.RESIZE, Where.GROUP_WRITE} & {*e.where}
]
WARNINGS = [e for e in ENTRIES if {Where.WARNING, Where.WORKLOAD, Where.GROUP_WARNING} & {*e.where}]


def test_every_sentence_and_every_reason_is_there() -> None:
    assert unsaid(ENTRIES) == []
    assert unexplained(ENTRIES) == []


def test_a_sentence_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def something_new() -> str:
        return "news"

    something_new.__module__ = gate_messages.__name__
    monkeypatch.setattr(gate_messages, "something_new", something_new, raising=False)
    monkeypatch.setattr(gate_messages, "ADVICE_NEW", "do it", raising=False)
    monkeypatch.setattr(v, "NEW_REASON", "SomethingNew", raising=False)
    assert main(["--check"]) == 1
    said = capsys.readouterr().err
    assert said == ("not in the catalogue of messages: something_new, ADVICE_NEW, SomethingNew\n")


@pytest.mark.parametrize("entry", TOLD, ids=name)
def test_i4_who_is_kept_out_or_waits_is_told_what_to_do_last(entry: Entry) -> None:
    # Only who holds a card comes behind it.
    last = re.split("[;:] ", re.sub(r"; held by [^;]*$", "", entry.says))
    assert re.match(rf"({ASKS})\b", last[-1]), last


@pytest.mark.parametrize("entry", TOLD, ids=name)
def test_i4_who_is_kept_out_or_waits_is_told_which_queue_or_what_else(entry: Entry) -> None:
    """The queue; or the group, namespace or pod where there is none, or not yet."""
    assert re.match(r"Queue <|pod group <|the pod (requests|is)|cardquota has not", entry.says)


@pytest.mark.parametrize("entry", WARNINGS, ids=name)
def test_a_warning_is_short(entry: Entry) -> None:
    """Only what is said in audit mode carries a whole refusal, and who holds what is left out where
    it would be cut.
    """
    if not {"audited", "shortly_with_held"} & entry.says.names:
        assert len(entry.says) <= LONGEST_WARNING
