"""`cardquota run` as a process of the test's own, on a plane without the product."""

import base64
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import yaml

from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import Cluster, eventually
from integration.asking import Object

CARDQUOTA = (sys.executable, "-m", "cardquota.cli")
QUICK: Mapping[str, Any] = {
    "leaderElection": {"duration": 3, "renewDeadline": 2.5, "retryPeriod": 0.3, "settle": 0.3},
    "release": {"patchTimeout": 1},
}
"""A short term, so that a test does not wait long for the next one."""


def json_lines(path: Path) -> list[Object]:
    """A log of the product; every line is one JSON object."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def tracebacks(path: Path) -> list[str]:
    """Signs of a bug in a log, whatever its format."""
    return [line for line in path.read_text().splitlines() if "Traceback" in line]


class OperatorProcess:
    """One replica, and what can be asked of it."""

    def __init__(
        self,
        folder: Path,
        kubeconfig: Path,
        config: Mapping[str, Any] = QUICK,
        *,
        front: int | None = None,
    ) -> None:
        """`front`: the port that the API server calls, if that is not the replica's own."""
        self.webhook_port, self.metrics_port = free_ports(2)
        self.config = folder / "config.yaml"
        self.log = folder / "cardquota.log"
        self._environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        address = {"host": "127.0.0.1", "port": self.webhook_port}
        webhook = {**address, "url": f"https://127.0.0.1:{front or self.webhook_port}"}
        ours = {
            "webhook": {**config.get("webhook", {}), **webhook},
            "metrics": {"host": "127.0.0.1", "port": self.metrics_port},
        }
        self.config.write_text(yaml.safe_dump({**config, **ours}))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, modules: str = "") -> None:
        """`modules`: where those of another version are."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*CARDQUOTA, "run", f"--config={self.config}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, "PYTHONPATH": modules},
            )

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None
        return self._process

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = 15.0) -> int:
        """Wait for the end; the exit code."""
        return self.process.wait(seconds)

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """It gives the Lease up, so that the next one need not wait for the end of its term."""
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self.ended()
        self.kill()

    def manifests(self) -> str:
        done = subprocess.run(
            [*CARDQUOTA, "manifests", f"--config={self.config}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page of the plain server; 0 while nobody listens."""
        url = f"http://127.0.0.1:{self.metrics_port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def until_leading(self) -> None:
        """Wait until it decides; its log is shown where it does not."""
        try:
            eventually(lambda: self._asked("/readyz", "leading"), "leading", 60)
            eventually(lambda: self._asked("/metrics", "cardquota_leader 1.0"), "deciding")
        except AssertionError as error:
            error.add_note(self.log.read_text()[-4000:])
            raise

    def _asked(self, path: str, word: str) -> bool:
        """Whether it says this word. Nobody waits for a process that has ended."""
        assert self.process.poll() is None, f"ended with {self.process.poll()}"
        return word in self.get(path)[1]

    def metric(self, row: str) -> float:
        """The value of one row of the metrics; -1 while there is none."""
        found = re.search(rf"^{re.escape(row)} (\S+)$", self.get("/metrics")[1], re.MULTILINE)
        return float(found[1]) if found else -1.0

    def review(self, cluster: Cluster, path: str, body: bytes) -> Object:
        """Ask the webhook as the API server does, trusting the CA that was published."""
        return answer_to(self.sent_review(cluster, path, body))

    def sent_review(self, cluster: Cluster, path: str, body: bytes) -> HTTPSConnection:
        """The same, without waiting for the answer: see `answer_to`."""
        pem = eventually(lambda: published_ca(cluster), "caBundle")
        secret = published(cluster, "url").rpartition("/")[2]
        context = ssl.create_default_context(cadata=pem)
        sent = HTTPSConnection("127.0.0.1", self.webhook_port, context=context, timeout=60)
        sent.request("POST", f"{path}/{secret}", body, {"Content-Type": "application/json"})
        return sent


def answer_to(sent: HTTPSConnection) -> Object:
    """The answer to a review that was sent; the connection is then closed."""
    with closing(sent):
        found: Object = json.loads(sent.getresponse().read())
    return found


def published_ca(cluster: Cluster) -> str:
    return base64.b64decode(published(cluster, "caBundle")).decode()


def published(cluster: Cluster, field: str) -> str:
    """By which the API server calls."""
    done = cluster.kubectl(
        "get", "validatingwebhookconfiguration", "cardquota", "-o",
        f"jsonpath={{.webhooks[0].clientConfig.{field}}}",
    )  # fmt: skip
    return done.stdout


RIGHTS = [CHECKOUT / f"manifests/base/{name}.yaml" for name in ("rbac", "roles", "flowschema")]


def flags_of(files: list[Path]) -> list[str]:
    return [flag for file in files for flag in ("-f", str(file))]


def install_base(cluster: Cluster) -> None:
    """What an administrator applies before the operator starts."""
    crds = [p for p in sorted((CHECKOUT / "crds").glob("*.yaml")) if p.name != "kustomization.yaml"]
    files = [CHECKOUT / "manifests/base/namespace.yaml", *RIGHTS, *crds]
    done = cluster.kubectl("apply", "--server-side", *flags_of(files))
    assert done.returncode == 0, done.stderr


def take_away(cluster: Cluster) -> None:
    """All of ours but the definitions and what is in the Namespace."""
    webhooks = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
    policies = "validatingadmissionpolicybindings,validatingadmissionpolicies"
    for what in (
        (f"{webhooks},{policies}", "--all", "--wait=false"),
        ("queues,podgroups", "--all", "--all-namespaces"),
        ("--ignore-not-found", *flags_of(RIGHTS)),
    ):
        done = cluster.kubectl("delete", *what)
        assert done.returncode == 0, done.stderr


def apply_webhooks(cluster: Cluster, operator: OperatorProcess) -> None:
    done = cluster.kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", input=operator.manifests()
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def running(
    cluster: Cluster,
    folder: Path,
    config: Mapping[str, Any] = QUICK,
    *,
    before: Callable[[], object] = lambda: None,
) -> Iterator[OperatorProcess]:
    """An operator that leads, with its webhooks in place; ended in the end if it still runs.

    `before`: what is done before it is started.
    """
    folder.mkdir()
    assert cluster.folder is not None
    operator = OperatorProcess(folder, cluster.folder.product_kubeconfig, config)
    apply_webhooks(cluster, operator)
    before()
    operator.start()
    try:
        operator.until_leading()
        eventually(lambda: published_ca(cluster), "caBundle")
        yield operator
    finally:
        operator.stop()
