"""The few questions that the agent asks the API server: a pod, its annotations, its own node's.

With the standard library: a client of Kubernetes would take as much memory as all the rest, and
needs nothing that is not here. Blocks; to be called in a thread.
"""

import json
import os
import ssl
import tempfile
import threading
from base64 import b64decode
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from cardquota.quota.amounts import whole

from .yaml_file import YamlFileError, load_yaml

_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT: Final = 5.0
"""Seconds for one answer."""
_LONGEST: Final = 4 * 1024 * 1024
"""Bytes of an answer: twice what etcd stores."""
_UNUSABLE: Final = (
    *(OSError, HTTPException, YamlFileError),
    *(ValueError, LookupError, TypeError, AttributeError),
)
"""What is raised where there is no server, no answer, or no kubeconfig that can be used."""
_MERGE: Final = "application/merge-patch+json"


class ApiServerError(Exception):
    """The API server does not answer, or not with what was asked for; the text says why."""


class NotFoundError(ApiServerError):
    """There is no such object."""


class PodOnNode(NamedTuple):
    """What is read of a pod."""

    uid: str
    annotations: Mapping[str, str]
    limits: Mapping[str, Mapping[str, str]]
    """By container, by resource."""

    def asks_for(self, resource: str) -> dict[str, int]:
        """Which containers ask for a resource, and for how many; of init containers only
        sidecars count.
        """
        return {name: whole(of[resource]) for name, of in self.limits.items() if resource in of}


class ApiServer:
    """Keeps a connection for each thread that asks. A pod's token is read at each question, since
    it is replaced every hour; all else is read again with a new connection.
    """

    def __init__(self, kubeconfig: Path | None, node: str) -> None:
        """`kubeconfig`: None in a pod, whose service account is used. `node`: pods of others are
        not read.
        """
        self._kubeconfig, self._node = kubeconfig, node
        self._of_thread = threading.local()

    def pod(self, namespace: str, name: str) -> PodOnNode:
        """Raises NotFoundError, also if it is on another node now, and ApiServerError."""
        found = self._ask("GET", _pod(namespace, name))
        meta, spec = found.get("metadata") or {}, found["spec"]
        if spec.get("nodeName") != self._node:
            raise NotFoundError(
                f"pod <{namespace}/{name}> is on node <{spec.get('nodeName')}> now, not on "
                f"<{self._node}>"
            )
        sidecars = (
            container
            for container in spec.get("initContainers") or ()
            if container.get("restartPolicy") == "Always"
        )
        limits = {
            container["name"]: (container.get("resources") or {}).get("limits") or {}
            for container in (*spec["containers"], *sidecars)
        }
        return PodOnNode(str(meta.get("uid", "")), meta.get("annotations") or {}, limits)

    def annotate_pod(
        self, namespace: str, name: str, uid: str, annotations: Mapping[str, str]
    ) -> None:
        """Set annotations of this very pod; others stay. Raises NotFoundError, ApiServerError."""
        meta = {"uid": uid, "annotations": dict(annotations)}
        self._ask("PATCH", _pod(namespace, name), {"metadata": meta})

    def annotate_node(self, name: str, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of a node, or take them away (None). Raises ApiServerError."""
        path = f"/api/v1/nodes/{quote(name, safe='')}"
        self._ask("PATCH", path, {"metadata": {"annotations": dict(annotations)}})

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        data = json.dumps(body) if body is not None else None
        try:
            kept: _Connection | None = getattr(self._of_thread, "connection", None)
            if kept is not None:
                try:
                    return _exchange(kept, method, path, data)
                except TimeoutError:
                    kept.http.close()
                    raise
                except (OSError, HTTPException, _UnauthorizedError):
                    kept.http.close()  # the server has closed it, or credentials were replaced
            self._of_thread.connection = self._connect()
            return _exchange(self._of_thread.connection, method, path, data)
        except _UNUSABLE as error:
            raise ApiServerError(f"{method} {path}: {error}") from None

    def _connect(self) -> "_Connection":
        if self._kubeconfig is not None:
            return _of_kubeconfig(self._kubeconfig)
        context = ssl.create_default_context(cafile=str(_SERVICE_ACCOUNT / "ca.crt"))
        host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
        http = HTTPSConnection(host, int(port), timeout=_TIMEOUT, context=context)
        return _Connection(http, (_SERVICE_ACCOUNT / "token").read_text)


class _UnauthorizedError(ApiServerError):
    pass


class _Connection(NamedTuple):
    http: HTTPSConnection
    token: Callable[[], str]
    """Empty: the certificate says who asks."""
    prefix: str = ""
    """Of all paths, where a proxy stands before the API server."""


_ERRORS: Final[Mapping[int, type[ApiServerError]]] = {
    HTTPStatus.NOT_FOUND: NotFoundError,
    HTTPStatus.UNAUTHORIZED: _UnauthorizedError,
}


def _exchange(connection: _Connection, method: str, path: str, data: str | None) -> dict[str, Any]:
    headers = {"Content-Type": _MERGE, "Accept": "application/json"}
    if token := connection.token().strip():
        headers["Authorization"] = f"Bearer {token}"
    connection.http.request(method, connection.prefix + path, data, headers)
    answer = connection.http.getresponse()
    text = answer.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        connection.http.close()
        raise ValueError(f"the answer has more than <{_LONGEST}> bytes")
    if answer.status == HTTPStatus.OK:
        return dict(json.loads(text))
    why = f"{method} {path}: {answer.status} {_message(text, answer.reason)}"
    raise _ERRORS.get(answer.status, ApiServerError)(why)


def _pod(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"


def _message(text: bytes, reason: str) -> str:
    try:
        return str(json.loads(text).get("message", reason))
    except (ValueError, AttributeError):
        return reason


def _of_kubeconfig(path: Path) -> _Connection:
    """To its current context's server: certificates and tokens as data or as files, no plugins."""
    config: Any = load_yaml(path)
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    tls = ssl.create_default_context(cadata=_text(path, cluster, "certificate-authority"))
    certificate, key = _text(path, user, "client-certificate"), _text(path, user, "client-key")
    if certificate and key:
        with tempfile.NamedTemporaryFile("w") as file:  # the library takes files alone
            file.write(certificate + "\n" + key)
            file.flush()
            tls.load_cert_chain(file.name)
    server = urlsplit(cluster["server"])
    if server.scheme != "https" or server.hostname is None:
        raise ValueError(f"<{cluster['server']}> is not the address of an API server: https://...")
    http = HTTPSConnection(server.hostname, server.port, timeout=_TIMEOUT, context=tls)
    return _Connection(http, lambda: user.get("token") or "", server.path.rstrip("/"))


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found = next((entry for entry in entries if entry["name"] == name), None)
    if found is None:
        raise ValueError(f"the kubeconfig has no <{name}>")
    return found


def _text(path: Path, of: Mapping[str, str], key: str) -> str | None:
    if f"{key}-data" in of:
        return b64decode(of[f"{key}-data"]).decode()
    return (path.parent / of[key]).read_text() if key in of else None
