"""The start of the real node on a plane."""

from functools import partial
from pathlib import Path

from ..children import Children
from ..credentials.identities import write_kubeconfigs
from ..credentials.keys import Keys
from ..folder import Folder
from ..kubectl import apply
from ..ports import free_ports
from ..probe import Probe
from .agent import MEMORY, RIGHTS, agent, identity
from .containerd import containerd, import_image, listens
from .kubelet import kubelet
from .names import NODE

_PATIENCE = 120.0


async def start_real_node(
    folder: Folder,
    children: Children,
    probe: Probe,
    kubectl: Path,
    keys: Keys,
    server: str,
    address: str = "",
) -> None:
    """Return once the node offers the memory of its cards. Raises PlaneError.

    `address`: the node's, where its pods have a network of their own. Empty: they have none.
    """
    ports = free_ports(3)
    await children.start(containerd(folder, pod_network=bool(address)))
    await children.until(lambda: listens(folder), "containerd ready", _PATIENCE)
    await import_image(folder)
    node = kubelet(
        folder, keys, str(folder.private / "kubeconfig-kubelet"), *ports[:2], address=address
    )
    await children.start(node)
    await apply(kubectl, folder.kubeconfig, [RIGHTS])
    await children.until(partial(_ready, probe), f"node {NODE} Ready", _PATIENCE)
    account = await identity(probe, folder)
    write_kubeconfigs({account.name: account}, server, keys)
    offering = agent(folder, account.kubeconfig, ports[2])
    await children.start(offering)
    await children.until(partial(_offers, probe), f"{MEMORY} on node {NODE}", _PATIENCE)


async def _ready(probe: Probe) -> bool:
    node = await probe.read(f"/api/v1/nodes/{NODE}")
    conditions = node["status"].get("conditions", ()) if node else ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


async def _offers(probe: Probe) -> bool:
    node = await probe.read(f"/api/v1/nodes/{NODE}")
    return node is not None and node["status"]["allocatable"].get(MEMORY, "0") != "0"
