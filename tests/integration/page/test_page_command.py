"""`kubectl cardquota page` as a process, on the plane with the product."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from builders import H200, a_node, a_pod
from cardquota_dev.testing import eventually
from harness.page_process import COMMAND, reply, served_page
from harness.page_reader import LIST, PageReader
from integration.asking import ask
from integration.own_node import a_node_of
from integration.plugin import plugin
from integration.team import Team, of_a_job

from .conftest import Opens, serving


def address(team: Team) -> str:
    """Of the replica's port of the metrics."""
    return team.cluster.state.process("cardquota-0").address


def overview(url: str) -> dict[str, Any]:
    status, text = reply(f"{url}overview")
    assert status == 200, text
    return dict(json.loads(text))


def line_of(queue: str, url: str) -> dict[str, Any]:
    found = overview(url)["overview"]["queues"]
    return next((dict(one) for one in found if one["name"] == queue), {})


@pytest.mark.slow
def test_f7_one_sees_with_ones_own_rights(team: Team) -> None:
    card = f"{team.prefix}-card"  # what is free of another changes with the pods of others
    with a_node_of(team, a_node(f"{team.prefix}-node").with_cards(card, "4")):
        queue = team.has_queue({card: 2})
        assert team.create(of_a_job(team.a_pod("holder", 2, card))).ok
        team.until_row(card, allocated=2)
        assert team.create(of_a_job(team.a_pod("next", 1, card))).ok
        team.until_row(card, requested=3)
        _sees_all(team, queue, card)
        _sees_no_names(team, queue)


def _sees_all(team: Team, queue: str, card: str) -> None:
    with served_page(team.cluster.kubeconfig, f"--address={address(team)}") as url:
        assert reply(url)[1].startswith("<!doctype html>")
        assert overview(url)["missing"] == []
        (row,) = line_of(queue, url)["cards"]
        assert row | {"quota": 2, "allocated": 2, "requested": 3} == row
        assert row["name"] == card
        _, text = reply(f"{url}queue?name={queue}")
        found = json.loads(text)["queue"]
        shown = plugin(team.cluster.kubeconfig, "queue", queue, "-o", "json")
        wanted = json.loads(shown.stdout)
        for key in ("cards", "holders", "waiters", "heldPods", "waitingPods", "resources"):
            assert found[key] == wanted.get(key, wanted.get(_snake(key)))
        assert reply(f"{url}nodes")[0] == 200


def _sees_no_names(team: Team, queue: str) -> None:
    folder = team.cluster.folder
    assert folder is not None
    with served_page(folder.tenant_kubeconfig, f"--address={address(team)}") as url:
        (missing,) = overview(url)["missing"]
        assert missing.endswith("create on queuereviews.cardquota.volcano.sh")
        status, text = reply(f"{url}queue?name={queue}")
        assert (status, "holder" in text.split('"')) == (200, False)
        assert json.loads(text)["queue"]["moreHolders"] == 1


def _snake(key: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in key)


@pytest.mark.slow
def test_f7_an_account_with_one_queue_sees_that_one(team: Team) -> None:
    queue, other = team.has_queue({H200: 1}), team.has_queue({H200: 1}, "other")
    who = f"--service-account={team.namespace}/viewer"
    where = f"--address={address(team)}"
    path = f"/api/v1/namespaces/{team.namespace}/serviceaccounts"
    assert ask(team.cluster, "POST", path, {"metadata": {"name": "viewer"}}).ok
    refused = plugin(team.cluster.kubeconfig, "page", "--no-browser", where, who)
    assert refused.returncode == 1
    assert "list on queues.scheduling.volcano.sh" in refused.stderr
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    name = f"{team.prefix}-viewer"
    rule = {"apiGroups": ["scheduling.volcano.sh"], "resources": ["queues"], "verbs": ["get"]}
    role = {"metadata": {"name": name}, "rules": [{**rule, "resourceNames": [queue]}]}
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "viewer", "namespace": team.namespace}],
    }
    assert ask(team.cluster, "POST", f"{rbac}/clusterroles", role).ok
    assert ask(team.cluster, "POST", f"{rbac}/clusterrolebindings", binding).ok
    with served_page(team.cluster.kubeconfig, where, who) as url:
        found = overview(url)
        assert [one["name"] for one in found["overview"]["queues"]] == [queue]
        assert len(found["missing"]) == 3
        status, text = reply(f"{url}queue?name={other}")
        assert (status, "you see no queue of this name" in text) == (403, True)


@pytest.mark.slow
def test_f8_only_who_knows_the_url_is_served(team: Team) -> None:
    with served_page(team.cluster.kubeconfig, f"--address={address(team)}") as url:
        origin = f"http://{urlsplit(url).netloc}"
        for wrong in ("/", "/page/", f"/{'A' * 43}/", f"/{'A' * 43}/overview"):
            status, text = reply(origin + wrong)
            assert (status, "use the whole URL" in text) == (404, True)
        for other in ("metrics", "../metrics", "%2e%2e/metrics", "overview/x"):
            assert reply(url + other)[0] == 404
        assert reply(url, "POST")[0] == 405
        for host in ("evil.example", f"evil.example:{urlsplit(url).port}", "127.0.0.1"):
            status, text = reply(url, Host=host)
            assert (status, "only for" in text) == (403, True)
        assert reply(url.replace("127.0.0.1", "localhost"))[0] == 200


@pytest.mark.slow
def test_what_does_not_go_is_said_in_a_line(team: Team, tmp_path: Path) -> None:
    kubeconfig = team.cluster.kubeconfig

    def said(*words: str, config: Path = kubeconfig) -> str:
        done = plugin(config, "page", "--no-browser", *words)
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        assert done.returncode in (1, 2)
        return done.stderr

    where = f"--address={address(team)}"
    assert "no ready pod of the operator in namespace <cardquota-system>" in said()
    assert "does not answer" in said("--address=http://127.0.0.1:9")
    assert "is no URL" in said("--address=127.0.0.1:9")
    assert "cannot make a token of <default/nobody>" in said(
        where, "--service-account=default/nobody"
    )
    assert "is not NAMESPACE/NAME" in said(where, "--service-account=nobody")
    assert "cannot listen on port" in said(where, f"--port={address(team).rpartition(':')[2]}")
    text = json.loads(team.cluster.kubectl("config", "view", "--raw", "-o", "json").stdout)
    text["users"][0]["user"] = {"username": "a", "password": "b"}
    certain = tmp_path / "kubeconfig"
    certain.write_text(json.dumps(text))
    assert "--service-account NAMESPACE/NAME" in said(where, config=certain)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A kubeconfig, and `--address` of a page that knows its token. There is no API server."""
    config = tmp_path / "kubeconfig"
    config.write_text(
        "current-context: it\n"
        "contexts: [{name: it, context: {cluster: it, user: it}}]\n"
        "clusters: [{name: it, cluster: {server: 'http://127.0.0.1:9'}}]\n"
        "users: [{name: it, user: {token: chief}}]\n"
    )
    with serving(PageReader(chief={LIST})) as url:
        yield config, f"--address={url.removesuffix('/page/')}"


@pytest.mark.parametrize(
    "more", ["/?x=1", "?x=1", "/#x", "/page", "@127.0.0.1:9", ":secret@127.0.0.1:9"]
)
def test_an_address_is_scheme_host_and_port_alone(outside: tuple[Path, str], more: str) -> None:
    config, where = outside
    refused = plugin(config, "page", "--no-browser", f"{where}{more}")
    assert (refused.returncode, "is no URL as http" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_f8_the_browser_is_started_without_the_secret(
    outside: tuple[Path, str], tmp_path: Path
) -> None:
    """Every user of the machine may list processes, with their words."""
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\necho "$@" > {told}.new\nmv {told}.new {told}\n')
    browser.chmod(0o755)
    with served_page(*outside, browser=str(browser)) as url:
        eventually(told.exists, "the browser is started")
        found = urlsplit(told.read_text().strip())
        assert found.scheme == "file"
        file = Path(found.path)
        assert f'content="0; url={url}"' in file.read_text()
        assert [one.stat().st_mode & 0o777 for one in (file, file.parent)] == [0o600, 0o700]
    assert not file.parent.exists()


FORWARDS = """#!/bin/sh
echo "$$ $@" >> {calls}
echo "a plugin has something to say" >&2
printf 'Forwarding from 127.0.0.1:{port} -> 18080\\n%05000d\\n' 0
head -c 300000 /dev/zero | tr '\\0' x >&2
touch {calls}.said
exec sleep 1000
"""


@pytest.mark.slow
def test_the_port_forward_is_begun_again_and_ends_with_the_command(
    team: Team, tmp_path: Path
) -> None:
    """To a pod that looks like one of the operator's, by a kubectl that only says that it does."""
    config, calls, kubectl = (tmp_path / name for name in ("config", "calls", "kubectl"))
    config.write_text(f"namespace: {team.namespace}\n")
    kubectl.write_text(FORWARDS.format(calls=calls, port=address(team).rpartition(":")[2]))
    kubectl.chmod(0o755)
    ports = [{"name": "metrics", "containerPort": 18080}]
    pod = a_pod("operator").with_spec(containers=[{"name": "c", "ports": ports}])
    pod = pod.put({"app.kubernetes.io/name": "cardquota"}, "metadata", "labels")
    assert (made := team.create(pod)).ok, made
    where = f"--config={config}"

    def ready() -> bool:
        found = team.get(pod)["status"].get("conditions", ())
        return any(one["type"] == "Ready" and one["status"] == "True" for one in found)

    eventually(ready, "the pod is ready")
    with served_page(team.cluster.kubeconfig, where, path=str(tmp_path)) as url:
        assert overview(url)["user"] == "admin"
        (call,) = calls.read_text().splitlines()
        assert f"port-forward --namespace={team.namespace} pod/operator :18080" in call
        eventually(Path(f"{calls}.said").exists, "all that kubectl says is taken from it")
        os.kill(int(call.split()[0]), signal.SIGKILL)
        eventually(lambda: len(calls.read_text().splitlines()) == 2, "it is begun again")
        eventually(lambda: reply(f"{url}overview")[0] == 200, "the page goes on")
    last = calls.read_text().splitlines()[-1]
    assert not Path(f"/proc/{last.split()[0]}").exists()
    path = str(team.cluster.binary.parent)
    refused = plugin(team.cluster.kubeconfig, "page", "--no-browser", where, path=path)
    assert refused.returncode == 1
    assert "no port-forward to pod <operator>: " in refused.stderr


@pytest.mark.long
def test_f8_what_happens_is_seen_without_asking_again(team: Team, opened: Opens) -> None:
    queue = team.has_queue({H200: 2})
    team.until_row(H200, quota=2)
    with (
        served_page(team.cluster.kubeconfig, f"--address={address(team)}") as url,
        opened(url) as (page, _),
    ):
        row = page.locator("#rows .row", has_text=queue)
        expect(row).to_contain_text("0 / 2")
        assert team.create(of_a_job(team.a_pod("holder", 2, H200))).ok
        row.get_by_text("2 / 2").wait_for(timeout=20_000)
        assert team.create(of_a_job(team.a_pod("next", 1, H200))).ok
        row.get_by_text("1 wait", exact=True).wait_for(timeout=20_000)
        row.click()
        page.get_by_text("InsufficientCardQuota").wait_for()
        told = page.inner_text("#queue-body")
        found = json.loads(plugin(team.cluster.kubeconfig, "queue", queue, "-o", "json").stdout)
        assert f"place 1: {found['waiters'][0]['message']}" in told
        assert "Job/train" in told
        team.delete(team.a_pod("holder"))
        row.get_by_text("1 / 2").wait_for(timeout=20_000)
        page.get_by_text("Who waits: 0 waiters").wait_for(timeout=20_000)


@pytest.mark.long
def test_f7_a_tenant_is_shown_what_is_missing(team: Team, opened: Opens) -> None:
    folder = team.cluster.folder
    assert folder is not None
    queue = team.has_queue({H200: 2})
    team.until_row(H200, quota=2)
    with (
        served_page(folder.tenant_kubeconfig, f"--address={address(team)}") as url,
        opened(url) as (page, _),
    ):
        needed = "create on queuereviews.cardquota.volcano.sh is needed"
        assert needed in page.inner_text("#missing")
        page.locator("#rows .row", has_text=queue).click()
        page.locator("#queue-body").get_by_text(needed).wait_for()


def test_help_says_where_the_token_goes() -> None:
    done = subprocess.run((*COMMAND, "--help"), capture_output=True, text=True, check=True)
    assert "Your token is sent there" in " ".join(done.stdout.replace("│", " ").split())
