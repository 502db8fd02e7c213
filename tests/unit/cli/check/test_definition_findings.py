"""Whether the definitions of Queues and PodGroups are those that the settings need."""

from typing import Any

import yaml

from cardquota.cli.check.installation_section import definition_findings
from cardquota.cli.check.installed import DEFINITIONS
from cardquota.cli.reading import Answer, NotRead
from cardquota_dev.paths import CHECKOUT

QUEUES, GROUPS, *QUESTIONS, _ = DEFINITIONS


def ours(name: str) -> dict[str, Any]:
    kind, _, group = name.partition(".")
    found: dict[str, Any] = yaml.safe_load((CHECKOUT / "crds" / f"{group}_{kind}.yaml").read_text())
    return found


def volcanos() -> dict[str, Any]:
    status = {"type": "object", "properties": {"state": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"status": status}}}
    return {"spec": {"versions": [{"name": "v1beta1", "served": True, "schema": schema}]}}


def reasons(queues: Answer, groups: Answer = None, *, standalone: bool = True) -> list[str]:
    both = {QUEUES: queues, GROUPS: groups if groups is not None else ours(GROUPS)}
    return [one.reason for one in definition_findings(both, standalone=standalone)]


def test_our_own_are_in_order() -> None:
    assert reasons(ours(QUEUES)) == []
    assert reasons(ours(QUEUES), standalone=False) == []


def test_one_that_is_missing_or_not_known() -> None:
    assert reasons(None) == ["DefinitionMissing"]
    assert reasons(NotRead("no")) == []


def test_without_those_of_questions_nobody_can_ask() -> None:
    for standalone in (True, False):
        there = {name: ours(name) for name in QUESTIONS}
        assert list(definition_findings(there, standalone=standalone)) == []
        found = list(definition_findings(dict.fromkeys(QUESTIONS), standalone=standalone))
        assert [one.reason for one in found] == ["DefinitionMissing"] * 2
        assert found[0].advice == (
            "apply crds/cardquota.volcano.sh_queuereviews.yaml: `kubectl cardquota queue` and "
            "`explain` need it"
        )


def test_one_that_does_not_serve_the_version() -> None:
    for versions in (None, [], [7], [{"name": "v1beta1", "served": False}], [{"name": "v1"}]):
        assert reasons({"spec": {"versions": versions}}) == ["DefinitionNotServed"]


def test_volcanos_keeps_no_numbers() -> None:
    assert reasons(volcanos()) == ["DefinitionNotOurs"]
    assert reasons(volcanos(), standalone=False) == []
