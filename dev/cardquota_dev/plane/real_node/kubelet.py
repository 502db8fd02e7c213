"""The kubelet: its configuration and flags."""

from ...build import versions
from ..components import Program
from ..credentials.keys import Keys
from ..folder import Folder, write_private_json
from . import cgroups
from .containerd import SOCKET
from .inventory import LABELS
from .names import MARK, NODE


def kubelet(
    folder: Folder, keys: Keys, kubeconfig: str, port: int, health: int, *, address: str
) -> Program:
    """A kubelet that registers the node. Only the API server may ask it for logs and the like.

    `address`: the node's. Empty: one of this machine's.
    """
    configuration = folder.node / "kubelet.json"
    write_private_json(
        configuration,
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": port,
            "healthzPort": health,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(keys.authority)},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "tlsCertFile": str(keys.certificate),
            "tlsPrivateKeyFile": str(keys.key),
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroups.make(folder),
            "failCgroupV1": False,
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            # The disk and the memory are this machine's: no pod of the node is evicted for them.
            "evictionHard": {},
            "localStorageCapacityIsolation": False,
            "imageGCHighThresholdPercent": 100,
            "makeIPTablesUtilChains": False,
            "volumePluginDir": "/var/lib/kubelet/volume-plugins",
            "nodeStatusUpdateFrequency": "1s",
            "registerWithTaints": [{"key": MARK, "value": "true", "effect": "NoSchedule"}],
        },
    )
    labels = {MARK: "true", **LABELS}
    flags = {
        "config": configuration,
        "kubeconfig": kubeconfig,
        "hostname-override": NODE,
        **({"node-ip": address} if address else {}),
        "node-labels": ",".join(f"{key}={value}" for key, value in labels.items()),
    }
    return Program(
        "kubelet",
        (
            str(versions.built(versions.kubelet()) / "kubelet"),
            *(f"--{name}={value}" for name, value in flags.items()),
        ),
        f"http://127.0.0.1:{health}",
        "/healthz",
    )
