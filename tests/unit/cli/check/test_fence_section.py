"""What the section `fence` makes of what was read."""

from dataclasses import replace
from typing import Any

import pytest

from cardquota.cli.check.installation_section import fence_section
from cardquota.cli.check.installed import TERM_DEFINITION, Installed
from cardquota.cli.reading import Answer, NotRead
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings

from .test_installation_section import RIGHT, reasons
from .test_lease_findings import NOON, lease

SETTINGS = Settings()


def a_term(term: str = "pod/1", fault: str = "") -> dict[str, Any]:
    return {"spec": {"term": term}, "status": {"fault": fault} if fault else {}}


HOLDS = replace(RIGHT, term=a_term(), term_lease=lease())


def found(installed: Installed) -> list[str]:
    return [one.reason for one in fence_section(installed, SETTINGS, NOON).findings]


def without(name: str) -> Installed:
    admission = tuple(
        (wanted, None if wanted["metadata"]["name"] == name else there)
        for wanted, there in HOLDS.admission
    )
    return replace(HOLDS, admission=admission)


def test_all_is_in_order() -> None:
    section = fence_section(HOLDS, SETTINGS, NOON)
    assert (section.findings, section.notes, section.complete) == ([], [], True)


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (None, "TermMissing"),
        (a_term("pod/0"), "TermDiffers"),
        (a_term(fault="the API server refuses it"), v.FENCE_FAULT),
    ],
)
def test_a_term_that_is_not_as_it_should_be(term: Answer, reason: str) -> None:
    assert found(replace(HOLDS, term=term)) == [reason]


def test_between_two_leaders_it_names_the_last_one() -> None:
    assert found(replace(HOLDS, term_lease=lease(holder=""))) == []


@pytest.mark.parametrize("name", ["cardquota-gate-term", "cardquota-reservation-term"])
def test_its_policies_and_bindings_are_told_here_and_nowhere_else(name: str) -> None:
    assert found(without(name)) == [v.INSTALLATION_DIFFERS] * 2
    assert reasons(without(name)) == []
    assert found(without("cardquota-pods")) == []


def test_without_the_kind_that_alone_is_told() -> None:
    definitions = {**HOLDS.definitions, TERM_DEFINITION: None}
    assert found(replace(HOLDS, definitions=definitions, term=None)) == ["DefinitionMissing"]


def test_what_may_not_be_read_is_said() -> None:
    section = fence_section(replace(HOLDS, term=NotRead("you may not")), SETTINGS, NOON)
    assert (section.findings, section.notes, section.complete) == ([], ["you may not"], False)
