"""The page of all messages is what the product says, and every sentence on it keeps the rules."""

import re
from pathlib import Path

import pytest

from cardquota.quota import vocabulary as v
from cardquota.quota.messages import gate_messages
from cardquota_dev.catalogue.__main__ import COMMITTED, main
from cardquota_dev.catalogue.entry import Entry, Where
from cardquota_dev.catalogue.page import ENTRIES, page, unexplained, unsaid

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


def test_the_committed_page_is_up_to_date() -> None:
    assert COMMITTED.read_text() == page(), "run make crds"


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


def test_it_is_found_by_reason_first() -> None:
    headings = re.findall(r"^## (.+)$", page(), re.MULTILINE)
    assert headings[0] == v.Reason.INSUFFICIENT_CARD
    assert len(headings) == len(set(headings)), "a reason stands in one place"
    index = page().partition("\n## ")[0]
    assert [heading for heading in headings if f"[`{heading}`]" not in index] == []


def test_check_says_what_is_stale_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "messages.md"
    assert main(["--check", "--file", str(file)]) == 1
    assert not file.exists()
    assert main(["--file", str(file)]) == 0
    assert main(["--check", "--file", str(file)]) == 0
    file.write_text(file.read_text().replace("capability", "capacity"))
    capsys.readouterr()
    assert main(["--check", "--file", str(file)]) == 1
    assert capsys.readouterr().err == f"{file} is not what the product says: run make crds\n"


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
