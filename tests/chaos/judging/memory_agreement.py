"""Whether all count the same memory of each card in the end: every replica, and a plain count."""

import json
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import yaml

from cardquota_dev.plane.folder import Folder

from ..clients import objects
from ..clients.memory_objects import LISTS, SHARING, by_card
from ..scene import REPLICAS, Scene
from .memory_count import MemoryCount, MemoryHolder, SharedNode, index_of

_SERVICE = "cardquota-extender.cardquota-system.svc"
Used = dict[str, tuple[tuple[int, int], ...]]
"""By node: size and use of each card."""


async def memory_disagreements(scene: Scene) -> list[str]:
    """What is not as it must be once nothing is on its way any more. Empty is right."""
    count = await _counted(scene)
    if count is None:
        return ["the API server does not answer"]
    found = waiting(count)
    for replica in range(REPLICAS):
        said = await _inspected(scene, replica)
        if said is None:
            found.append(f"replica {replica} does not say who holds card memory")
        else:
            found += differences(f"replica {replica}", said, count)
    return found


def waiting(count: MemoryCount) -> list[str]:
    """Pods that have no node, though a card has room for them."""
    return [
        f"{pod.key} waits for {pod.memory} of card memory, and would fit on {node}"
        for pod in count.pods.values()
        if pod.memory and not (pod.node or pod.finished or pod.ends or pod.gated)
        for node in SHARING
        if (not pod.where or by_card(node)) and count.fits(pod, node)
    ]


def differences(who: str, said: Mapping[str, Any], count: MemoryCount) -> list[str]:
    """Between what a replica says of each card, and the count."""
    theirs: Used = {
        row["name"]: tuple((card["total"], card["used"]) for card in row["cards"])
        for row in said["nodes"]
    }
    expected: Used = {}
    for name, node in count.nodes.items():
        used, _ = count.used(name, len(node.sizes))
        expected[name] = tuple(zip(node.sizes, used, strict=True))
    found = [
        f"{who} says of the cards of {name} (size, used) {theirs.get(name)},"
        f" the count {expected.get(name)}"
        for name in sorted(theirs.keys() | expected.keys())
        if theirs.get(name) != expected.get(name)
    ]
    unknown = {pod["name"] for row in said["nodes"] for pod in row["unknown"]}
    beyond = {
        pod.key
        for name, node in count.nodes.items()
        for pod in count.on(name)
        if pod.memory and not _there(pod, node)
    }
    if unknown != beyond:
        what = f"the cards of {sorted(unknown)}, the count those of {sorted(beyond)}"
        found.append(f"{who} does not know {what}")
    return found


def _there(pod: MemoryHolder, node: SharedNode) -> bool:
    """Whether its node has its card: it may have got fewer since."""
    index = index_of(pod)
    return index is not None and index < len(node.sizes)


async def _counted(scene: Scene) -> MemoryCount | None:
    count = MemoryCount()
    for kind, path in {"node": "/api/v1/nodes", "list": LISTS, "pod": objects.PODS}.items():
        reply = await scene.api.get(path)
        if not reply.ok:
            return None
        for thing in reply.body["items"]:
            count.apply(kind, thing["metadata"]["name"], thing)
    return count


async def _inspected(scene: Scene, replica: int) -> dict[str, Any] | None:
    """What a replica says of all nodes, asked as kube-scheduler would."""
    folder = scene.cluster.folder
    assert folder is not None
    config = yaml.safe_load((folder.path / f"config-{replica}.yaml").read_text())
    url = f"https://127.0.0.1:{config['extender']['port']}/inspect"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session,
            session.get(url, ssl=_known(folder), server_hostname=_SERVICE) as answer,
        ):
            found: dict[str, Any] = json.loads(await answer.read())
            return found if answer.status == 200 else None
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return None


def _known(folder: Folder) -> ssl.SSLContext:
    """With kube-scheduler's certificate; without it nobody is answered."""
    files = folder.extender
    found = ssl.create_default_context(cafile=files / "ca.crt")
    found.load_cert_chain(files / "tls.crt", files / "tls.key")
    return found
