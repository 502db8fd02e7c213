"""The node agent as a process, with the account and the rights that its component gives it."""

import sys
from pathlib import Path
from typing import Final

from ...failure import PlaneError
from ...paths import CHECKOUT
from ..components import Program
from ..credentials.identities import Identity
from ..folder import Folder, write_private_json
from ..probe import Probe
from .inventory import write_inventory
from .names import NODE

RIGHTS: Final = CHECKOUT / "manifests" / "components" / "node" / "rbac.yaml"
"""The account, its role, and the policy that keeps it to its own node."""

MEMORY: Final = "aliyun.com/gpu-mem"
"""The resource that it offers."""

_LIFE: Final = 30 * 24 * 3600
_TOKEN: Final = "/api/v1/namespaces/kube-system/serviceaccounts/cardquota-node/token"  # noqa: S105


async def identity(probe: Probe, folder: Folder) -> Identity:
    """The account, with a token that says on which node it is: without it nothing may be written.

    Raises PlaneError.
    """
    node = await probe.read(f"/api/v1/nodes/{NODE}") or {"metadata": {}}
    wanted = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {
            "expirationSeconds": _LIFE,
            "boundObjectRef": {
                "apiVersion": "v1",
                "kind": "Node",
                "name": NODE,
                "uid": node["metadata"].get("uid"),
            },
        },
    }
    code, answer = await probe.ask("POST", _TOKEN, wanted)
    if code != 201:
        raise PlaneError(f"no token for the node agent: {answer.get('message', code)}")
    return Identity(
        name="cardquota-node",
        user="system:serviceaccount:kube-system:cardquota-node",
        groups=(),
        kubeconfig=folder.node / "kubeconfig-agent",
        token=str(answer["status"]["token"]),
    )


def agent(folder: Folder, kubeconfig: Path, port: int) -> Program:
    """The agent. It looks at the file of cards each second."""
    settings = folder.node / "agent.json"
    write_private_json(
        settings,
        {
            "node": NODE,
            "kubeconfig": str(kubeconfig),
            "inventory": {"file": str(write_inventory(folder)), "interval": 1},
            "cdi": str(folder.node / "cdi"),
            "http": {"host": "127.0.0.1", "port": port},
        },
    )
    return Program(
        "cardquota-node",
        (sys.executable, "-m", "cardquota_node", "run", f"--config={settings}"),
        f"http://127.0.0.1:{port}",
        "/healthz",
    )
