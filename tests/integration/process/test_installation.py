"""What stands in the cluster is not what was rendered: found, told, and never fought."""

import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cardquota.cluster.api import Client
from cardquota.cluster.api.access import find_access
from cardquota.cluster.events import ObjectReference
from cardquota.control import EVERY, InstallationCheck
from cardquota.install import documents
from cardquota.install.kubernetes_versions import GATE_BY_POLICY
from cardquota.install.manifests import admission_path
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, Object, ask

from .running import install_base, json_lines, running, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]

SETTINGS = Settings(webhook=Webhook(url="https://127.0.0.1:1"))
BY_POLICY = Settings(webhook=Webhook(url="https://127.0.0.1:1", gate=GateSetter.POLICY))
WANTED = documents(SETTINGS)
ONE_OF_EACH = list({one["kind"]: one for one in reversed(WANTED)}.values())
"""The API server fills in the same in all objects of a kind."""
Change = Callable[[Object], object]


def shown(document: Object) -> str:
    return f"{document['kind']} <{document['metadata']['name']}>"


def put_right(cluster: Cluster, wanted: list[Object] = WANTED) -> None:
    """As an administrator does: the output of `cardquota manifests`, applied."""
    text = "\n---\n".join(map(json.dumps, wanted))
    done = cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=text)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(bare: Cluster) -> Cluster:
    install_base(bare)
    put_right(bare)
    return bare


class Recorder:
    """Events as they would be written."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, str]] = []

    def forget(self, uid: str) -> None:
        assert uid

    def record(self, ref: ObjectReference, *, type: str, reason: str, message: str) -> None:  # noqa: A002
        assert (ref.kind, ref.name) == ("Namespace", SETTINGS.namespace)
        self.said.append((type, reason, message))


class Watcher:
    """A check of which the test says when."""

    def __init__(self, client: Client, settings: Settings = SETTINGS) -> None:
        self.metrics, self.events, self.leads = Metrics(), Recorder(), True
        self.client = client
        """Whom it asks now."""
        self.check = InstallationCheck(
            settings,
            self,  # type: ignore[arg-type]
            self.metrics,
            self.events,  # type: ignore[arg-type]
            lambda: self.leads,
        )

    async def get(self, path: str, **options: Any) -> bytes:
        return await self.client.get(path, **options)

    async def faults(self) -> list[str]:
        await self.check.check()
        return self.check.faults

    def counted(self, document: Object) -> float:
        kind, name = document["kind"], document["metadata"]["name"]
        labels = {"kind": kind, "name": name}
        found = self.metrics.registry.get_sample_value("cardquota_installation_faults", labels)
        assert found is not None
        return found


@pytest.fixture
async def watcher(installed: Cluster, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watcher]:
    """With the operator's own rights."""
    assert installed.folder is not None
    monkeypatch.setenv("KUBECONFIG", str(installed.folder.product_kubeconfig))
    client = Client(await find_access())
    yield Watcher(client)
    await client.close()


async def test_an_untouched_installation_reports_nothing(
    installed: Cluster, watcher: Watcher
) -> None:
    """Also what others write on it, which is theirs."""
    note = {"metadata": {"labels": {"team": "x"}, "annotations": {"a": "b"}}}
    for document in WANTED:
        assert ask(installed, "PATCH", admission_path(document), note, content_type=MERGE).ok
    assert await watcher.faults() == []
    assert [watcher.counted(document) for document in WANTED] == [0] * len(WANTED)
    assert watcher.events.said == []


async def test_an_object_that_is_deleted_is_found_until_it_is_there_again(
    installed: Cluster, watcher: Watcher
) -> None:
    for document in ONE_OF_EACH:
        assert ask(installed, "DELETE", admission_path(document)).ok
        try:
            assert await watcher.faults() == [
                f"{shown(document)} is missing: apply the output of `cardquota manifests`"
            ]
            assert [d for d in WANTED if watcher.counted(d)] == [document]
            assert watcher.events.said[-1][:2] == ("Warning", v.INSTALLATION_DIFFERS)
            assert shown(document) in watcher.events.said[-1][2]
        finally:
            assert ask(installed, "POST", admission_path(document).rpartition("/")[0], document).ok
        assert await watcher.faults() == []
        assert watcher.events.said[-1][:2] == ("Normal", v.INSTALLATION_RESTORED)
        assert await watcher.faults() == []
    assert len(watcher.events.said) == 2 * len(ONE_OF_EACH), "one event per change, no more"


def _webhooks(document: Object) -> Iterator[tuple[Change, str]]:
    policy = document["webhooks"][0]["failurePolicy"]
    other = "Fail" if policy == "Ignore" else "Ignore"
    yield lambda d: d["webhooks"][0].update(failurePolicy=other), "failurePolicy"
    yield lambda d: d["webhooks"][0].update(timeoutSeconds=30), "timeoutSeconds"
    yield lambda d: d["webhooks"][-1]["matchConditions"].pop(), "lacks "
    yield lambda d: d["webhooks"][0]["rules"][0].update(operations=["DELETE"]), "operations"
    yield lambda d: d["webhooks"][0].update(objectSelector={"matchLabels": {"a": "b"}}), "objectS"
    yield (
        lambda d: d["webhooks"][0]["namespaceSelector"]["matchExpressions"][0].update(
            values=["team"]
        ),
        "namespaceSelector",
    )
    yield lambda d: d["webhooks"][0]["clientConfig"].update(url="https://127.0.0.1:2/x"), "url"
    yield lambda d: d["webhooks"].pop(), "lacks "


def _policies(document: Object) -> Iterator[tuple[Change, str]]:
    other = "Fail" if document["spec"]["failurePolicy"] == "Ignore" else "Ignore"
    yield lambda d: d["spec"].update(failurePolicy=other), "failurePolicy"
    yield lambda d: d["spec"]["validations"][0].update(expression="true"), "expression"
    yield lambda d: d["spec"]["matchConditions"][0].update(expression="false"), "expression"
    yield (
        lambda d: d["spec"]["matchConstraints"].update(
            objectSelector={"matchLabels": {"quota": "yes"}}
        ),
        "objectSelector",
    )


def _bindings(_: Object) -> Iterator[tuple[Change, str]]:
    yield lambda d: d["spec"].update(validationActions=["Warn"]), "validationActions"
    yield lambda d: d["spec"].update(policyName="other"), "policyName"
    yield (
        lambda d: d["spec"].update(
            matchResources={"namespaceSelector": {"matchLabels": {"quota": "yes"}}}
        ),
        "namespaceSelector",
    )


CHANGES: dict[str, Callable[[Object], Iterator[tuple[Change, str]]]] = {
    "MutatingWebhookConfiguration": _webhooks,
    "ValidatingWebhookConfiguration": _webhooks,
    "ValidatingAdmissionPolicy": _policies,
    "ValidatingAdmissionPolicyBinding": _bindings,
}


@pytest.mark.parametrize("document", ONE_OF_EACH, ids=shown)
async def test_an_object_that_is_changed_is_found_and_what_differs_is_named(
    installed: Cluster, watcher: Watcher, document: Object
) -> None:
    what = "webhooks" if "webhooks" in document else "spec"
    for change, named in CHANGES[document["kind"]](document):
        before = ask(installed, "GET", admission_path(document)).body
        spoilt = deepcopy(before)
        change(spoilt)
        replace(installed, spoilt, what)
        try:
            (fault,) = await watcher.faults()
            assert fault.startswith(f"{shown(document)} ")
            assert named in fault
            assert fault.endswith(": apply the output of `cardquota manifests`")
        finally:
            replace(installed, before, what)
        assert await watcher.faults() == []


def replace(cluster: Cluster, document: Object, what: str) -> None:
    """Put a part of it, whatever stands there. Applying would not take away what was added."""

    def put() -> bool:
        stored = ask(cluster, "GET", admission_path(document)).body
        reply = ask(cluster, "PUT", admission_path(document), {**stored, what: document[what]})
        assert reply.ok or reply.code == 409, reply  # the API server's own controller was faster
        return reply.ok

    eventually(put, "the change")


@pytest.mark.newer_kubernetes(GATE_BY_POLICY)
async def test_policies_that_set_the_gate_are_looked_at_too(
    installed: Cluster, watcher: Watcher
) -> None:
    wanted = documents(BY_POLICY)
    ours = [one for one in wanted if one["kind"].startswith("MutatingAdmissionPolicy")]
    put_right(installed, wanted)
    by_policy = Watcher(watcher.client, BY_POLICY)
    try:
        assert await by_policy.faults() == []
        for document in ours:
            stored = ask(installed, "GET", admission_path(document)).body
            spoilt: Object = {"matchConditions": []} if "Binding" not in document["kind"] else {}
            spoilt = spoilt or {"matchResources": {"namespaceSelector": {"matchLabels": {"a": ""}}}}
            replace(installed, {**stored, "spec": {**stored["spec"], **spoilt}}, "spec")
            (fault,) = await by_policy.faults()
            assert fault.startswith(f"{shown(document)} ")
            assert ask(installed, "DELETE", admission_path(document)).ok
            (fault,) = await by_policy.faults()
            assert fault.startswith(f"{shown(document)} is missing")
            assert ask(installed, "POST", admission_path(document).rpartition("/")[0], document).ok
            assert await by_policy.faults() == []
    finally:
        for document in ours:
            ask(installed, "DELETE", admission_path(document))
        put_right(installed)


async def test_events_are_the_leaders_and_a_new_leader_tells_what_is_still_wrong(
    installed: Cluster, watcher: Watcher
) -> None:
    watcher.leads = False
    assert ask(installed, "DELETE", admission_path(WANTED[0])).ok
    try:
        assert len(await watcher.faults()) == 1
        assert watcher.events.said == []
        watcher.leads = True
        await watcher.faults()
        assert len(watcher.events.said) == 1
    finally:
        put_right(installed)


async def test_what_may_not_be_read_is_reported_as_that(
    installed: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade: the new policies were applied, the new rights were not."""
    assert installed.folder is not None
    monkeypatch.setenv("KUBECONFIG", str(installed.folder.tenant_kubeconfig))
    client = Client(await find_access())
    faults = await Watcher(client).faults()
    await client.close()
    assert len(faults) == len(WANTED)
    assert all("may not be read" in fault and "rbac.yaml" in fault for fault in faults)


async def test_an_api_server_that_is_away_changes_nothing_of_what_is_known(
    installed: Cluster, watcher: Watcher
) -> None:
    access = await find_access()
    away = Client(dataclasses.replace(access, server="https://127.0.0.1:1"))
    lonely = Watcher(away)
    assert await lonely.faults() == []
    lonely.client = watcher.client
    assert ask(installed, "DELETE", admission_path(WANTED[0])).ok
    try:
        known = await lonely.faults()
        assert len(known) == 1
        lonely.client = away
        assert await lonely.faults() == known
    finally:
        put_right(installed)
        await away.close()


def test_a_running_replica_tells_in_all_places(installed: Cluster, tmp_path: Path) -> None:
    gone = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/cardquota-pods"
    kind = 'kind="ValidatingAdmissionPolicyBinding"'
    row = f'cardquota_installation_faults{{{kind},name="cardquota-pods"}}'
    deleted = partial(ask, installed, "DELETE", gone)
    with running(installed, tmp_path / "o", before=deleted) as operator:
        eventually(lambda: operator.metric(row) == 1, "found", EVERY)
        fault = (
            "ValidatingAdmissionPolicyBinding <cardquota-pods> is missing: "
            "apply the output of `cardquota manifests`"
        )
        assert operator.get("/readyz") == (200, f"ok, leading\n{fault}\n")
        eventually(lambda: fault in told(installed), "an event")
    assert tracebacks(operator.log) == []
    assert [line["message"] for line in json_lines(operator.log)].count(fault) == 1


def told(cluster: Cluster) -> list[str]:
    """Messages of the events on the operator's Namespace."""
    events = ask(cluster, "GET", "/api/v1/namespaces/default/events").body["items"]
    return [
        event["message"]
        for event in events
        if event["involvedObject"].get("name") == "cardquota-system"
    ]
