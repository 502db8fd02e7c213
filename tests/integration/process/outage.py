"""An outage of all replicas, an administrator who takes away what is installed, and who asks for
what meanwhile."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import yaml

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.process import Process
from cardquota_dev.testing import Cluster, eventually
from integration.asking import Object, ask
from integration.roomy_nodes import T1000
from integration.team import QUEUES

_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_KINDS = (
    "mutatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "validatingadmissionpolicybindings",
    "validatingadmissionpolicies",
)
_OURS = "labelSelector=app.kubernetes.io/name=cardquota"


def replicas(cluster: Cluster) -> list[Process]:
    """As they run now."""
    return [p for p in cluster.state.processes if p.name.startswith("cardquota-")]


def answered(cluster: Cluster) -> bool:
    """Whether a quota that makes no sense is refused by our webhook, and not for want of one."""
    queue = {
        "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
        "kind": "Queue",
        "metadata": {"name": "is-anybody-there", "annotations": {v.QUOTA: "no mapping"}},
        "spec": {},
    }
    reply = ask(cluster, "POST", f"{QUEUES}?dryRun=All", queue)
    return "denied the request" in reply.message


@contextmanager
def nobody_there(
    cluster: Cluster, *, answers: Callable[[Cluster], bool] = answered
) -> Iterator[None]:
    """Every replica is killed, and none comes up again before the end of the block.

    The plane starts a dead one again and again: with a configuration that it cannot use.
    `answers`: whether somebody is there again.
    """
    assert cluster.folder is not None
    configs = {path: path.read_text() for path in cluster.folder.path.glob("config-*.yaml")}
    dead = replicas(cluster)
    assert len(configs) == len(dead) > 0
    for path in configs:
        path.write_text("nobody: there\n")
    try:
        for replica in dead:
            os.kill(replica.pid, signal.SIGKILL)
        eventually(lambda: not any(ready(cluster, one) for one in dead), "nobody there")
        yield
    finally:
        for path, text in configs.items():
            path.write_text(text)
        eventually(lambda: all(ready(cluster, one) for one in replicas(cluster)), "all there", 60)
        # Whoever stands before them learns of it a little later.
        eventually(lambda: answers(cluster), "the webhooks answer")


def ready(cluster: Cluster, replica: Process) -> bool:
    http = cluster.admin.rest_client.pool_manager
    try:
        return bool(http.request("GET", f"{replica.address}/readyz", retries=False).status == 200)
    except Exception:  # noqa: BLE001 - whatever it is, nobody answers
        return False


@contextmanager
def nothing_installed(cluster: Cluster) -> Iterator[None]:
    """Webhooks, policies and bindings of ours are taken away for the block.

    All but those by term: an API server (1.36) that has seen the last policy with a Lease as its
    parameter go never reads that Lease again, and takes the holder of that moment for the current
    one until it is started anew.
    """
    saved: list[tuple[str, Object]] = []
    for kind in _KINDS:
        listed = ask(cluster, "GET", f"{_ADMISSION}/{kind}?{_OURS}").body["items"]
        saved += [(kind, x) for x in listed if not x["metadata"]["name"].endswith("-term")]
    assert saved
    for kind, found in saved:
        assert ask(cluster, "DELETE", f"{_ADMISSION}/{kind}/{found['metadata']['name']}").ok
    try:
        yield
    finally:
        # Refuse first, then gate: nothing is to slip through on the way back.
        for kind, found in reversed(saved):
            meta = {key: found["metadata"][key] for key in ("name", "labels")}
            reply = ask(cluster, "POST", f"{_ADMISSION}/{kind}", {**found, "metadata": meta})
            assert reply.ok, reply


def on_t1000(pod: PodBody) -> PodBody:
    """Where it runs is what it is charged by, if nobody opened a gate for it."""
    return pod.on_nodes_labelled({"nvidia.com/gpu.product": T1000})


def our_own_pod() -> Object:
    """A pod as the operator's Deployment makes it."""
    found = yaml.safe_load((CHECKOUT / "manifests" / "base" / "deployment.yaml").read_text())
    template = found["spec"]["template"]
    template["metadata"]["name"] = "cardquota-of-a-test"
    return dict(template)
