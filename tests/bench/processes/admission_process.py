"""Our admission webhooks as a process of its own, over a ledger that is not empty.

`python -m bench.processes.admission_process PORT CERTIFICATE KEY [busy]` serves the real
`AdmissionServer` on 127.0.0.1 until standard input ends, and says `serving` once it does. The
ledger holds 20 queues with 5 quota rows, 5,000 pods in them, and two queues with room that differ
in nothing but the number of rows in their quota. All other rows are of cards that a queue's status
remembers: as after a restart in a cluster whose pools are scaled to zero. All are of one resource
name, so that none of them can be passed over. 100 Deployments share one more queue; with `busy` as
one more argument, a pod of it comes and goes a hundred times a second.
"""

import asyncio
import sys
from pathlib import Path
from typing import Final

from builders import a_ledger, see
from builders.names import GPU
from builders.namespace import a_namespace
from builders.node import a_node
from builders.pod import PodBody, a_pod
from builders.queue import QueueBody, a_queue
from cardquota.cluster.serving import server_context
from cardquota.cluster.watch import ChangeNotifier, watched_kinds
from cardquota.metrics import Metrics
from cardquota.quota.ledger import Ledger
from cardquota.runtime import spare_what_stays
from cardquota.settings import Settings
from cardquota_webhooks import (
    AdmissionServer,
    CardlessClaims,
    PodGroupReviews,
    PodReviews,
    QueueReviews,
    ResizeReviews,
    ScaleReviews,
    ScaleTargets,
    VisibilityWait,
    WorkloadReviews,
)

from ..bodies.workload_bodies import name_of, workload

PRODUCTS: Final = tuple(f"NVIDIA-MODEL-{number}" for number in range(5))
"""What the nodes have."""
FEW: Final = 5
MANY: Final = 1_000
_QUEUES: Final = 20
_PODS: Final = 5_000
_ROOM: Final = 1_000_000


DEPLOYMENTS: Final = 100
SCALED: Final = "scaled"
"""Their queue. It has room for one pod more of each, and for one of all that comes and goes."""
_OF_EACH: Final = 20
_PAUSE: Final = 0.01
"""Seconds between two changes."""


def queue_with(rows: int) -> str:
    """The name of the queue with that many rows."""
    return f"rows-{rows}"


def ledger() -> Ledger:
    """As the module says."""
    found = a_ledger(
        a_namespace("team"),
        *(a_node(f"node-{p}-{n}").with_cards(p, 8) for p in PRODUCTS for n in range(200)),
        *(
            a_queue(f"team-{n}").with_quota(dict.fromkeys(PRODUCTS, _PODS)).limited_to("100k")
            for n in range(_QUEUES)
        ),
        _queue(FEW),
        _queue(MANY),
    )
    for number in range(_PODS):
        queue, product = f"team-{number % _QUEUES}", PRODUCTS[number % len(PRODUCTS)]
        pod = a_pod(f"pod-{number}").in_queue(queue).naming(product).asking_for(1).owned_by("Job")
        pod = pod.with_cpu("8").with_memory("32Gi").stamped(queue, {product: 1})
        see(found, pod.on_node(f"node-{product}-{number % 200}"))
    _deployments(found)
    return found


def _deployments(held: Ledger) -> None:
    card = PRODUCTS[0]
    see(held, a_queue(SCALED).with_quota({card: DEPLOYMENTS * (_OF_EACH + 1) + 1}))
    watched = watched_kinds(held, ChangeNotifier(), lambda _: None)
    deployments = next(kind.delivery() for kind in watched if kind.kind == "deployments")
    for number in range(DEPLOYMENTS):
        deployments.changed(workload(number, queue=SCALED, card=card, replicas=_OF_EACH))
        for one in range(_OF_EACH):
            see(held, _scaled_pod(f"{name_of(number)}-7c5f8bd9c", str(one)))


def _scaled_pod(controller: str, name: str) -> PodBody:
    pod = a_pod(f"{controller}-{name}").in_queue(SCALED).naming(PRODUCTS[0]).asking_for(1)
    pod = pod.owned_by("ReplicaSet", name=controller).stamped(SCALED, {PRODUCTS[0]: 1})
    return pod.on_node(f"node-{PRODUCTS[0]}-0")


async def _busy(held: Ledger) -> None:
    pod = _scaled_pod("other", "pod")
    while True:
        see(held, pod)
        held.pod_gone(pod.uid)
        await asyncio.sleep(_PAUSE)


def _queue(rows: int) -> QueueBody:
    others = [f"NVIDIA-PAST-{number}" for number in range(rows - len(PRODUCTS))]
    quota = dict.fromkeys((*PRODUCTS, *others), _ROOM)
    recorded = [{"name": name, "quota": _ROOM, "resource": GPU} for name in others]
    found = a_queue(queue_with(rows)).with_quota(quota).limited_to("1M", "1Ei")
    return found.put(recorded, "status", "cards")


async def no_queue(_: str) -> bool:
    """All queues are known; nobody asks."""
    return False


async def no_claim(_: str, __: str, ___: str) -> None:
    """No pod claims devices."""


async def no_pod(_: str, __: str) -> None:
    """No labels of pods are looked up."""


async def _main(port: int, certificate: bytes, key: bytes, *, busy: bool) -> None:
    settings, metrics, held = Settings(), Metrics(), ledger()
    visibility = VisibilityWait(held, settings, ChangeNotifier(), no_queue)
    claims = CardlessClaims(held, settings, no_claim)
    pods = PodReviews(held, settings, visibility, claims, lambda: True)
    targets = ScaleTargets(held, no_pod)
    workloads = WorkloadReviews(held, settings, visibility, claims)
    scales = ScaleReviews(
        held,
        settings,
        visibility,
        targets,
        lambda _, __, ___: None,
        lambda: True,
    )
    resizes = ResizeReviews(held, lambda: True)
    groups = PodGroupReviews(held, settings, visibility, lambda: True)
    queues = QueueReviews(held)
    server = AdmissionServer(pods, resizes, queues, groups, workloads, scales, metrics, audit=False)
    tls = server_context(certificate, key)
    http = server.http_for(lambda _: True)
    await http.start("127.0.0.1", port, tls)
    spare_what_stays()  # as the operator does once it knows the cluster
    changes = asyncio.create_task(_busy(held)) if busy else None
    print("serving", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    if changes is not None:
        changes.cancel()
    await http.stop(0.1)


if __name__ == "__main__":
    pair = [Path(name).read_bytes() for name in sys.argv[2:4]]
    with_changes = "busy" in sys.argv[4:]
    asyncio.run(_main(int(sys.argv[1]), pair[0], pair[1], busy=with_changes))
