"""One review of a pod group, from the request's bytes to those of the answer, by what is in it.

The queue has a quota of 1,000 rows, and runs nothing. A figure is processor time, the most of
several bodies of a kind: what was read before may be remembered. Then 5,000 plain groups at once.
"""

import asyncio
import json
import time
from typing import Final

from builders import Body, a_ledger, a_namespace, a_node, a_queue
from cardquota.cluster.watch import ChangeNotifier
from cardquota.settings import Settings
from cardquota_webhooks import AdmissionResponse, PodGroupReviews, VisibilityWait, decode, encode

from ..bodies.group_bodies import group_bodies
from ..figure import Figure, Report, median

ROUNDS: Final = 7
BOUND: Final = 100.0
"""Milliseconds (I5)."""
ROWS: Final = 1_000
AT_ONCE: Final = 5_000
_QUEUE: Final = "large"


def run(report: Report) -> None:
    """The most that any body of a kind takes, ms; and how many are answered in a second."""
    reviews = _reviews()
    rounds = [[*group_bodies(salt, _QUEUE)] for salt in range(1, ROUNDS + 1)]
    for alike in zip(*rounds, strict=True):
        taken = [_timed(reviews, _body(group))[0] for _, group in alike]
        report(median(alike[0][0], taken, "ms", BOUND))
    plain = _body(rounds[0][0][1])
    begun = time.thread_time()
    answers = asyncio.run(_at_once(reviews, plain))
    report(Figure(f"{AT_ONCE:,} at once", AT_ONCE / (time.thread_time() - begun), "/s"))
    assert all(answer.allowed for answer in answers)


def _reviews() -> PodGroupReviews:
    quota = {f"CARD-{number}": 3 for number in range(ROWS)}
    nodes = [a_node(card).with_cards(card, 8) for card in quota]
    things: list[Body] = [a_namespace("team"), *nodes, a_queue(_QUEUE).with_quota(quota)]
    ledger = a_ledger(*things)

    async def there(_: str) -> bool | None:
        return True

    visibility = VisibilityWait(ledger, Settings(), ChangeNotifier(), there)
    return PodGroupReviews(ledger, Settings(), visibility, lambda: True)


def _body(group: Body) -> bytes:
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "resource": {
            "group": "scheduling.volcano.sh",
            "version": "v1beta1",
            "resource": "podgroups",
        },
        "operation": "CREATE",
        "name": group.name,
        "namespace": "team",
        "userInfo": {"username": "tenant"},
        "object": group.body,
        "oldObject": None,
    }
    found = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(found, separators=(",", ":")).encode()


def _timed(reviews: PodGroupReviews, body: bytes) -> tuple[float, AdmissionResponse]:
    async def one() -> tuple[float, AdmissionResponse]:
        begun = time.thread_time()
        request = decode(body)
        answer = await reviews.validate(request)
        encode(request.uid, answer)
        return (time.thread_time() - begun) * 1_000, answer

    return asyncio.run(one())


async def _at_once(reviews: PodGroupReviews, body: bytes) -> list[AdmissionResponse]:
    return await asyncio.gather(*(reviews.validate(decode(body)) for _ in range(AT_ONCE)))
