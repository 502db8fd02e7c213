"""Workloads: what it takes to know 20,000 of them, one review of a scale-up, and a look at those
that sleep.

An object is what a Deployment of a chart looks like in a watch, some 4 KB of JSON. Times are
processor time; reviews are of the worst kinds that we could think of.
"""

import asyncio
import time
import tracemalloc
from typing import Any, Final

from builders import H200, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from cardquota.cluster.watch import ChangeNotifier, Delivery, watched_kinds
from cardquota.control import WorkloadWaker
from cardquota.quota.ledger import Ledger
from cardquota.settings import Settings
from cardquota_webhooks import VisibilityWait, decode, encode
from cardquota_webhooks.scaling import ScaleReviews, ScaleTargets

from ..bodies.workload_bodies import scale_review, workload
from ..figure import Figure, Report, median

MANY: Final = 20_000
PODS: Final = 2_000
ROUNDS: Final = 9
BOUND: Final = 100.0
"""Milliseconds (I5)."""


def run(report: Report) -> None:
    """Memory, events, reviews, looks."""
    _memory(report)
    _events(report)
    _reviews(report)
    asyncio.run(_looks(report))


def _memory(report: Report) -> None:
    for what, ours in (("with cards", True), ("without", False)):
        ledger, deliveries = _watches()
        tracemalloc.start()
        for number in range(MANY):
            kind = "replicasets" if number % 2 else "deployments"
            deliveries[kind].changed(workload(number, ours=ours))
        size = tracemalloc.get_traced_memory()[0] / 2**20
        tracemalloc.stop()
        assert len(ledger.workloads) == (MANY if ours else 0)
        report(Figure(f"{MANY:,} workloads {what} known", size, "MB"))


def _events(report: Report) -> None:
    for what, ours in (("with cards", True), ("without", False)):
        _, deliveries = _watches()
        raw = [workload(number, ours=ours, replicas=number % 9) for number in range(2_000)]
        rounds = []
        for _ in range(ROUNDS):
            begun = time.thread_time()
            for one in raw:
                deliveries["deployments"].changed(one)
            rounds.append((time.thread_time() - begun) / len(raw) * 1e6)
        report(median(f"an event of one {what}", rounds, "us"))


def _reviews(report: Report) -> None:
    for what, controllers in (
        ("100 pods of one workload", 1),
        (f"{PODS:,} pods of one workload", 1),
        (f"{PODS:,} pods of as many controllers", PODS),
    ):
        pods = PODS if f"{PODS:,}" in what else 100
        ledger, deliveries = _watches(room=pods + 5)
        deliveries["deployments"].changed(workload(0, replicas=1))
        reviews = _scale_reviews(ledger)
        for number in range(pods):
            made_by = f"w-{number % controllers}-7c5f8bd9c"
            see(ledger, _pod(number).owned_by("ReplicaSet", name=made_by))
        taken = [_timed(reviews, ledger, number) for number in range(ROUNDS)]
        report(median(f"a scale-up, {what}", taken, "ms", BOUND))


async def _looks(report: Report) -> None:
    for asleep in (500, MANY):
        ledger, deliveries = _watches(room=1)
        see(ledger, _pod(0))
        for number in range(asleep):
            deliveries["replicasets"].changed(workload(number, refused=True))
        notifier = ChangeNotifier()
        loop = asyncio.get_running_loop()
        waker = WorkloadWaker(ledger, notifier, _Takes(), loop.time, lambda: None)
        waker.begin("term")
        taken = []
        for _ in range(ROUNDS):
            begun = time.thread_time()
            await waker.look()
            taken.append((time.thread_time() - begun) * 1e3)
            see(ledger, _pod(1))
            ledger.pod_gone(_pod(1).uid)
        report(Figure(f"the first look at {asleep:,} that sleep, in slices", taken[0], "ms"))
        report(median("the next ones", taken[1:], "ms"))
        await waker.end()


class _Takes:
    async def patch(self, *_: Any, **__: Any) -> bytes:
        return b""


def _watches(room: int = 1_000) -> tuple[Ledger, dict[str, Delivery[Any]]]:
    node = a_node("h200").with_cards(H200, 10_000)
    ledger = a_ledger(node, a_namespace("team"), a_queue().with_quota({H200: room}))
    kinds = watched_kinds(ledger, ChangeNotifier(), lambda _: None)
    return ledger, {kind.kind: kind.delivery() for kind in kinds}


def _pod(number: int) -> Any:
    pod = a_pod(f"pod-{number}").in_queue("queue").naming(H200).asking_for(1)
    return pod.with_uid(f"pod-{number}").stamped("queue", {H200: 1}).on_node("h200")


def _scale_reviews(ledger: Ledger) -> ScaleReviews:
    async def there(_: str) -> bool | None:
        return True

    async def no_pod(_: str, __: str) -> None:
        return None

    targets = ScaleTargets(ledger, no_pod)
    return ScaleReviews(
        ledger,
        Settings(),
        VisibilityWait(ledger, Settings(), ChangeNotifier(), there),
        targets,
        lambda _, __, ___: None,
        lambda: True,
    )


def _timed(reviews: ScaleReviews, ledger: Ledger, number: int) -> float:
    """Milliseconds. A pod has come and gone before, so that nothing counted is still known."""
    see(ledger, _pod(PODS + number).owned_by("ReplicaSet", name="other"))
    ledger.pod_gone(_pod(PODS + number).uid)

    body = scale_review(0, 10 * PODS)

    async def one() -> float:
        begun = time.thread_time()
        found = decode(body)
        answer = await reviews.validate(found)
        encode(found.uid, answer)
        assert not answer.allowed
        return (time.thread_time() - begun) * 1_000

    return asyncio.run(one())
