"""The demo counts by itself: from pods and groups, whatever the status says."""

from typing import Any

from cardquota_dev.demo.recount import Counted, recount, written

GATED: dict[str, Any] = {"schedulingGates": [{"name": "volcano.sh/card-quota"}]}
BOUND: dict[str, Any] = {"nodeName": "n"}


def pod(spec: dict[str, Any], phase: str = "Running", **notes: str) -> dict[str, Any]:
    container = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}
    keys = {
        "card": "volcano.sh/card.name",
        "queue": "scheduling.volcano.sh/queue-name",
        "group": "scheduling.k8s.io/group-name",
        "allocated": "volcano.sh/card.allocated",
        "charged": "volcano.sh/card.queue",
    }
    return {
        "metadata": {
            "name": "p",
            "namespace": "ns",
            "annotations": {keys[name]: value for name, value in notes.items()},
        },
        "spec": {"containers": [container], **spec},
        "status": {"phase": phase},
    }


def queue(*cards: str, **row: int) -> dict[str, Any]:
    rows = [
        {"name": card, "resource": "nvidia.com/gpu", "requested": 0, "allocated": 0, "inqueue": 0}
        | row
        for card in cards
    ]
    return {"metadata": {"name": "q"}, "status": {"cards": rows}}


GROUP = {"metadata": {"namespace": "ns", "name": "g"}, "spec": {"queue": "q"}}


def test_each_pod_is_counted_where_it_stands() -> None:
    pods = [
        pod(BOUND, allocated='{"A": 2}', charged="q"),
        pod({}, "Pending", allocated='{"A": 2}', charged="q"),
        pod(GATED, "Pending", card="A", queue="q"),
        pod(GATED, "Pending", card="B", group="g"),
        pod(BOUND, "Succeeded", allocated='{"A": 2}', charged="q"),
        pod(BOUND, "Running", card="A", queue="another"),
    ]
    assert recount(pods, [GROUP], [queue("A", "B")]) == {
        ("q", "A"): Counted(requested=6, allocated=2, inqueue=2),
        ("q", "B"): Counted(requested=2, allocated=0, inqueue=0),
    }


def test_what_a_group_reserves_is_counted_beside_its_members() -> None:
    """T2: less what its members are charged in the same queue."""
    text = '{"queue": "q", "cards": {"A": 6, "B": 1}, "term": "t"}'
    meta = {**GROUP["metadata"], "annotations": {"volcano.sh/card.reservation": text}}
    pods = [
        pod(BOUND, group="g", allocated='{"A": 2}', charged="q"),
        pod({}, "Pending", group="g", allocated='{"A": 2}', charged="q"),
        pod(GATED, "Pending", group="g", card="A"),
        pod(BOUND, group="another", allocated='{"A": 2}', charged="q"),
    ]
    assert recount(pods, [{**GROUP, "metadata": meta}], [queue("A", "B")]) == {
        ("q", "A"): Counted(requested=8, allocated=4, inqueue=4),
        ("q", "B"): Counted(requested=0, allocated=0, inqueue=1),
    }


def test_a_status_that_says_something_else_differs() -> None:
    queues = [queue("A", requested=3, allocated=3)]
    assert written(queues) == {("q", "A"): Counted(3, 3, 0)}
    assert recount([], [], queues) != written(queues)
