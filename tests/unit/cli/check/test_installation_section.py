"""What the sections `installation` and `fence` make of what was read."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from builders.certificates import issue
from cardquota.cli.check import CheckSection
from cardquota.cli.check.installation_section import (
    definition_findings,
    deployment_findings,
    fence_section,
    installation_section,
    lease_findings,
    nobody_decides,
)
from cardquota.cli.check.installed import Installed
from cardquota.cli.leader import is_renewed
from cardquota.cli.reading import Answer, NotRead
from cardquota.cli.way_out import DEFINITIONS, TERM_DEFINITION
from cardquota.install import documents
from cardquota.install.pause import is_paused_with_others, paused
from cardquota.install.rights import rights
from cardquota.quota import seconds_of
from cardquota.quota import vocabulary as v
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.paths import CHECKOUT

from .test_certificate_findings import encoded

NOON = seconds_of("2026-01-02T12:00:00Z") or 0


def lease(renewed: str = "11:59:55", holder: str = "pod/1", revision: str = "7") -> dict[str, Any]:
    at = f"2026-01-02T{renewed}.000000Z"
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 12, "renewTime": at}
    return {"metadata": {"uid": "u", "resourceVersion": revision}, "spec": spec}


def why(*leases: Answer) -> str:
    (one,) = lease_findings(leases, "cardquota-system", NOON)
    assert (one.kind, one.namespace, one.name) == ("Lease", "cardquota-system", "cardquota")
    return one.why


@pytest.mark.parametrize(
    "leases",
    [
        (lease(),),
        (lease("11:59:48"),),
        (lease("11:00:00"), lease("11:00:03", revision="8")),  # another clock than ours
        (lease(holder=""), lease(revision="8")),  # between two leaders
        (None, lease()),  # the first one starts
        (NotRead("no"),),
    ],
)
def test_somebody_leads_or_it_is_not_known(leases: tuple[Answer, ...]) -> None:
    assert list(lease_findings(leases, "cardquota-system", NOON)) == []
    assert is_renewed(leases, NOON) or isinstance(leases[-1], NotRead)


OLD, FREE = lease("11:50:00"), lease(holder="")
ODD = {"spec": {"holderIdentity": "x", "renewTime": 7, "leaseDurationSeconds": "long"}}


@pytest.mark.parametrize(
    ("leases", "said"),
    [
        ((None,), "there is no Lease <cardquota-system/cardquota>"),
        ((FREE, FREE), "has no holder: no replica leads"),
        ((OLD, OLD), "of pod/1 was renewed 10 min ago, and is valid for 12 s: no replica"),
        (({"spec": 7},), "no holder"),
        ((ODD, ODD), "of x is not renewed"),
    ],
)
def test_nobody_leads(leases: tuple[Answer, ...], said: str) -> None:
    assert said in why(*leases)


def test_a_clock_far_behind_the_leaders_makes_nobody_live() -> None:
    ahead = lease("13:00:00")
    assert not is_renewed((ahead,), NOON)
    assert is_renewed((ahead, lease("13:00:03", revision="8")), NOON)


QUEUES, GROUPS, *QUESTIONS, _ = DEFINITIONS


def ours(name: str) -> dict[str, Any]:
    kind, _, group = name.partition(".")
    found: dict[str, Any] = yaml.safe_load((CHECKOUT / "crds" / f"{group}_{kind}.yaml").read_text())
    return found


def volcanos() -> dict[str, Any]:
    status = {"type": "object", "properties": {"state": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"status": status}}}
    return {"spec": {"versions": [{"name": "v1beta1", "served": True, "schema": schema}]}}


def of_versions(*versions: object) -> dict[str, Any]:
    return {"spec": {"versions": versions and list(versions)}}


@pytest.mark.parametrize(
    ("queues", "standalone", "beside"),
    [
        (ours(QUEUES), [], []),
        (volcanos(), ["DefinitionNotOurs"], []),
        (NotRead("no"), [], []),
        (None, *[["DefinitionMissing"]] * 2),
        (of_versions(), *[["DefinitionNotServed"]] * 2),
        (of_versions(7, {"name": "v1"}), *[["DefinitionNotServed"]] * 2),
        (of_versions({"name": "v1beta1", "served": False}), *[["DefinitionNotServed"]] * 2),
    ],
)
def test_the_definition_of_queues(queues: Answer, standalone: list[str], beside: list[str]) -> None:
    both = {QUEUES: queues, GROUPS: ours(GROUPS)}
    for alone, wanted in ((True, standalone), (False, beside)):
        assert [one.reason for one in definition_findings(both, standalone=alone)] == wanted


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


def a_deployment(image: str = "cardquota:0.1.0", *, ready: object = 2) -> dict[str, Any]:
    containers = [{"name": "sidecar", "image": "x:9.9.9"}, {"name": "cardquota", "image": image}]
    spec = {"replicas": 2, "template": {"spec": {"containers": containers}}}
    return {"spec": spec, "status": {"readyReplicas": ready}}


def deployment_reasons(deployment: dict[str, Any], own: str = "0.1.0") -> list[str]:
    return [one.reason for one in deployment_findings(deployment, "cardquota-system", own)]


@pytest.mark.parametrize(
    "image",
    [
        "cardquota:0.1.0",
        "registry.example.com:5000/gpu/cardquota:v0.1.7",
        "cardquota:0.1.0-rc.1@sha256:00",
        "cardquota",
        "cardquota:latest",
        "cardquota@sha256:00",
        "registry.example.com:5000/cardquota",
        "cardquota:" + "9" * 1_000_000,
    ],
)
def test_what_goes_with_this_command_or_says_nothing(image: str) -> None:
    assert deployment_reasons(a_deployment(image)) == []


def test_another_minor_version() -> None:
    (one,) = deployment_findings(a_deployment("cardquota:v0.2.0"), "cardquota-system", "0.1.0")
    assert one.reason == "VersionDiffers"
    assert one.why == "Deployment <cardquota-system/cardquota> runs v0.2.0, this command is 0.1.0"


def test_replicas_that_are_not_ready() -> None:
    (one,) = deployment_findings(a_deployment(ready=1), "cardquota-system", "0.1.0")
    assert one.why == "Deployment <cardquota-system/cardquota> has 1 of 2 replicas ready"
    for odd in (a_deployment(ready=None), {"spec": 7, "status": [], "metadata": None}):
        assert deployment_reasons(odd) == ["ReplicasNotReady"]


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


def test_the_version_of_kubernetes_is_told_and_is_a_fault_if_it_is_too_old() -> None:
    def at(minor: int) -> Installed:
        return replace(RIGHT, version={"gitVersion": f"v1.{minor}.2"})

    found = section(at(34))
    assert (found.findings, found.complete) == ([], True)
    assert found.notes == ["Kubernetes 1.34 is supported; `webhook.gate: policy` needs 1.36"]
    (one,) = section(at(30)).findings
    assert one.reason == "KubernetesTooOld"
    assert one.why_and_advice.endswith("; upgrade the cluster")
    by_policy = Settings(webhook=Webhook(gate=GateSetter.POLICY))
    reasons = {one.reason for one in section(at(34), by_policy).findings}
    assert "KubernetesTooOldForSetting" in reasons
    hidden = section(replace(RIGHT, version=NotRead("you may not read it: no")))
    assert (hidden.notes, hidden.complete) == (["you may not read it: no"], False)


@pytest.mark.parametrize("name", ["cardquota-pods", "cardquota-lease"])
def test_a_binding_that_is_missing_is_told_in_the_operators_words(name: str) -> None:
    def there(wanted: Any) -> bool:
        kind = "ValidatingAdmissionPolicyBinding"
        return (wanted["kind"], wanted["metadata"]["name"]) != (kind, name)

    admission = tuple((one, found if there(one) else None) for one, found in RIGHT.admission)
    found = section(replace(RIGHT, admission=admission))
    (one,) = found.findings
    assert (one.kind, one.name) == ("ValidatingAdmissionPolicyBinding", name)
    assert one.reason == v.INSTALLATION_DIFFERS
    assert one.why_and_advice == (
        f"ValidatingAdmissionPolicyBinding <{name}> is missing: apply the output of "
        "`cardquota manifests`"
    )


def test_u1_a_pause_is_found_and_what_differs_beside_it() -> None:
    """Its objects are as rendered otherwise, and are not told to be applied again."""
    said = "2026-11-28T03:06:28Z by eve"
    admission = tuple(
        (wanted, paused(found, said) if found and is_paused_with_others(wanted) else found)
        for wanted, found in RIGHT.admission
        if not isinstance(found, NotRead)
    )
    found = section(replace(RIGHT, admission=admission))
    assert {one.reason for one in found.findings} == {"QuotaPaused"}
    assert {one.why_and_advice for one in found.findings} == {
        f"paused since {said}: it refuses and gates nothing; `cardquota resume --yes` ends that"
    }
    wanted, one = admission[0]
    weakened = ((wanted, {**(one or {}), "spec": {}}), *admission[1:])
    assert v.INSTALLATION_DIFFERS in reasons(replace(RIGHT, admission=weakened))


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
    kinds_of = [wanted for wanted, _ in RIGHT.admission]
    hidden = tuple((one, NotRead(f"you may not read {n}: no")) for n, one in enumerate(kinds_of))
    kinds = Counter(str(wanted["kind"]) for wanted, _ in hidden)
    found = section(replace(RIGHT, admission=hidden))
    assert len(found.notes) == len(kinds) < len(hidden)
    many = max(kinds, key=kinds.__getitem__)
    assert any(
        note.endswith(f" (the same for {kinds[many] - 1} more of kind {many})")
        for note in found.notes
    )


def test_nobody_needs_the_secret_for_a_complete_answer() -> None:
    hidden = {"cardquota-webhook": NotRead("you may not read it: no")}
    found = section(replace(RIGHT, certificates=hidden))
    assert (found.findings, found.complete) == ([], True)
    assert found.notes == ["you may not read it: no: it is not known when its certificate ends"]


def test_nothing_is_installed() -> None:
    none = Installed(
        definitions=dict.fromkeys(DEFINITIONS),
        admission=tuple((one, None) for one in documents(SETTINGS)),
        missing_rights=tuple(rights(SETTINGS)),
    )
    found = section(none)
    parts = "Definition", "Rights", "Certificate", "Deployment"
    missing = {f"{part}Missing" for part in parts}
    reasons = {one.reason for one in found.findings}
    assert reasons == {"NoLeader", v.INSTALLATION_DIFFERS, *missing}
    assert len(found.findings) < 30
    given = section(none, Settings(webhook=Webhook(certificates="secret")))
    assert len(given.findings) == len(found.findings)


VOLCANO = Settings(scheduler="volcano")
OFF = "configurations: [{name: allocate, arguments: {predicateErrorCacheEnable: %s}}]"


def beside_volcano(text: str | None, settings: Settings = VOLCANO, **more: Any) -> Installed:
    stored = None if text is None else {"data": {"volcano-scheduler.conf": text}}
    there: dict[str, Any] = {"volcano-system": {"metadata": {}}}
    return replace(
        RIGHT,
        admission=tuple((one, trusted(one)) for one in documents(settings)),
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
def test_v7_the_live_configuration_of_volcano(text: str | None, found: list[str]) -> None:
    reasons = [one.reason for one in section(beside_volcano(text), VOLCANO).findings]
    definition = [one for one in reasons if one not in ("RightsMissing", "DefinitionNotOurs")]
    assert definition == found


@pytest.mark.parametrize(
    ("mode", "beside", "actions", "found"),
    [
        ("on", False, "enqueue, allocate, reclaim", ["VolcanoEndsPods"]),
        ("dryRun", False, "preempt,allocate", ["VolcanoEndsPods"]),
        ("on", False, "enqueue, allocate, backfill", []),
        ("on", True, "enqueue, allocate, reclaim", []),
        ("off", False, "enqueue, allocate, reclaim", []),
    ],
)
def test_l6_volcano_that_ends_pods_beside_us_is_told(
    mode: str, beside: bool, actions: str, found: list[str]
) -> None:
    settings = Settings(
        scheduler="volcano", reclaim=Reclaim(mode=ReclaimMode(mode), beside_volcano=beside)
    )
    text = f"actions: '{actions}'\n{OFF % 'false'}"
    reasons = section(beside_volcano(text, settings), settings).findings
    assert [one.reason for one in reasons] == found


def test_v7_a_configuration_that_may_not_be_read_is_said() -> None:
    hidden = {"volcano-system": NotRead("403: nor that")}
    no = NotRead("403: no")
    installed = beside_volcano(None, volcano_scheduler=no, volcano_namespaces=hidden)
    found = section(installed, VOLCANO)
    assert {"403: no", "403: nor that"} <= set(found.notes)
    assert not found.complete


def test_v1_accounts_in_a_namespace_that_is_not_there_are_told() -> None:
    """Whoever may create it could say what pods are charged."""
    installed = beside_volcano(OFF % "false", volcano_namespaces={"volcano-system": None})
    (one,) = section(installed, VOLCANO).findings
    assert (one.kind, one.name, one.reason) == ("Namespace", "volcano-system", "AccountsMissing")


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


def test_all_of_the_fence_is_in_order() -> None:
    section = fence_section(HOLDS, SETTINGS, NOON)
    assert (section.findings, section.notes, section.complete) == ([], [], True)


@pytest.mark.parametrize(
    ("term", "holder", "reasons"),
    [
        (None, "pod/1", ["TermMissing"]),
        (a_term("pod/0"), "pod/1", ["TermDiffers"]),
        (a_term(fault="the API server refuses it"), "pod/1", [v.FENCE_FAULT]),
        # Between two leaders it names the last one.
        (a_term(), "", []),
    ],
)
def test_what_is_wrong_with_a_term(term: Answer, holder: str, reasons: list[str]) -> None:
    assert found(replace(HOLDS, term=term, term_lease=lease(holder=holder))) == reasons


@pytest.mark.parametrize("name", ["cardquota-gate-term", "cardquota-reservation-term"])
def test_its_policies_and_bindings_are_told_here_and_nowhere_else(name: str) -> None:
    assert found(without(name)) == [v.INSTALLATION_DIFFERS] * 2
    assert reasons(without(name)) == []
    assert found(without("cardquota-pods")) == []


def test_without_the_kind_that_alone_is_told() -> None:
    definitions = {**HOLDS.definitions, TERM_DEFINITION: None}
    assert found(replace(HOLDS, definitions=definitions, term=None)) == ["DefinitionMissing"]


def test_what_may_not_be_read_of_the_fence_is_said() -> None:
    section = fence_section(replace(HOLDS, term=NotRead("you may not")), SETTINGS, NOON)
    assert (section.findings, section.notes, section.complete) == ([], ["you may not"], False)
