"""Somebody else's mutating webhook, which changes every pod of a namespace by the same patch."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.testing import Cluster

from .asking import ask

_HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@contextmanager
def foreign_webhook(
    cluster: Cluster, namespace: str, patch: list[dict[str, Any]], scratch: Path
) -> Iterator[None]:
    """For the block; it takes a moment until the API server asks it. `scratch`: an empty folder.

    Its name comes after all of ours: of webhooks the API server asks in that order.
    """
    folder = Folder(scratch)
    folder.private.mkdir()
    keys = make_keys(folder)
    server = HTTPServer(("127.0.0.1", 0), _answering(patch))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(keys.certificate, keys.key)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    hook = {
        "name": "foreign.example.com",
        "clientConfig": {
            "url": f"https://127.0.0.1:{server.server_port}/",
            "caBundle": base64.b64encode(keys.authority.read_bytes()).decode(),
        },
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["pods"],
                "operations": ["CREATE"],
            }
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    body = {"metadata": {"name": f"zz-{namespace}"}, "webhooks": [hook]}
    try:
        assert (reply := ask(cluster, "POST", _HOOKS, body)).ok, reply
        yield
    finally:
        ask(cluster, "DELETE", f"{_HOOKS}/zz-{namespace}")
        server.shutdown()
        server.server_close()
        thread.join(5)


def _answering(patch: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            review["response"] = {
                "uid": review.pop("request")["uid"],
                "allowed": True,
                "patchType": "JSONPatch",
                "patch": encoded,
            }
            body = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
