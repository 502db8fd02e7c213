"""The few questions that the agent asks the API server: a pod, its annotations, its own node's.

With the standard library: a client of Kubernetes would take as much memory as all the rest, and
needs nothing that is not here. Blocks; to be called in a thread.
"""

import json
import os
import ssl
import tempfile
from base64 import b64decode
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import yaml

from cardquota.quota.amounts import whole

_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT: Final = 5.0
"""Seconds for one answer."""
_LONGEST: Final = 4 * 1024 * 1024
"""Bytes of an answer: twice what etcd stores."""
_MERGE: Final = "application/merge-patch+json"
_NOT_FOUND: Final = 404


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
        """Which containers ask for a resource, and for how many: init containers do not count."""
        return {name: whole(of[resource]) for name, of in self.limits.items() if resource in of}


class ApiServer:
    """Reads its credentials at each question: a pod's token is replaced every hour."""

    def __init__(self, kubeconfig: Path | None) -> None:
        """`kubeconfig`: None in a pod, whose service account is used."""
        self._kubeconfig = kubeconfig

    def pod(self, namespace: str, name: str) -> PodOnNode:
        """Raises NotFoundError, ApiServerError."""
        found = self._ask("GET", _pod(namespace, name))
        meta = found.get("metadata") or {}
        limits = {
            container["name"]: (container.get("resources") or {}).get("limits") or {}
            for container in found["spec"]["containers"]
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
        try:
            server, context, headers = self._credentials()
            data = json.dumps(body).encode() if body is not None else None
            headers |= {"Content-Type": _MERGE, "Accept": "application/json"}
            request = Request(server + path, data, headers, method=method)  # noqa: S310
            # No proxy of the environment is meant for the API server.
            opener = build_opener(ProxyHandler({}), HTTPSHandler(context=context))
            with opener.open(request, timeout=_TIMEOUT) as answer:
                return _object(answer)
        except HTTPError as error:
            text = f"{method} {path}: {error.code} {_message(error)}"
            raise (NotFoundError if error.code == _NOT_FOUND else ApiServerError)(text) from None
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            why = error.reason if isinstance(error, URLError) else error
            raise ApiServerError(f"{method} {path}: {why}") from None

    def _credentials(self) -> tuple[str, ssl.SSLContext, dict[str, str]]:
        if self._kubeconfig is not None:
            return _of_kubeconfig(self._kubeconfig)
        host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
        context = ssl.create_default_context(cafile=str(_SERVICE_ACCOUNT / "ca.crt"))
        token = (_SERVICE_ACCOUNT / "token").read_text().strip()
        where = f"[{host}]" if ":" in host else host
        return f"https://{where}:{port}", context, {"Authorization": f"Bearer {token}"}


def _pod(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"


def _object(answer: HTTPResponse) -> dict[str, Any]:
    text = answer.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        raise ValueError(f"the answer has more than <{_LONGEST}> bytes")
    found = json.loads(text)
    return dict(found)


def _message(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read(_LONGEST)).get("message", error.reason))
    except (OSError, ValueError, AttributeError):
        return str(error.reason)


def _of_kubeconfig(path: Path) -> tuple[str, ssl.SSLContext, dict[str, str]]:
    """Of its current context: certificates and tokens, as data or as files. No plugins."""
    config = yaml.safe_load(path.read_bytes())
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
    token = user.get("token")
    return cluster["server"], tls, {"Authorization": f"Bearer {token}"} if token else {}


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found = next((entry for entry in entries if entry["name"] == name), None)
    if found is None:
        raise ValueError(f"the kubeconfig has no <{name}>")
    return found


def _text(path: Path, of: Mapping[str, str], key: str) -> str | None:
    if f"{key}-data" in of:
        return b64decode(of[f"{key}-data"]).decode()
    return (path.parent / of[key]).read_text() if key in of else None
