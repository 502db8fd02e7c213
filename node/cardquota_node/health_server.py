"""The plain HTTP server: `/metrics`, and `/healthz` for the kubelet."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

_TIMEOUT: Final = 5.0
"""Seconds that a caller may take."""
_TEXT: Final = "text/plain; charset=utf-8"


class HealthServer:
    """Listens in a thread of its own until it is closed."""

    def __init__(
        self, host: str, port: int, registry: CollectorRegistry, problem: Callable[[], str]
    ) -> None:
        """`problem`: why the agent is not well; empty: it is. Raises OSError."""

        class Answer(BaseHTTPRequestHandler):
            timeout = _TIMEOUT
            server_version, sys_version = "cardquota-node", ""

            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self._answer(200, CONTENT_TYPE_LATEST, generate_latest(registry))
                elif self.path == "/healthz":
                    text = problem()
                    self._answer(503 if text else 200, _TEXT, f"{text or 'ok'}\n".encode())
                else:
                    self._answer(404, _TEXT, b"there are /metrics and /healthz\n")

            def _answer(self, code: int, kind: str, body: bytes) -> None:
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """No line for each probe."""

        self._server = ThreadingHTTPServer((host, port), Answer)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        """Where it listens."""
        Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()
