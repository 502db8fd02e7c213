"""`cardquota run` with a configuration or cluster that cannot be used: exit code 2, one line."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from .running import CARDQUOTA, OperatorProcess


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "environment", "named"),
    [
        ("mdoe: audit\n", {}, "mdoe"),
        ("", {"CARDQUOTA_LOG__LEVEL": "loud"}, "log.level"),
        ("", {}, "/nowhere"),
    ],
    ids=["the file", "the environment", "no API server"],
)
def test_it_is_named_on_one_line(
    tmp_path: Path, text: str, environment: dict[str, str], named: str
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    done = subprocess.run(
        [*CARDQUOTA, "run", f"--config={config}"],
        env={**os.environ, "KUBECONFIG": "/nowhere", **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert named in done.stderr


class OldServer(BaseHTTPRequestHandler):
    """Says its version, as an API server that is too old to be built here would."""

    minor = b""

    def do_GET(self) -> None:
        body = b'{"major": "1", "minor": "%s", "gitVersion": "v1.%s.4"}' % ((self.minor,) * 2)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Not on the test's output."""


@contextmanager
def old_server(minor: int, folder: Path) -> Iterator[Path]:
    """The kubeconfig of one."""
    handler = type("Handler", (OldServer,), {"minor": str(minor).encode()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        config = {
            "clusters": [
                {"name": "old", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
            ],
            "users": [{"name": "old", "user": {"token": "t"}}],
            "contexts": [{"name": "old", "context": {"cluster": "old", "user": "old"}}],
            "current-context": "old",
        }
        (folder / "kubeconfig").write_text(json.dumps(config))
        yield folder / "kubeconfig"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("minor", "config", "said"),
    [
        (29, {}, "Kubernetes 1.29 is older than 1.33"),
        (35, {"webhook": {"gate": "policy"}}, "`webhook.gate: policy` needs Kubernetes 1.36"),
    ],
    ids=["the product", "a setting"],
)
def test_too_old_a_kubernetes_is_named_on_one_line(
    tmp_path: Path, minor: int, config: dict[str, object], said: str
) -> None:
    with old_server(minor, tmp_path) as kubeconfig:
        operator = OperatorProcess(tmp_path, kubeconfig, config)
        operator.start()
        try:
            assert operator.ended(30) == 2
        finally:
            operator.kill()
    (line,) = operator.log.read_text().splitlines()
    assert json.loads(line)["message"].startswith(said)
