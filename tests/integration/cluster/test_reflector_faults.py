"""After any fault of the way to the API server, the sink holds what a fresh list has."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from aiohttp.web import BaseRequest

from cardquota.cluster.api import Client, from_kubeconfig
from cardquota.cluster.watch import Reflector
from cardquota_dev.testing import Cluster
from harness.proxy import Proxy

from .conftest import Front, until
from .mirror import (
    Mirror,
    Sized,
    a_few,
    create,
    delete,
    listed,
    mirroring,
    much_happens,
    resize,
)


async def holds_what_is_listed(
    reflector: Reflector[Sized], mirror: Mirror, client: Client, namespace: str, *, relists: int = 0
) -> None:
    """At last: told, not told twice from the beginning."""
    wanted = await listed(client, namespace)
    await until(lambda: mirror.holds == wanted, "the sink holds what a fresh list has")
    assert reflector.relists <= relists


async def test_a_stream_that_comes_in_single_bytes_tells_all(
    client: Client, fronted: Client, front: Front, namespace: str
) -> None:
    await a_few(client, namespace)
    mirror, front.single_bytes = Mirror(), True
    async with mirroring(fronted, namespace, mirror) as reflector:
        await much_happens(client, namespace)
        await holds_what_is_listed(reflector, mirror, client, namespace)
        assert len(front.watched_from) == 1


@pytest.mark.slow
async def test_a_stream_may_die_at_any_byte_of_a_line(
    client: Client, fronted: Client, front: Front, namespace: str
) -> None:
    """Each watch dies some bytes later than the one before, and the next goes on from there."""
    mirror, cuts = Mirror(), range(1, 1_500, 61)
    async with mirroring(fronted, namespace, mirror) as reflector:
        await create(client, namespace, "a", "0")
        await until(lambda: "a" in mirror.holds, "the stream flows")
        for round_, cut in enumerate(cuts):
            watches, front.cut_after = len(front.watched_from), cut
            front.abort_watches()
            await until(lambda n=watches: len(front.watched_from) > n, "a new watch")
            for number in range(3):
                await resize(client, namespace, "a", f"{round_}-{number}")
            await create(client, namespace, f"b{round_}", "1")
            if round_:
                await delete(client, namespace, f"b{round_ - 1}")
            await holds_what_is_listed(reflector, mirror, client, namespace)
        assert front.watched_from == sorted(front.watched_from)
    assert front.cuts == len(cuts)
    assert len(mirror.ended) == len(cuts) - 1


async def test_one_that_falls_silent_is_given_up_though_nothing_ends_it(
    client: Client, fronted: Client, front: Front, namespace: str
) -> None:
    await a_few(client, namespace)
    mirror, front.silent_watches = Mirror(), 1
    async with mirroring(
        fronted, namespace, mirror, watch_seconds=0.4, stall_timeout=0.6
    ) as reflector:
        await until(lambda: front.watched_from, "the first watch")
        await much_happens(client, namespace)
        await holds_what_is_listed(reflector, mirror, client, namespace)
        assert front.watched_from[0] == front.watched_from[1]


@pytest.mark.slow
async def test_a_quiet_stream_is_kept_current_by_bookmarks(client: Client, namespace: str) -> None:
    """So a cut long after the last change goes on from near the present, not from the change."""
    mirror = Mirror()
    async with mirroring(client, namespace, mirror, watch_seconds=4.0) as reflector:
        await create(client, namespace, "a", "1")
        await until(lambda: "a" in mirror.holds, "the object")
        lagging = reflector.revision
        # Of the same kind, for that is what the API server's bookmarks tell; not for this watch.
        await create(client, "default", namespace, "1")
        await delete(client, "default", namespace)
        await until(lambda: reflector.revision > lagging, "a bookmark")
        assert reflector.relists == 0
        assert len(mirror.holds) == 1


@pytest.mark.slow
async def test_whoever_is_asked_to_come_later_comes_later(
    client: Client, fronted: Client, front: Front, namespace: str
) -> None:
    """429 to a list, to a page in the middle of one, and to a watch; each pause is kept."""
    await a_few(client, namespace)
    mirror = Mirror()
    refusals = ["limit", "continue", "watch"]

    def refuse(request: BaseRequest) -> bool:
        found = bool(refusals) and refusals[0] in request.query
        if found:
            refusals.pop(0)
        return found

    front.refuse = refuse
    async with mirroring(fronted, namespace, mirror, page_size=2) as reflector:
        await until(lambda: not refusals, "three refusals")
        await much_happens(client, namespace)
        await holds_what_is_listed(reflector, mirror, client, namespace)
    for refused in front.refused_at:
        after = [at for at in front.asked_at if at > refused]
        assert min(after) - refused >= 1.0


# --- credentials that are replaced while we run ---------------------------------------------


async def a_token(client: Client, namespace: str, name: str) -> str:
    """Of a new service account that may read the namespace's config maps."""
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    await client.post(accounts, {"metadata": {"name": name}})
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings"
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    await client.post(rbac, {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]})
    answer = await client.post(f"{accounts}/{name}/token", {"spec": {"expirationSeconds": 600}})
    return str(msgspec.json.decode(answer)["status"]["token"])


@pytest.fixture
async def credentials(
    plane: Cluster, client: Client, proxy: Proxy, namespace: str, tmp_path: Path
) -> Path:
    """A folder with a kubeconfig whose CA, client certificate and token are files beside it."""
    if plane.folder is None:
        pytest.skip("the CA of a cluster that is not ours is not known")
    private = plane.folder.private
    (tmp_path / "ca.crt").write_bytes((private / "ca.crt").read_bytes())
    # The API server asks for no client certificate: any pair will do.
    (tmp_path / "client.crt").write_bytes((private / "serving.crt").read_bytes())
    (tmp_path / "client.key").write_bytes((private / "serving.key").read_bytes())
    (tmp_path / "token").write_text(await a_token(client, namespace, "first"))
    cluster = {
        "server": f"https://127.0.0.1:{proxy.port}",
        "certificate-authority": "ca.crt",
    }
    user = {
        "tokenFile": "token",
        "client-certificate": "client.crt",
        "client-key": "client.key",
    }
    config = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    return tmp_path


@pytest.fixture
async def by_files(credentials: Path) -> AsyncIterator[Client]:
    client = Client(await from_kubeconfig([credentials / "kubeconfig"]))
    yield client
    await client.close()


def replace_file(path: Path, text: str) -> None:
    """Whole, as kubelet and people do."""
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.rename(path)


async def test_a_token_that_is_replaced_is_used_without_a_new_list(
    client: Client,
    by_files: Client,
    credentials: Path,
    proxy: Proxy,
    namespace: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await a_few(client, namespace)
    second = await a_token(client, namespace, "second")
    mirror = Mirror()
    async with mirroring(by_files, namespace, mirror) as reflector:
        replace_file(credentials / "token", "expired")
        proxy.cut()
        await until(lambda: "401" in caplog.text, "a refusal of the bad token")
        await much_happens(client, namespace)
        assert "new" not in mirror.holds
        replace_file(credentials / "token", second)
        await holds_what_is_listed(reflector, mirror, client, namespace)


async def test_ca_and_client_certificate_are_those_read_at_the_start(
    client: Client, by_files: Client, credentials: Path, proxy: Proxy, namespace: str
) -> None:
    """Files that are half replaced, or gone, never end a running watch; new ones take a restart."""
    await a_few(client, namespace)
    mirror = Mirror()
    async with mirroring(by_files, namespace, mirror) as reflector:
        replace_file(credentials / "ca.crt", "half a certific")
        replace_file(credentials / "client.crt", "half a certific")
        (credentials / "client.key").unlink()
        proxy.cut()
        await much_happens(client, namespace)
        await holds_what_is_listed(reflector, mirror, client, namespace)
