"""One process from start to end: not ready, ready, serving, draining, gone."""

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from builders import a_pod
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from integration.asking import ask
from integration.roomy_nodes import T1000
from integration.team import Team, released

from .running import (
    QUICK,
    OperatorProcess,
    answer_to,
    apply_webhooks,
    install_base,
    json_lines,
    running,
    tracebacks,
)

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{v.OPERATOR_NAMESPACE}/leases/{v.LEASE}"


@pytest.fixture(scope="module", name="installed")
def with_our_rights(bare: Cluster) -> Cluster:
    """The plane with our rights, which the first test of this file begins without."""
    install_base(bare)
    return bare


def holder(cluster: Cluster) -> str:
    return str(ask(cluster, "GET", LEASE).body.get("spec", {}).get("holderIdentity") or "")


def handover(cluster: Cluster) -> set[str]:
    """The kinds of which the last leader said how much of them it had seen."""
    notes = ask(cluster, "GET", LEASE).body["metadata"].get("annotations", {})
    return set(json.loads(notes.get(v.HANDOVER, "{}")))


def a_review(queue: str, namespace: str = "default") -> bytes:
    pod = {
        "metadata": {"name": "a", "annotations": {v.QUEUE_NAME: queue}},
        "spec": {"containers": [{"name": "a", "image": "i"}]},
    }
    request = {
        "uid": "in-flight",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "namespace": namespace,
        "object": pod,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(body).encode()


def test_not_ready_before_the_first_sync(bare: Cluster, tmp_path: Path) -> None:
    """Alive but not ready while the CRDs are missing; ready and leading once they are there."""
    assert bare.folder is not None
    operator = OperatorProcess(tmp_path, bare.folder.product_kubeconfig)
    operator.start()
    try:
        eventually(lambda: operator.get("/healthz")[0] == 200, "alive")
        status, why = operator.get("/readyz")
        assert status == 503
        assert "queues" in why
        install_base(bare)
        apply_webhooks(bare, operator)
        eventually(lambda: operator.get("/readyz")[0] == 200, "ready", 60)
        operator.until_leading()
        assert holder(bare) in json.dumps(json_lines(operator.log))
    finally:
        operator.stop()
    assert tracebacks(operator.log) == []


def test_sigterm_answers_what_is_in_flight_and_gives_the_lease_up(
    installed: Cluster, tmp_path: Path
) -> None:
    """Exit 0; a review that waits for its namespace, or was just sent, is still answered."""
    with running(installed, tmp_path / "o", QUICK) as operator:
        assert holder(installed)
        eventually(lambda: "may decide" in operator.log.read_text(), "a leader that decides")
        review = operator.sent_review(installed, "/validate", a_review("q", "not-there"))
        operator.signal(signal.SIGTERM)
        answer = answer_to(review)
        assert operator.ended(60) == 0
    assert answer["response"]["uid"] == "in-flight"
    assert answer["response"]["status"]["code"] == 429
    assert holder(installed) == ""
    assert {"pods", "limitranges"} <= handover(installed), (
        "kinds that are needed, and optional ones"
    )
    assert tracebacks(operator.log) == []
    for line in json_lines(operator.log):
        assert set(line) >= {"time", "level", "logger", "message"}
        assert line["level"] != "error"


def test_what_is_set_for_the_whole_installation_holds(
    installed: Cluster, tmp_path: Path, unique: str
) -> None:
    """Audit mode refuses and gates nothing; the queue of pods that name none, in which cards bring
    their cpu and memory (P6); and namespaces that are exempt.
    """
    exempt = f"{unique}-exempt"
    config = {
        **QUICK,
        "mode": "audit",
        "defaultQueue": f"{unique}-q",
        "cardUnlimitedCpuMemory": True,
        "exemptNamespaces": ["kube-system", exempt],
    }
    with (
        running(installed, tmp_path / "o", config) as operator,
        fresh_namespace(installed, unique) as namespace,
        fresh_namespace(installed, exempt),
    ):
        team = Team(installed, namespace, unique)
        queue = team.has_queue(team.a_queue({T1000: 3}).limited_to(cpu="2", memory="2Gi"))
        team.until_row(T1000, quota=3)
        says = f"audit: would be refused or wait: Queue <{queue}>"
        # Nothing pins a pod to its card in audit: it is charged by where it runs.
        stock = a_pod("five").asking_for(5).on_nodes_labelled({"nvidia.com/gpu.product": T1000})
        stock = stock.with_cpu("8").with_memory("8Gi")
        reply = team.create(stock)
        assert released(reply.body)
        assert reply.warnings[0].startswith(says)
        bad = team.create(team.a_queue({}, "bad").with_quota_text("x"))
        assert bad.warnings[0].startswith("audit: would be refused or wait: Queue <")
        told = team.until_told("five", v.Reason.INSUFFICIENT_CARD)
        assert told["message"].startswith(says)
        team.until_row(T1000, allocated=5)
        assert [row["allocated"] for row in team.status()["resources"]] == ["0", "0"]
        reply = Team(installed, exempt, unique).create(stock)
        assert (reply.ok, reply.warnings) == (True, ())
    assert tracebacks(operator.log) == []


@pytest.mark.long
def test_an_exit_with_unanswered_patches_leaves_the_lease_to_run_out(
    installed: Cluster, tmp_path: Path, unique: str
) -> None:
    """I1: a lost patch may land yet, so the successor has to wait as after a crash."""
    gone_quiet = {**QUICK, "release": {"patchTimeout": 1, "inFlight": 2}}
    with fresh_namespace(installed, unique) as namespace:
        team = Team(installed, namespace, unique)
        with running(installed, tmp_path / "first", gone_quiet) as operator:
            assert team.create(team.a_queue({T1000: 1}).with_policy("Gate")).ok
            team.until_row(T1000, quota=1)
            assert team.create(team.a_pod("runs", 1, T1000)).ok
            assert team.create(team.a_pod("waits", 1, T1000)).ok
            team.until_told("waits", v.Reason.INSUFFICIENT_CARD)
            with silent_webhook(team):
                team.set_quota({T1000: 2})
                eventually(
                    lambda: (
                        f"opening the gate of pod {namespace}/waits" in operator.log.read_text()
                    ),
                    "lost",
                )
                term = holder(installed)
                operator.signal(signal.SIGTERM)
                assert operator.ended() == 0
                assert holder(installed) == term
        assert "the Lease is kept until it expires" in operator.log.read_text()
        assert tracebacks(operator.log) == []
        with running(installed, tmp_path / "second"):
            team.until_bound("waits")
            team.until_row(T1000, allocated=2)


@contextmanager
def silent_webhook(team: Team) -> Iterator[None]:
    """Somebody else's webhook, which takes every update of the team's pods and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        hook = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": team.prefix},
            "webhooks": [
                {
                    "name": "silent.example.com",
                    "clientConfig": {"url": url},
                    "rules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "resources": ["pods"],
                            "operations": ["UPDATE"],
                        }
                    ],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": team.namespace}
                    },
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "timeoutSeconds": 30,
                }
            ],
        }
        hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        try:
            assert ask(team.cluster, "POST", hooks, hook).ok
            team.until(lambda: not answered(team), "no answer")
            yield
        finally:
            ask(team.cluster, "DELETE", f"{hooks}/{team.prefix}")


def answered(team: Team) -> bool:
    """Whether an update of a pod gets any answer but a 504, or the end of its connection."""
    note = {"metadata": {"labels": {"asked": "yes"}}}
    try:
        return team.patch(team.a_pod("runs"), note, sub="?dryRun=All&timeout=300ms").code != 504
    except urllib3.exceptions.ProtocolError:
        return False
