"""The objects of a large cluster, as JSON of the size an API server would return.

100 queues with a namespace each, 4 kinds of cards, 1,000 nodes. Every pod asks for one card, so
that cards requested are pods known. Of ten pods eight are bound under a stamp of ours, one is
released and not bound, one waits at its gate because its queue is full.
"""

import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cardquota.quota import vocabulary as v

from .job_pod import SHARE, template

QUEUES: Final = 100
NODES: Final = 1_000
PRODUCTS: Final = (
    "NVIDIA-A100-SXM4-80GB",
    "NVIDIA-H800",
    "NVIDIA-H200",
    "NVIDIA-GeForce-RTX-4090",
)
PER_NODE: Final = 128
"""Shares of cards on a node: 8 cards with 16 each."""
TEN: Final = 10
"""Pods that differ only in how far they have come: 8 bound, 1 open, 1 gated."""
GANGS_TO: Final = 5
"""So many of the tens of a queue and card are a gang with its pod group: the 8 that are bound."""
REVISION: Final = 800_000_000
"""Where resourceVersions begin."""
_BORN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MEMORY: Final = 80 * 1024


def card(product: str) -> str:
    """The name under which a share of it is counted."""
    return f"{product}/mps-80g*1/16"


def queue_name(number: int) -> str:
    """Of one of QUEUES; its namespace has the same name."""
    return f"team-{number:03}"


def tens_in(pods: int) -> int:
    """Tens of pods per queue and card, of that many pods in all."""
    tens, rest = divmod(pods, QUEUES * len(PRODUCTS) * TEN)
    if rest or not tens:
        raise ValueError(f"{pods} pods do not spread evenly over queues, cards and states")
    return tens


def pods(count: int) -> Iterator[bytes]:
    """In the order of their keys in the store."""
    chance = random.Random(1)
    gated, opened, bound = template("gated"), template("open"), template("bound")
    tens = tens_in(count)
    revision = REVISION
    for number in range(QUEUES):
        queue = queue_name(number)
        for kind, product in enumerate(PRODUCTS):
            for ten in range(tens):
                job = f"train-{kind}-{ten:03}"
                gang = f'"{v.GROUP_NAME}":"{job}",' if ten < GANGS_TO else ""
                for place in range(TEN):
                    revision += 1
                    state = (gated, opened, bound)[min(place, 2)]
                    born = _BORN + timedelta(seconds=chance.randrange(2_000_000))
                    yield state % {
                        b"job": job.encode(),
                        b"suffix": f"{chance.getrandbits(25):05x}-{place}".encode(),
                        b"gang": gang.encode() if place >= 2 else b"",
                        b"queue": queue.encode(),
                        b"product": product.encode(),
                        b"card": card(product).encode(),
                        b"uid": uid(chance).encode(),
                        b"owner": uid(chance).encode(),
                        b"image": f"{chance.getrandbits(256):064x}".encode(),
                        b"revision": str(revision).encode(),
                        b"born": _time(born),
                        b"bound": _time(born + timedelta(seconds=chance.randrange(1, 3_000))),
                        b"node": node_name(chance.randrange(NODES // 4) * 4 + kind).encode(),
                        b"ip": f"10.{number}.{kind}.{place}".encode(),
                    }


def gangs(count: int) -> Iterator[bytes]:
    """The pod groups of these pods, all of whose members run."""
    chance = random.Random(2)
    for number in range(QUEUES):
        queue = queue_name(number)
        for kind in range(len(PRODUCTS)):
            for ten in range(min(GANGS_TO, tens_in(count))):
                name = f"train-{kind}-{ten:03}"
                yield _encoded(
                    _meta(chance, name, namespace=queue),
                    spec={"minMember": TEN - 2, "queue": queue},
                    status={"phase": "Running", "running": TEN - 2},
                )


def queues(count: int) -> Iterator[bytes]:
    """All full: each card's quota is what is bound and released."""
    chance = random.Random(3)
    quota = json.dumps({card(product): tens_in(count) * (TEN - 1) for product in PRODUCTS})
    for number in range(QUEUES):
        yield _encoded(
            _meta(chance, queue_name(number), annotations={v.QUOTA: quota}),
            spec={"weight": 1, "reclaimable": True, "dequeueStrategy": "traverse"},
            status={"state": "Open"},
        )


def node_name(number: int) -> str:
    """Of one of NODES."""
    return f"gpu-node-{number:04}.cluster.example"


def nodes() -> Iterator[bytes]:
    """One product each, in shares. About 3 KB: a real one adds its list of images, unread too."""
    chance = random.Random(4)
    amounts = {"cpu": "128", "memory": "1056461184Ki", "pods": "250", SHARE: str(PER_NODE)}
    conditions = [
        {
            "type": kind,
            "status": "True" if kind == "Ready" else "False",
            "lastHeartbeatTime": "2026-02-01T08:00:00Z",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "reason": "KubeletReport",
            "message": "as the kubelet reports it",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    for number in range(NODES):
        name = node_name(number)
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/os": "linux",
            "nvidia.com/gpu.product": PRODUCTS[number % len(PRODUCTS)],
            "nvidia.com/gpu.memory": str(_MEMORY),
            "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.replicas": "16",
            "nvidia.com/gpu.sharing-strategy": "mps",
            **{f"feature.node.kubernetes.io/cpu-cpuid.F{i}": "true" for i in range(30)},
        }
        yield _encoded(
            _meta(chance, name, labels=labels),
            spec={"podCIDR": f"10.{number // 250}.{number % 250}.0/24"},
            status={"capacity": amounts, "allocatable": amounts, "conditions": conditions},
        )


def namespaces() -> Iterator[bytes]:
    """One for each queue."""
    chance = random.Random(5)
    for number in range(QUEUES):
        name = queue_name(number)
        labels = {"kubernetes.io/metadata.name": name}
        yield _encoded(
            _meta(chance, name, labels=labels, annotations={v.QUEUE_NAME: name}),
            spec={"finalizers": ["kubernetes"]},
            status={"phase": "Active"},
        )


def priority_classes() -> Iterator[bytes]:
    """A few."""
    chance = random.Random(6)
    for number, name in enumerate(("batch", "low", "normal", "high", "urgent")):
        yield _encoded(_meta(chance, name), value=number * 1_000)


def uid(chance: random.Random) -> str:
    """As the API server makes them."""
    text = f"{chance.getrandbits(128):032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _time(at: datetime) -> bytes:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ").encode()


def _meta(chance: random.Random, name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "uid": uid(chance),
        "resourceVersion": str(REVISION),
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        **more,
    }


def _encoded(metadata: Mapping[str, Any], **more: Any) -> bytes:
    return json.dumps({"metadata": metadata, **more}, separators=(",", ":")).encode()
