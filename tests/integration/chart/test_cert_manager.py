"""Certificates by cert-manager's own controllers, from the objects that the chart makes."""

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cardquota_dev.build.definitions import CERTIFICATE, ISSUER, REQUEST, definition_file
from cardquota_dev.build.versions import CERT_MANAGER, built
from cardquota_dev.testing import Cluster, eventually, running_plane
from integration.asking import ask
from integration.process.running import OperatorProcess, published_ca

from .helm import OWN
from .release import HelmRelease, outside, webhooks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

SECRET = f"/api/v1/namespaces/{OWN}/secrets/cardquota-webhook"
BY_WHOM = "cardquota-webhook.cardquota-system.svc"
PATIENCE = 300.0
"""Seconds. An issuer whose Secret is missing is tried again after 5 s, then after 20, 40 and 80:
on a busy machine the first of these may be too soon.
"""


@contextmanager
def cert_manager(cluster: Cluster, log: Path) -> Iterator[None]:
    program = built(CERT_MANAGER) / "cert-manager"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [str(program), f"--kubeconfig={cluster.kubeconfig}", f"--namespace={OWN}"],
            stdout=errors,
            stderr=errors,
        )
        try:
            yield
        except AssertionError as error:
            error.add_note(log.read_text()[-4000:])
            raise
        finally:
            process.terminate()
            process.wait(30)


def served(replica: OperatorProcess, trusted: str) -> bytes:
    """The certificate that a replica shows, if it is by one of these CAs and has the right name."""
    context = ssl.create_default_context(cadata=trusted)
    address = ("127.0.0.1", replica.webhook_port)
    with (
        socket.create_connection(address, 5) as plain,
        context.wrap_socket(plain, server_hostname=BY_WHOM) as connection,
    ):
        return connection.getpeercert(binary_form=True) or b""


def test_it_makes_and_renews_what_the_operator_serves(tmp_path: Path) -> None:
    with running_plane(tmp_path / "plane", replicas=0) as cluster:
        for definition in (CERTIFICATE, ISSUER, REQUEST):
            done = cluster.kubectl("apply", "--server-side", "-f", str(definition_file(definition)))
            assert done.returncode == 0, done.stderr
        release = HelmRelease(cluster, tmp_path)
        release("install", "--create-namespace", certManager={"enabled": True})
        replica = outside(release, tmp_path, {"webhook": {"certificates": "secret"}})
        replica.start()
        try:
            with cert_manager(cluster, tmp_path / "cert-manager.log"):
                eventually(lambda: ask(cluster, "GET", SECRET).ok, "Secret", PATIENCE)
                replica.until_leading()
                eventually(lambda: published_ca(cluster), "caBundle")
                first = eventually(lambda: served(replica, published_ca(cluster)), "a certificate")
                assert ask(cluster, "DELETE", SECRET).ok
                eventually(
                    lambda: shown(replica, cluster) not in (first, b""), "another one", PATIENCE
                )
                calls = list(webhooks(cluster).values())
                assert {one["caBundle"] for one in calls} == {stored_ca(cluster)}
        finally:
            replica.stop()


def shown(replica: OperatorProcess, cluster: Cluster) -> bytes:
    """What it serves now by a CA that the API server trusts; nothing if it does not."""
    try:
        return served(replica, published_ca(cluster))
    except ssl.SSLError:
        return b""


def stored_ca(cluster: Cluster) -> str:
    found: str = ask(cluster, "GET", SECRET).body["data"]["ca.crt"]
    return found
