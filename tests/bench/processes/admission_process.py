"""Our admission webhooks as a process of its own, over a ledger that is not empty.

`python -m bench.processes.admission_process PORT CERTIFICATE KEY` serves the real
`AdmissionServer` on 127.0.0.1 until standard input ends, and says `serving` once it does. The
ledger holds 20 queues with 5 quota rows, 5,000 pods in them, and two queues with room that differ
in nothing but the number of rows in their quota. All other rows are of cards that a queue's status
remembers: as after a restart in a cluster whose pools are scaled to zero. All are of one resource
name, so that none of them can be passed over.
"""

import asyncio
import sys
from pathlib import Path
from typing import Final

from builders import a_namespace, a_node, a_pod, a_queue, see
from builders.names import GPU
from builders.queue import QueueBody
from cardquota.cluster.serving import server_context
from cardquota.quota.ledger import Ledger
from cardquota.runtime import spare_what_stays
from harness.replica import Replica

PRODUCTS: Final = tuple(f"NVIDIA-MODEL-{number}" for number in range(5))
"""What the nodes have."""
FEW: Final = 5
MANY: Final = 1_000
_QUEUES: Final = 20
_PODS: Final = 5_000
_ROOM: Final = 1_000_000


def queue_with(rows: int) -> str:
    """The name of the queue with that many rows."""
    return f"rows-{rows}"


def _fill(ledger: Ledger) -> None:
    """As the module says."""
    see(
        ledger,
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
        see(ledger, pod.on_node(f"node-{product}-{number % 200}"))


def _queue(rows: int) -> QueueBody:
    others = [f"NVIDIA-PAST-{number}" for number in range(rows - len(PRODUCTS))]
    quota = dict.fromkeys((*PRODUCTS, *others), _ROOM)
    recorded = [{"name": name, "quota": _ROOM, "resource": GPU} for name in others]
    found = a_queue(queue_with(rows)).with_quota(quota).limited_to("1M", "1Ei")
    return found.put(recorded, "status", "cards")


async def _main(port: int, certificate: bytes, key: bytes) -> None:
    replica = Replica()
    _fill(replica.ledger)
    http = replica.server.http_for(lambda _: True)
    await http.start("127.0.0.1", port, server_context(certificate, key))
    spare_what_stays()  # as the operator does once it knows the cluster
    print("serving", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await http.stop(0.1)
    await replica.end()


if __name__ == "__main__":
    pair = [Path(name).read_bytes() for name in sys.argv[2:4]]
    asyncio.run(_main(int(sys.argv[1]), pair[0], pair[1]))
