"""A process that serves a large cluster's lists and watches as an API server would, over TLS.

`python -m bench.processes.fake_api FOLDER PODS` writes `FOLDER/kubeconfig`, says `serving` on
standard output, and ends when standard input does. It is a fake because a real API server with
100,000 pods cannot be had in the time of a benchmark: creating them alone would take a quarter of
an hour. Objects are encoded before it serves; a page is then one join of bytes.

Real: TLS, paged lists with `limit` and `continue`, watches that stay open for the time asked and
send a bookmark two seconds before they end, one revision that grows with every write, and the
Secret, Lease and webhook configurations, which can be created and patched. Not real: watches never
tell of a change; the status of queues and events are taken and forgotten; nobody is authenticated;
everything is in memory, so a page costs it less than a real one.
"""

import asyncio
import base64
import gc
import itertools
import json
import ssl
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from builders.certificates import issue
from cardquota.cluster.serving import server_context
from cardquota.install import documents
from cardquota.quota import API_GROUP, VERSION
from cardquota.settings import Settings

from ..bodies import big_cluster

_OURS: Final = f"/apis/{API_GROUP}/{VERSION}"
_WEBHOOKS: Final = "/apis/admissionregistration.k8s.io/v1"
_BOOKMARK_BEFORE: Final = 2.0
"""Seconds before the end of a watch."""
_REVISION: Final = big_cluster.REVISION + 10_000_000


class FakeApi:
    """Collections that only grow old, and a few objects that can be written."""

    def __init__(self, pods: int) -> None:
        self._revision = _REVISION
        self._uids = itertools.count(1)
        self._lists: dict[str, tuple[str, str, list[bytes]]] = {}
        self._objects: dict[str, dict[str, Any]] = {}
        self._discovery = _discovery()
        self._list("/api/v1/pods", "Pod", big_cluster.pods(pods))
        self._list("/api/v1/nodes", "Node", big_cluster.nodes())
        self._list("/api/v1/namespaces", "Namespace", big_cluster.namespaces())
        self._list(f"{_OURS}/queues", "Queue", big_cluster.queues(pods))
        self._list(f"{_OURS}/podgroups", "PodGroup", big_cluster.gangs(pods))
        self._list(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            "PriorityClass",
            big_cluster.priority_classes(),
        )
        self._list("/api/v1/limitranges", "LimitRange", ())
        self._list("/apis/node.k8s.io/v1/runtimeclasses", "RuntimeClass", ())
        for found in documents(Settings()):
            plural = f"{found['kind'].lower()}s".replace("policys", "policies")
            self._objects[f"{_WEBHOOKS}/{plural}/{found['metadata']['name']}"] = found

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._get)
        app.router.add_post("/{path:.*}", self._post)
        app.router.add_patch("/{path:.*}", self._patch)
        return app

    def _list(self, path: str, kind: str, items: Iterable[bytes]) -> None:
        group = path.split("/")[2] if path.startswith("/api/") else "/".join(path.split("/")[2:4])
        self._lists[path] = (kind, group, list(items))

    async def _get(self, http: web.Request) -> web.StreamResponse:
        if http.path in self._lists:
            if http.query.get("watch") == "true":
                return await self._watch(http)
            return _answer(self._page(http.path, http.query))
        found = self._discovery.get(http.path) or self._objects.get(http.path)
        return _missing(http) if found is None else _answer(_json(found))

    def _page(self, path: str, query: Any) -> bytes:
        kind, version, items = self._lists[path]
        begin = int(query.get("continue") or 0)
        end = begin + int(query.get("limit") or len(items))
        meta: dict[str, Any] = {"resourceVersion": str(self._revision)}
        if end < len(items):
            meta.update({"continue": str(end), "remainingItemCount": len(items) - end})
        head = {"kind": f"{kind}List", "apiVersion": version, "metadata": meta}
        return b"%s,%s%s]}" % (_json(head)[:-1], b'"items":[', b",".join(items[begin:end]))

    async def _watch(self, http: web.Request) -> web.StreamResponse:
        kind, version, _ = self._lists[http.path]
        length = float(http.query.get("timeoutSeconds") or 60)
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        await stream.prepare(http)
        await asyncio.sleep(max(0.0, length - _BOOKMARK_BEFORE))
        meta = {"resourceVersion": str(self._revision), "creationTimestamp": None}
        last = {"kind": kind, "apiVersion": version, "metadata": meta}
        try:
            await stream.write(_json({"type": "BOOKMARK", "object": last}) + b"\n")
            await asyncio.sleep(min(length, _BOOKMARK_BEFORE))
            await stream.write_eof()
        except ConnectionError:
            pass  # whoever watched has left
        return stream

    async def _post(self, http: web.Request) -> web.Response:
        body = json.loads(await http.read())
        if not http.path.endswith("/events"):
            path = f"{http.path}/{body['metadata']['name']}"
            if path in self._objects:
                return _status(409, "AlreadyExists", path)
            self._written(body)
            body["metadata"]["uid"] = f"00000000-0000-4000-8000-{next(self._uids):012}"
            self._objects[path] = body
        return _answer(_json(body), status=201)

    async def _patch(self, http: web.Request) -> web.Response:
        patch = json.loads(await http.read())
        found = self._objects.get(http.path)
        if found is None:
            known = http.path.endswith("/status") and http.path.startswith(f"{_OURS}/queues/")
            return _answer(_json(patch)) if known else _missing(http)
        if isinstance(patch, list):
            for step in patch:
                if step["op"] == "add":
                    _add(found, step["path"].split("/")[1:], step["value"])
        else:
            wanted = patch.get("metadata", {}).get("resourceVersion")
            if wanted not in (None, found["metadata"]["resourceVersion"]):
                return _status(409, "Conflict", http.path)
            _merge(found, patch)
        self._written(found)
        return _answer(_json(found))

    def _written(self, body: dict[str, Any]) -> None:
        self._revision += 1
        body["metadata"]["resourceVersion"] = str(self._revision)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _answer(body: bytes, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/json")


def _missing(http: web.Request) -> web.Response:
    # Said aloud: a path that nobody thought of must not look like a slow start.
    print("not here:", http.method, http.path_qs, file=sys.stderr, flush=True)
    return _status(404, "NotFound", http.path)


def _status(code: int, reason: str, text: str) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
    return _answer(_json({**body, "message": text, "reason": reason, "code": code}), status=code)


def _add(inner: Any, path: list[str], value: object) -> None:
    for key in path[:-1]:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    inner[path[-1]] = value


def _merge(into: dict[str, Any], patch: dict[str, Any]) -> None:
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _discovery() -> dict[str, dict[str, Any]]:
    """What Kopf looks at before it watches."""
    served = {"groupVersion": f"{API_GROUP}/{VERSION}", "version": VERSION}
    verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
    queue = {"name": "queues", "singularName": "queue", "kind": "Queue", "namespaced": False}
    resources = [{**queue, "verbs": verbs}, {**queue, "name": "queues/status", "verbs": verbs}]
    return {
        "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
        "/apis": {
            "kind": "APIGroupList",
            "groups": [{"name": API_GROUP, "versions": [served], "preferredVersion": served}],
        },
        _OURS: {
            "kind": "APIResourceList",
            "groupVersion": f"{API_GROUP}/{VERSION}",
            "resources": resources,
        },
    }


async def serve_until_told(api: FakeApi, folder: Path) -> None:
    """Write the kubeconfig, say so, and serve until standard input ends."""
    # 100,000 objects that never go away are nothing for the collector to look at.
    gc.freeze()
    keys = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
    tls: ssl.SSLContext = server_context(keys.cert_pem, keys.key_pem)
    runner = web.AppRunner(api.application(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    authority = base64.b64encode(keys.ca_pem).decode()
    cluster = {
        "server": f"https://127.0.0.1:{runner.addresses[0][1]}",
        "certificate-authority-data": authority,
    }
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "fake",
        "clusters": [{"name": "fake", "cluster": cluster}],
        "users": [{"name": "fake", "user": {"token": "nobody-looks"}}],
        "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
    }
    (folder / "kubeconfig").write_bytes(_json(kubeconfig))
    print("serving", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve_until_told(FakeApi(int(sys.argv[2])), Path(sys.argv[1])))
