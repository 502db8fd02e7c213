"""Somebody else's mutating webhook, on HTTPS, which runs after ours."""

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from builders import a_pod
from builders.certificates import Issued, issue

from .asking import Object, ask
from .team import Team

MARK: Object = {"op": "add", "path": "/metadata/labels", "value": {"touched": "yes"}}
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class _PatchAnswers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    patch: list[Object]
    """What it changes of every new pod."""
    meanwhile: Callable[[Object], None]
    """Called with every request, before it is answered."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))["request"]
        self.meanwhile(request)
        response: Object = {"uid": request["uid"], "allowed": True}
        new = request["operation"] == "CREATE"
        steps = [step for step in self.patch if new and _applies(step, request["object"])]
        if steps:
            patch = base64.b64encode(json.dumps(steps).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": patch}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        body = json.dumps({**review, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _applies(step: Object, pod: Object) -> bool:
    """Gates are not there to be removed in every round."""
    return step["op"] != "remove" or bool(pod["spec"].get("schedulingGates"))


@contextmanager
def other_webhook(
    team: Team,
    folder: Path,
    *,
    again: bool = True,
    meanwhile: Callable[[Object], None] = lambda _: None,
) -> Iterator[list[Object]]:
    """It changes every pod that the team creates while the block lasts, by the steps of a JSON
    patch in the list that is given.

    `again`: whether it is asked again after another webhook has changed the pod. `meanwhile` is
    called with every admission request about a pod, updates too, before that is answered.
    """
    patch = [MARK]
    certificate = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
    fields = {"patch": patch, "meanwhile": staticmethod(meanwhile)}
    handler = type("_Handler", (_PatchAnswers,), fields)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = _context(certificate, folder).wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    name = f"zz-{team.namespace}"
    body = _configuration(name, team.namespace, server.server_address[1], certificate, again=again)
    assert (reply := ask(team.cluster, "POST", _CONFIGURATIONS, body)).ok, reply
    try:
        team.until(lambda: _asked(team), "the other webhook is asked")
        patch.clear()
        yield patch
    finally:
        ask(team.cluster, "DELETE", f"{_CONFIGURATIONS}/{name}")
        server.shutdown()
        server.server_close()
        thread.join()


def _asked(team: Team) -> bool:
    """A new configuration takes a moment."""
    reply = team.create(a_pod("probe"), dry=True)
    return "touched" in reply.body["metadata"].get("labels", {})


def _context(certificate: Issued, folder: Path) -> ssl.SSLContext:
    pem = folder / "serving.pem"
    pem.write_bytes(certificate.cert_pem + certificate.key_pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


def _configuration(
    name: str, namespace: str, port: int, certificate: Issued, *, again: bool
) -> Object:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
        "operations": ["CREATE", "UPDATE"],
    }
    webhook = {
        "name": "pods.zz.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {
            "url": f"https://127.0.0.1:{port}/",
            "caBundle": base64.b64encode(certificate.ca_pem).decode(),
        },
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "reinvocationPolicy": "IfNeeded" if again else "Never",
    }
    return {"metadata": {"name": name}, "webhooks": [webhook]}
