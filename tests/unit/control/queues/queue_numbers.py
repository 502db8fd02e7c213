"""The numbers of a queue with a quota of one card, as the ledger reports them, and the queue as
Kopf shows it.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

from builders import H200, a_pod, see
from cardquota.control.queues import QueueReconciler
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import QueueReport, report

UID = "uid-queue"
_VERSIONS = count(1_000_000)


def numbers(ledger: Ledger) -> QueueReport:
    found = report(ledger, "queue")
    assert found is not None
    return found


def one_more(ledger: Ledger, name: str) -> QueueReport:
    """With one pod more that waits."""
    see(ledger, a_pod(name).in_queue("queue").naming(H200).asking_for(1).gated())
    return numbers(ledger)


def one_more_bound(ledger: Ledger, name: str) -> QueueReport:
    """With one pod more that runs."""
    pod = a_pod(name).in_queue("queue").naming(H200).asking_for(1)
    see(ledger, pod.stamped("queue", {H200: 1}).on_node("h200-a"))
    return numbers(ledger)


def want(reconciler: QueueReconciler, view: QueueReport) -> None:
    reconciler.want(view.uid, view)


def seen(
    reconciler: QueueReconciler,
    queue: Mapping[str, Any],
    uid: str = UID,
    *,
    name: str = "queue",
    version: str = "",
) -> None:
    """Kopf shows it; without a `version` in a newer one than any before."""
    meta = {**queue.get("metadata", {}), "name": name, "uid": uid}
    meta["resourceVersion"] = version or str(next(_VERSIONS))
    reconciler.seen({**queue, "metadata": meta})
