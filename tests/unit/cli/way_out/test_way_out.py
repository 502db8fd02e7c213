"""`pause`, `resume` and `uninstall`, where the API server refuses, is overtaken, or has nothing.

What they do to a real one is in tests/integration/process.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from cardquota.cli.way_out import DEFINITIONS, gates, pause, uninstall
from cardquota.install import documents
from cardquota.install.manifests import admission_path, plural
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings, Webhook
from cardquota_dev.paths import CHECKOUT

from ..answering_api import called, serving

Object = dict[str, Any]
REQUIRED = (
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/cardquota-gate-required"
)
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


_ANY_NAMESPACE = re.compile(r"/namespaces/[^/]+(?=/)")


def _label(one: Object) -> str:
    labels = one["metadata"].get("labels") or {}
    return str(labels.get("app.kubernetes.io/name", "none"))


class StoredObjects:
    """Objects by path, of which a list has those of its collection."""

    def __init__(self, settings: Settings) -> None:
        self.objects: dict[str, Object] = {admission_path(it): it for it in documents(settings)}
        self.conflicts = 0
        """Writes that somebody else's overtakes, from now on."""
        self.refusing: dict[str, int] = {}
        """By path: with which status it refuses to change it."""
        self.written: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        path, method = request.path, request.method
        if path == WHO:
            return web.json_response({"status": {"userInfo": {"username": "eve"}}})
        if method == "GET" and path.startswith(f"{PATH}/") and path not in self.objects:
            return web.json_response({"kind": "Status"}, status=404)
        if method == "GET" and path not in self.objects:
            selector = request.query.get("labelSelector", "")
            inside = [
                it
                for key, it in self.objects.items()
                if _ANY_NAMESPACE.sub("", key.rpartition("/")[0]) == path
                or key.rpartition("/")[0] == path
            ]
            if selector:
                inside = [it for it in inside if _label(it) in selector]
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": inside})
        if method != "GET" and path in self.refusing:
            status = self.refusing[path]
            return web.json_response({"kind": "Status", "message": "no"}, status=status)
        if method == "PUT" and self.conflicts:
            self.conflicts -= 1
            return web.json_response({"kind": "Status", "message": "moved"}, status=409)
        if method == "PUT":
            self.objects[path] = await request.json()
            self.written.append(path)
        if method == "DELETE":
            self.written.append(path)
            gone = self.objects.pop(path, None)
            return web.json_response({}, status=200 if gone else 404)
        return web.json_response(self.objects.get(path, {}))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> StoredObjects:
    for module in (pause, uninstall, gates):
        monkeypatch.setattr(module, "TAKES_UP", 0.0)
    return StoredObjects(Settings())


@pytest.fixture
async def cluster(store: StoredObjects, tmp_path: Path) -> AsyncIterator[Path]:
    async with serving("*", store.answer, tmp_path) as kubeconfig:
        yield kubeconfig


async def test_u1_without_yes_nothing_is_written(store: StoredObjects, cluster: Path) -> None:
    for words in (("pause",), ("pause", "--release"), ("uninstall", "--gates", "open", "--crds")):
        said = await called(cluster, *words)
        assert said.exit_code == 0, said.output
        first, second, *_ = said.output.splitlines()
        assert first == "This is a dry run: nothing is changed. --yes does it:"
        assert "cardquota-gate-required" in second
    assert store.written == []


async def test_u1_a_write_that_is_overtaken_is_made_again(
    store: StoredObjects, cluster: Path
) -> None:
    store.conflicts = 3
    assert (await called(cluster, "pause", "--yes")).exit_code == 0
    assert store.objects[REQUIRED]["metadata"]["annotations"][v.PAUSED].endswith(" by eve")
    store.conflicts, store.written = 99, []
    said = await called(cluster, "uninstall", "--gates=keep", "--yes")
    assert (said.exit_code, REQUIRED in store.objects) == (0, False)


async def test_u1_pause_is_not_said_to_be_done_where_it_is_refused(
    store: StoredObjects, cluster: Path
) -> None:
    webhook = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cardquota"
    store.refusing[webhook] = 403
    said = await called(cluster, "pause", "--yes")
    assert said.exit_code == 1
    assert said.stdout.splitlines()[0] == (
        "paused ValidatingAdmissionPolicy <cardquota-gate-required>"
    )
    assert "ValidatingWebhookConfiguration" not in said.stdout
    assert said.stderr == (
        "cardquota: validatingwebhookconfigurations cardquota was not changed: 403: no; run the "
        "command again\n"
    )
    del store.refusing[webhook]
    said = await called(cluster, "pause", "--yes")
    assert said.stdout.splitlines()[0] == "paused ValidatingWebhookConfiguration <cardquota>"
    assert (await called(cluster, "pause", "--yes")).stdout.startswith("Paused already, since ")


async def test_u1_u5_where_nothing_is_installed(store: StoredObjects, cluster: Path) -> None:
    store.objects.clear()
    for words, said in (
        (("pause",), "Nothing is installed that could be paused."),
        (("resume",), "Not paused: there is nothing to resume."),
    ):
        found = await called(cluster, *words, "--yes")
        assert (found.exit_code, found.stdout.splitlines()[0]) == (0, said)
    assert store.written == []


async def test_u6_objects_are_found_by_the_name_of_the_settings(
    store: StoredObjects, cluster: Path, tmp_path: Path
) -> None:
    """And those of another name are others'."""
    other = {admission_path(it): it for it in documents(Settings(webhook=Webhook(name="quota")))}
    store.objects = other
    await called(cluster, "uninstall", "--gates=keep", "--yes")
    assert any(path.endswith("/quota") for path in store.objects)
    config = tmp_path / "config.yaml"
    config.write_text("webhook: {name: quota}\n")
    await called(cluster, "uninstall", "--gates=keep", "--yes", "--config", str(config))
    assert store.objects == {}


@pytest.mark.parametrize("volcano", [True, False])
async def test_u6_definitions_go_only_if_asked_for_and_never_those_of_volcano(
    store: StoredObjects, cluster: Path, volcano: bool
) -> None:
    ours = [f"{PATH}/{name}" for name in DEFINITIONS]
    others = [f"{PATH}/jobs.batch.volcano.sh"] if volcano else []
    store.objects.update({path: {"metadata": {}} for path in (*ours, *others)})
    queue = {"metadata": {"name": "research"}, "spec": {}}
    store.objects["/apis/scheduling.volcano.sh/v1beta1/queues/research"] = queue
    said = await called(cluster, "uninstall", "--gates=keep", "--yes")
    assert set(ours) <= set(store.objects)
    assert ("1 Queue and the definition stay: --crds deletes them" in said.stdout) is not volcano
    said = await called(cluster, "uninstall", "--gates=keep", "--crds", "--yes")
    left = {path for path in store.objects if path.startswith(PATH)}
    kept = {path for path in ours if path.endswith(".scheduling.volcano.sh")}
    assert left == ({*kept, *others} if volcano else set())
    assert ("Lost with the definition: 1 Queue." in said.stdout) is not volcano


async def test_u3_u5_gates_that_others_keep_shut_are_named(
    store: StoredObjects, cluster: Path
) -> None:
    for name in ("a", "b"):
        gate = {"schedulingGates": [{"name": "of.others/gate"}, {"name": v.GATE}]}
        path = f"/api/v1/namespaces/team/pods/{name}"
        pod = {"metadata": {"name": name, "namespace": "team"}, "spec": gate}
        store.objects[f"/api/v1/pods/{name}"] = pod
        store.refusing[path] = 403
    policies = [path for path in store.objects if "validatingadmissionpolicies" in path]
    for words in (("pause", "--release"), ("uninstall", "--gates=open")):
        said = await called(cluster, *words, "--yes")
        assert said.exit_code == 1
        assert said.stderr == "cardquota: 2 gates not opened, of team/a, team/b: 403: no\n"
    assert set(policies) <= set(store.objects)  # what goes after the gates is still there
    assert '"eve"' not in str([store.objects[path]["spec"] for path in policies])


async def test_u5_what_becomes_of_gates_must_be_said(cluster: Path) -> None:
    for words in (("uninstall",), ("uninstall", "--gates", "maybe")):
        said = await called(cluster, *words)
        assert said.exit_code == 2
        assert "--gates" in said.stderr


def shipped() -> dict[str, Object]:
    """Every object of manifests/, by its path."""
    found = {}
    for file in sorted((CHECKOUT / "manifests").glob("[bc]*/**/*.yaml")):
        for one in yaml.safe_load_all(file.read_text()):
            if file.name in ("kustomization.yaml", "changed.yaml") or "metadata" not in one:
                continue
            version, meta = one["apiVersion"], one["metadata"]
            where = f"/{'apis' if '/' in version else 'api'}/{version}/"
            where += f"namespaces/{meta['namespace']}/" if "namespace" in meta else ""
            found[f"{where}{plural(one['kind'])}/{meta['name']}"] = one
    return found


async def test_u6_all_that_the_manifests_have_is_deleted(
    store: StoredObjects, cluster: Path
) -> None:
    """Of every component; and not the same objects of somebody else, without our label."""
    others = {}
    for path, body in shipped().items():
        # In the operator's namespace what has such a name counts as the product's.
        inside = body["metadata"].get("namespace") == v.OPERATOR_NAMESPACE
        name = f"my-{body['metadata']['name']}" if inside else f"{body['metadata']['name']}-x"
        meta = {**body["metadata"], "name": name, "labels": {"app.kubernetes.io/name": "another"}}
        others[f"{path.rpartition('/')[0]}/{name}"] = {**body, "metadata": meta}
    store.objects = {**shipped(), **others}
    said = await called(cluster, "uninstall", "--gates=keep", "--yes")
    assert said.exit_code == 0, said.output
    namespace = "/api/v1/namespaces/cardquota-system"
    assert set(store.objects) - set(others) == {namespace}  # others have something in it
    assert set(others) <= set(store.objects)
    assert "Namespace <cardquota-system> stays: others have " in said.stdout
    store.objects = shipped()
    await called(cluster, "uninstall", "--gates=keep", "--yes")
    assert store.objects == {}


async def test_u6_settings_that_are_not_known_are_named(
    store: StoredObjects, cluster: Path
) -> None:
    """Objects have other names with other settings: these would be passed over."""
    deployment = "/apis/apps/v1/namespaces/cardquota-system/deployments/cardquota"
    env = [{"name": "CARDQUOTA_WEBHOOK__NAME", "valueFrom": {}}]
    template = {"spec": {"containers": [{"name": "cardquota", "env": env}]}}
    meta = {"name": "cardquota", "namespace": "cardquota-system"}
    store.objects[deployment] = {"metadata": meta, "spec": {"template": template}}
    for words in (("pause",), ("uninstall", "--gates", "keep")):
        said = await called(cluster, *words)
        assert "name the operator's configuration with --config" in said.output
