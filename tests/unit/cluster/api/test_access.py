import asyncio
import base64
import os
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.certificates import Issued, issue
from cardquota.cluster.api import AccessError, Shared, TokenFile, from_kubeconfig, in_cluster
from cardquota.cluster.api.access import find_access


@pytest.fixture(scope="module")
def pair() -> Issued:
    return issue(["me"], now=datetime.now(UTC), days=1)


def _file(path: Path, user: str, *, cluster: str = "", server: str = "https://h:1/") -> Path:
    path.write_text(
        f"current-context: x\n"
        f"clusters: [{{name: c, cluster: {{server: '{server}'{cluster}}}}}]\n"
        f"users: [{{name: u, user: {{{user}}}}}]\n"
        f"contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
    )
    return path


async def test_a_token_that_is_replaced_is_used_at_once(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one\n")
    token = TokenFile(path)
    assert await token() == "Bearer one"
    new = tmp_path / "new"
    new.write_text("two")
    new.rename(path)
    assert await token() == "Bearer two"
    path.unlink()
    assert await token() == "Bearer two"
    path.write_text("")
    assert await token() == "Bearer two"


def test_a_token_is_needed(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="token file"):
        TokenFile(tmp_path / "none")


async def test_a_pods_own_account(tmp_path: Path, pair: Issued) -> None:
    (tmp_path / "token").write_text("mine")
    (tmp_path / "ca.crt").write_bytes(pair.ca_pem)
    access = in_cluster(tmp_path, {"KUBERNETES_SERVICE_HOST": "fd00::1"})
    assert access.server == "https://[fd00::1]:443"
    assert await access.authorization() == "Bearer mine"
    assert "mine" not in repr(access)
    assert access.namespace == "default"
    (tmp_path / "namespace").write_text("team\n")
    assert in_cluster(tmp_path, {"KUBERNETES_SERVICE_HOST": "h"}).namespace == "team"
    with pytest.raises(AccessError, match="KUBERNETES_SERVICE_HOST"):
        in_cluster(tmp_path, {})
    (tmp_path / "ca.crt").unlink()
    with pytest.raises(AccessError, match=r"ca\.crt"):
        in_cluster(tmp_path, {"KUBERNETES_SERVICE_HOST": "h"})


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ("token: abc", "Bearer abc"),
        ("username: me, password: secret", "Basic bWU6c2VjcmV0"),
        ("tokenFile: token, token: old", "Bearer filed"),
        ("", None),
    ],
)
async def test_who_a_kubeconfig_says_we_are(tmp_path: Path, user: str, header: str | None) -> None:
    (tmp_path / "token").write_text("filed")
    access = await from_kubeconfig([_file(tmp_path / "config", user)])
    assert access.server == "https://h:1"
    assert await access.authorization() == header
    assert access.tls is not None
    assert access.tls.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    "acts", ["as: board", "as-uid: '1'", "as-groups: [board]", "as-user-extra: {scopes: [view]}"]
)
@pytest.mark.parametrize("user", ["token: abc", "exec: {command: not-there}"])
async def test_a_user_who_acts_as_another_is_refused(tmp_path: Path, acts: str, user: str) -> None:
    """Else more or less would be done than kubectl may by this file."""
    with pytest.raises(AccessError, match="user 'u' acts as somebody else"):
        await from_kubeconfig([_file(tmp_path / "config", f"{user}, {acts}")])


async def test_client_certificates_and_options(tmp_path: Path, pair: Issued) -> None:
    (tmp_path / "ca.pem").write_bytes(pair.ca_pem)
    (tmp_path / "cert.pem").write_bytes(pair.cert_pem)
    key = base64.b64encode(pair.key_pem).decode()
    path = _file(
        tmp_path / "config",
        f"client-certificate: cert.pem, client-key-data: {key}",
        cluster=", certificate-authority: ca.pem, tls-server-name: n, proxy-url: 'http://p:1'",
    )
    access = await from_kubeconfig([path])
    assert access.tls is not None
    assert access.tls.cert_store_stats()["x509_ca"] == 1
    assert (access.server_hostname, access.proxy) == ("n", "http://p:1")


async def test_the_first_of_several_files_wins(tmp_path: Path) -> None:
    paths = [
        tmp_path / "missing",
        _file(tmp_path / "a", "token: a", server="http://first"),
        _file(tmp_path / "b", "token: b", server="http://second"),
    ]
    access = await from_kubeconfig(paths)
    assert (access.server, access.tls) == ("http://first", None)
    assert await access.authorization() == "Bearer a"


@pytest.mark.parametrize("text", ["", "current-context: nowhere", "[", "clusters: 7"])
async def test_a_useless_kubeconfig_is_said_to_be(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(AccessError, match="config"):
        await from_kubeconfig([tmp_path / "config"])


@pytest.mark.slow
async def test_a_plugin_is_asked(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text(
        "#!/bin/sh\n"
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"plugged"}}\'\n'
    )
    plugin.chmod(0o700)
    user = (
        f"exec: {{apiVersion: client.authentication.k8s.io/v1, command: {plugin}, "
        "interactiveMode: Never}"
    )
    path = _file(tmp_path / "config", user)
    access = await from_kubeconfig([path])
    assert await access.authorization() == "Bearer plugged"
    path.write_text(path.read_text().replace("current-context: x", "current-context: gone"))
    access = await from_kubeconfig([path], "x")
    assert await access.authorization() == "Bearer plugged"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("command: no-such-plugin", "the credential plugin 'no-such-plugin' is not there"),
        ("command: /", "the credential plugin '/': Permission denied"),
        ("command: 'true', env: 7", "its exec section is malformed"),
        ("command: 'true', args: [{}]", "its exec section is malformed"),
        ("command: echo, args: [PRINTED]", "neither a token nor a certificate"),
    ],
)
async def test_a_plugin_that_gives_nothing_is_told_once(
    tmp_path: Path, text: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    version = "client.authentication.k8s.io/v1"
    printed = f'{{"apiVersion": "{version}", "kind": "ExecCredential", "status": {{}}}}'
    user = f"exec: {{apiVersion: {version}, {text.replace('PRINTED', repr(printed))}}}"
    with pytest.raises(AccessError) as caught:
        await from_kubeconfig([_file(tmp_path / "config", user)])
    assert says in str(caught.value)
    assert "Errno" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


async def test_a_certificate_authority_is_text(tmp_path: Path) -> None:
    data = base64.b64encode(b"\xff\xfe").decode()
    path = _file(tmp_path / "config", "", cluster=f", certificate-authority-data: {data}")
    with pytest.raises(AccessError, match="its certificate authority is not PEM text"):
        await from_kubeconfig([path])


async def test_a_slow_plugin_goes_on_for_the_next_who_asks() -> None:
    """Its token outlives the time-out of one request, and it runs once for all."""
    runs, answer = 0, asyncio.Event()

    async def run() -> str:
        nonlocal runs
        runs += 1
        await answer.wait()
        return f"Bearer {runs}"

    plugin = Shared(run)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(plugin(), 0.01)
    asking = [asyncio.create_task(plugin()) for _ in range(3)]
    await asyncio.sleep(0)
    answer.set()
    assert await asyncio.gather(*asking) == ["Bearer 1"] * 3
    assert await plugin() == "Bearer 2"


async def test_a_plugin_that_failed_is_run_again() -> None:
    answers: list[Exception | str] = [AccessError("no"), "Bearer a"]

    async def run() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    plugin = Shared(run)
    with pytest.raises(AccessError):
        await plugin()
    assert await plugin() == "Bearer a"


async def test_kubeconfig_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _file(tmp_path / "config", "token: a", server="http://named")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}{os.pathsep}{path}")
    assert (await find_access()).server == "http://named"
    monkeypatch.setenv("KUBECONFIG", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(AccessError):
        await find_access()


async def test_a_named_one_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(_file(tmp_path / "a", "token: a", server="http://a")))
    named = _file(tmp_path / "b", "token: b", server="http://b")
    assert (await find_access(named)).server == "http://b"
    with pytest.raises(AccessError, match=r"none: there is no such file"):
        await find_access(tmp_path / "none")


async def test_a_named_one_counts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _file(tmp_path / "config", "token: a", server="http://a")
    more = (
        "{name: y, context: {cluster: c, user: other, namespace: team}}",
        "{name: z, context: {cluster: gone, user: u}}",
    )
    path.write_text(path.read_text().replace("user: u}}]", f"user: u}}}}, {', '.join(more)}]"))
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert await (await find_access(context="x")).authorization() == "Bearer a"
    assert await (await find_access(context="y")).authorization() is None
    assert (await find_access(context="y")).namespace == "team"
    assert (await find_access(context="x")).namespace == "default"
    with pytest.raises(AccessError, match="its context 'z' names no cluster with a server"):
        await find_access(context="z")
    with pytest.raises(AccessError, match=r"there is no context 'nope'; there are: x, y, z$"):
        await find_access(context="nope")
    contexts = ", ".join(f"{{name: more-{n}, context: {{}}}}" for n in range(9))
    path.write_text(path.read_text().replace("contexts: [", f"contexts: [{contexts}, "))
    with pytest.raises(AccessError, match=r"more-0, .*, more-4 and 7 more$"):
        await find_access(context="nope")
    path.write_text(path.read_text().replace("current-context: x", ""))
    with pytest.raises(AccessError, match="none is current"):
        await find_access()


async def test_a_pod_that_names_a_context_means_a_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: Issued
) -> None:
    mount = tmp_path / "mount"
    mount.mkdir()
    (mount / "token").write_text("mine")
    (mount / "ca.crt").write_bytes(pair.ca_pem)
    monkeypatch.setattr("cardquota.cluster.api.access.MOUNT", mount)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "pods")
    monkeypatch.setenv("KUBECONFIG", "")
    (tmp_path / ".kube").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    _file(tmp_path / ".kube" / "config", "token: a", server="http://a")
    assert (await find_access()).server == "https://pods:443"
    assert (await find_access(context="x")).server == "http://a"
