"""The control plane's processes: their command lines and configuration files.

Everything listens only on 127.0.0.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .credentials.identities import token_file
from .credentials.keys import Keys
from .folder import Folder, write_private, write_private_json
from .real_node.names import MARK

STAGES = Path(__file__).with_name("stages.yaml")
"""What kwok does with nodes and pods."""


@dataclass(frozen=True)
class Program:
    """A program to run, and how to check that it is ready."""

    name: str
    command: tuple[str, ...]
    address: str
    """The URL that it listens on."""
    ready: str | None
    """Path under the address that answers 200 once it is ready. None: no check."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the supervisor's own."""
    grace: float = 10.0
    """Seconds between SIGTERM and SIGKILL."""


def etcd(binary: Path, folder: Folder, client: int, peer: int) -> Program:
    """The store. It does not wait for the disk: its data need not survive the machine."""
    url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    flags = {
        "name": "plane",
        "data-dir": folder.data,
        "listen-client-urls": url,
        "advertise-client-urls": url,
        "listen-peer-urls": peer_url,
        "initial-advertise-peer-urls": peer_url,
        "initial-cluster": f"plane={peer_url}",
        "unsafe-no-fsync": "true",
        "log-level": "error",
    }
    return Program("etcd", _command(binary, flags), url, None)


def api_server(
    binary: Path,
    folder: Folder,
    keys: Keys,
    store: str,
    port: int,
    *,
    store_json: bool,
    to_pods: bool = False,
) -> Program:
    """The API server, with RBAC and static tokens. It knows a kubelet by the same authority.

    `to_pods`: whether it finds the pods of a Service itself.
    """
    flags: dict[str, object] = {
        "etcd-servers": store,
        "advertise-address": "127.0.0.1",
        **_serving(keys, port),
        "endpoint-reconciler-type": "none",
        "authorization-mode": "RBAC",
        "token-auth-file": token_file(folder),
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": keys.service_account_public,
        "service-account-signing-key-file": keys.service_account_key,
        "kubelet-certificate-authority": keys.authority,
        "kubelet-client-certificate": keys.certificate,
        "kubelet-client-key": keys.key,
        "service-cluster-ip-range": "10.0.0.0/16",
        "allow-privileged": "true",
    }
    if to_pods:  # there is no kube-proxy
        flags["enable-aggregator-routing"] = "true"
    if store_json:
        flags["storage-media-type"] = "application/json"
    url = f"https://127.0.0.1:{port}"
    return Program("kube-apiserver", _command(binary, flags), url, "/readyz")


def controller_manager(
    binary: Path, kubeconfig: Path, keys: Keys, port: int, *, quick_autoscaler: bool
) -> Program:
    """The controllers, each with its own service account, as in a real cluster."""
    flags: dict[str, object] = {
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        **_serving(keys, port),
        "leader-elect": "false",
        "use-service-account-credentials": "true",
        "service-account-private-key-file": keys.service_account_key,
        "root-ca-file": keys.authority,
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
    }
    if quick_autoscaler:
        flags |= {
            "horizontal-pod-autoscaler-sync-period": "2s",
            "horizontal-pod-autoscaler-cpu-initialization-period": "1s",
            "horizontal-pod-autoscaler-initial-readiness-delay": "1s",
            "horizontal-pod-autoscaler-downscale-stabilization": "5s",
        }
    url = f"https://127.0.0.1:{port}"
    return Program("kube-controller-manager", _command(binary, flags), url, "/healthz")


def scheduler(
    binary: Path,
    folder: Folder,
    kubeconfig: Path,
    keys: Keys,
    port: int,
    *,
    rendered: Mapping[str, object] | None = None,
) -> Program:
    """The scheduler. `rendered`: what the product prints for one that asks it."""
    configuration = folder.private / "scheduler.json"
    write_private_json(
        configuration,
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **(rendered or {}),
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 2000},
            "leaderElection": {"leaderElect": False},
        },
    )
    flags = {
        "config": configuration,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        **_serving(keys, port),
    }
    url = f"https://127.0.0.1:{port}"
    return Program("kube-scheduler", _command(binary, flags), url, "/readyz")


def kwok(binary: Path, folder: Folder, kubeconfig: Path, port: int) -> Program:
    """The stand-in for kubelets. It sees only pods that have a node, and none of a real one."""
    configuration = folder.private / "kwok.yaml"
    write_private(configuration, STAGES.read_text())
    flags = {
        "config": configuration,
        "kubeconfig": kubeconfig,
        "manage-nodes-with-label-selector": f"!{MARK}",
        "server-address": f"127.0.0.1:{port}",
        "node-ip": "127.0.0.1",
        "node-lease-duration-seconds": 40,
    }
    return Program("kwok", _command(binary, flags), f"http://127.0.0.1:{port}", "/readyz")


def _serving(keys: Keys, port: int) -> dict[str, object]:
    """Flags of programs that serve HTTPS, only on this machine."""
    return {
        "bind-address": "127.0.0.1",
        "secure-port": port,
        "tls-cert-file": keys.certificate,
        "tls-private-key-file": keys.key,
    }


def _command(binary: Path, flags: Mapping[str, object]) -> tuple[str, ...]:
    return (str(binary), *(f"--{name}={value}" for name, value in flags.items()))
