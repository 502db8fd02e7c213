"""What the section `installation` makes of what was read."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from builders.certificates import issue
from cardquota.cli.check import CheckSection
from cardquota.cli.check.installation_section import installation_section, nobody_decides
from cardquota.cli.check.installed import DEFINITIONS, Installed
from cardquota.cli.reading import NotRead
from cardquota.install import documents
from cardquota.install.rights import rights
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings, Webhook

from .test_certificate_findings import encoded
from .test_definition_findings import ours
from .test_deployment_findings import a_deployment
from .test_lease_findings import NOON, lease

PAIR = issue(["x"], now=datetime.fromtimestamp(NOON, UTC), days=60)
SETTINGS = Settings()


def trusted(document: dict[str, Any]) -> dict[str, Any]:
    """As the operator has published its CA in it."""
    found = deepcopy(document)
    for webhook in found.get("webhooks", ()):
        webhook["clientConfig"]["caBundle"] = encoded(PAIR.ca_pem)
        webhook["clientConfig"]["service"]["path"] = "/mutate/" + 32 * "a1"
    return found


RIGHT = Installed(
    definitions={name: ours(name) for name in DEFINITIONS},
    admission=tuple((one, trusted(one)) for one in documents(SETTINGS)),
    leases=(lease(),),
    deployment=a_deployment(),
    certificates={"cardquota-webhook": PAIR.cert_pem},
)


def section(installed: Installed, settings: Settings = SETTINGS) -> CheckSection:
    return installation_section(installed, settings, NOON)


def reasons(installed: Installed) -> list[str]:
    return [one.reason for one in section(installed).findings]


def test_all_is_in_order() -> None:
    found = section(RIGHT)
    assert (found.findings, found.notes, found.complete) == ([], [], True)
    assert not nobody_decides(found)


@pytest.mark.parametrize("name", ["cardquota-pods", "cardquota-lease"])
def test_a_binding_that_is_missing_is_told_in_the_operators_words(name: str) -> None:
    def there(wanted: Any) -> bool:
        return (wanted["kind"], wanted["metadata"]["name"]) != (
            "ValidatingAdmissionPolicyBinding",
            name,
        )

    admission = tuple((one, found if there(one) else None) for one, found in RIGHT.admission)
    found = section(replace(RIGHT, admission=admission))
    (one,) = found.findings
    assert (one.kind, one.name, one.reason) == (
        "ValidatingAdmissionPolicyBinding",
        name,
        v.INSTALLATION_DIFFERS,
    )
    assert one.why_and_advice == (
        f"ValidatingAdmissionPolicyBinding <{name}> is missing: apply the output of "
        "`cardquota manifests`"
    )


def test_nothing_is_advised_by_settings_that_may_not_be_the_operators() -> None:
    """In audit mode the objects of the default settings would enforce."""
    admission = tuple(
        (wanted, {**wanted, "spec": {}} if wanted["kind"] == "ValidatingAdmissionPolicy" else found)
        for wanted, found in RIGHT.admission
    )
    other = replace(RIGHT, admission=admission)
    assert section(other).findings
    found = installation_section(other, SETTINGS, NOON, ["why"])
    assert (found.findings, found.notes, found.complete) == ([], ["why"], False)


def test_a_deployment_that_is_missing_is_no_fault_while_somebody_leads() -> None:
    outside = replace(RIGHT, deployment=None, url="https://127.0.0.1:1")
    found = section(outside)
    assert (found.findings, found.complete) == ([], True)
    assert ["no Deployment" in note for note in found.notes] == [True, False]
    assert "https://127.0.0.1:1" in found.notes[1]
    stopped = replace(outside, leases=(lease(holder=""),))
    assert reasons(stopped) == ["NoLeader", "DeploymentMissing"]
    assert nobody_decides(section(stopped))


def test_a_deployment_that_is_missing_is_no_fault_while_the_lease_may_not_be_read() -> None:
    unread = replace(RIGHT, deployment=None, leases=(NotRead("you may not read it: no"),))
    found = section(unread)
    assert (found.findings, found.complete) == ([], False)
    (note,) = [note for note in found.notes if "no Deployment" in note]
    assert "or under another name, or not at all;" in note


def test_rights_that_are_missing_are_named() -> None:
    few = replace(RIGHT, missing_rights=tuple(rights(SETTINGS)[:3]))
    (one,) = section(few).findings
    assert one.reason == "RightsMissing"
    assert one.why == "the operator may not list and watch pods; list nodes"
    every = replace(RIGHT, missing_rights=tuple(rights(SETTINGS)))
    (one,) = section(every).findings
    assert len(one.why) < 1_000


@pytest.mark.parametrize(
    "hide",
    [
        lambda no: replace(RIGHT, definitions={**RIGHT.definitions, DEFINITIONS[0]: no}),
        lambda no: replace(RIGHT, admission=((RIGHT.admission[0][0], no), *RIGHT.admission[1:])),
        lambda no: replace(RIGHT, leases=(no,)),
        lambda no: replace(RIGHT, deployment=no),
        lambda no: replace(RIGHT, missing_rights=no),
    ],
)
def test_what_may_not_be_read_is_said(hide: Callable[[NotRead], Installed]) -> None:
    found = section(hide(NotRead("you may not read it: no")))
    assert (found.findings, found.complete) == ([], False)
    assert [note.startswith("you may not read it: no") for note in found.notes] == [True]


def test_objects_of_a_kind_that_may_not_be_read_are_one_note() -> None:
    hidden = tuple(
        (wanted, NotRead(f"you may not read {number}: no"))
        for number, (wanted, _) in enumerate(RIGHT.admission)
    )
    kinds = Counter(str(wanted["kind"]) for wanted, _ in hidden)
    found = section(replace(RIGHT, admission=hidden))
    assert len(found.notes) == len(kinds) < len(hidden)
    many = max(kinds, key=kinds.__getitem__)
    assert any(
        note.endswith(f" (the same for {kinds[many] - 1} more of kind {many})")
        for note in found.notes
    )


def test_nobody_needs_the_secret_for_a_complete_answer() -> None:
    found = section(
        replace(RIGHT, certificates={"cardquota-webhook": NotRead("you may not read it: no")})
    )
    assert (found.findings, found.complete) == ([], True)
    assert found.notes == ["you may not read it: no: it is not known when its certificate ends"]


def test_nothing_is_installed() -> None:
    none = Installed(
        definitions=dict.fromkeys(DEFINITIONS),
        admission=tuple((one, None) for one in documents(SETTINGS)),
        missing_rights=tuple(rights(SETTINGS)),
    )
    found = section(none)
    assert {one.reason for one in found.findings} == {
        "NoLeader",
        "DefinitionMissing",
        v.INSTALLATION_DIFFERS,
        "RightsMissing",
        "CertificateMissing",
        "DeploymentMissing",
    }
    assert len(found.findings) < 30
    given = section(none, Settings(webhook=Webhook(certificates="secret")))
    assert len(given.findings) == len(found.findings)


VOLCANO = Settings(scheduler="volcano")
OFF = "configurations: [{name: allocate, arguments: {predicateErrorCacheEnable: %s}}]"


def beside_volcano(text: str | None, **more: Any) -> Installed:
    stored = None if text is None else {"data": {"volcano-scheduler.conf": text}}
    admission = tuple((one, trusted(one)) for one in documents(VOLCANO))
    there: dict[str, Any] = {"volcano-system": {"metadata": {}}}
    return replace(
        RIGHT,
        admission=admission,
        **{"volcano_scheduler": stored, "volcano_namespaces": there, **more},
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (OFF % "false", []),
        (OFF % "'False'", []),
        (OFF % "true", ["PredicateCacheOn"]),
        ("configurations: [{name: allocate}]", ["PredicateCacheOn"]),
        ("configurations: 3", ["PredicateCacheOn"]),
        ("tiers: []", ["PredicateCacheOn"]),
        ("{", ["PredicateCacheOn"]),
        (None, ["ConfigurationMissing"]),
    ],
)
def test_v7_the_live_configuration_of_volcanos_scheduler(
    text: str | None, found: list[str]
) -> None:
    reasons = [one.reason for one in section(beside_volcano(text), VOLCANO).findings]
    definition = [one for one in reasons if one not in ("RightsMissing", "DefinitionNotOurs")]
    assert definition == found


def test_v7_a_configuration_that_may_not_be_read_is_said() -> None:
    hidden = {"volcano-system": NotRead("403: nor that")}
    installed = beside_volcano(
        None, volcano_scheduler=NotRead("403: no"), volcano_namespaces=hidden
    )
    found = section(installed, VOLCANO)
    assert {"403: no", "403: nor that"} <= set(found.notes)
    assert not found.complete


def test_v1_accounts_in_a_namespace_that_is_not_there_are_told() -> None:
    """Whoever may create it could say what pods are charged."""
    installed = beside_volcano(OFF % "false", volcano_namespaces={"volcano-system": None})
    (one,) = section(installed, VOLCANO).findings
    assert (one.kind, one.name, one.reason) == ("Namespace", "volcano-system", "AccountsMissing")
