"""The numbers of a queue with a quota of one card, as the ledger reports them, and the queue as
Kopf shows it.
"""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, cast

from builders import H200, a_pod, see
from cardquota.cluster.api import Client
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


def a_reconciler(
    server: object,
    now: Callable[[], str] = lambda: "2026-01-01T00:00:00Z",
    *,
    standalone: bool = True,
    **more: Any,
) -> QueueReconciler:
    """`server` takes its patches."""
    return QueueReconciler(cast("Client", server), now, standalone=standalone, **more)


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
