"""Bodies as large, or as odd, as an API server takes them in one request."""

import json
from collections.abc import Iterator
from typing import Any, Final

from builders import GPU, a_queue
from builders.body import Body
from builders.pod import PodBody

from ..loop.stall_world import gated

MOST: Final = 2_900_000
"""Characters of a body: the API server's limit is 3 MiB."""
READ: Final = 1_400_000
"""Of the largest that is read in a review."""
_WORDS: Final = "x" * 60


def pods(salt: str) -> Iterator[tuple[str, PodBody]]:
    """What each is, and a pod that waits, as it is stored. Another `salt` makes other pods: the
    answer to one that was asked about before may be remembered.
    """
    plain, unnamed = gated("q0000"), gated("q0000").naming(None)
    yield "300 affinity terms", unnamed.requiring(*_terms(salt, 300))
    yield (
        "300 affinity terms of a host",
        unnamed.requiring(*_terms(salt, 300, "kubernetes.io/hostname")),
    )
    yield "3 MB of affinity terms", unnamed.requiring(*_terms(salt, MOST // 75))
    yield "3 MB of affinity terms, card named", plain.requiring(*_terms(salt, MOST // 75))
    yield (
        "one affinity term of 3 MB",
        unnamed.requiring(
            [("zone", "In", [f"{_WORDS}{salt}{number}" for number in range(MOST // 70)])]
        ),
    )
    yield "300 containers of 40 resources", plain.with_spec(containers=_containers(salt, 300, 40))
    for size, most in (("3 MB", MOST), ("1.5 MB", READ)):
        many = _containers(salt, most // 250, 1)
        yield f"{size} of containers", plain.with_spec(containers=many)
        yield f"{size} of init containers", plain.with_spec(initContainers=many)
        one = _containers(salt, 1, most // 32)
        yield f"one container of {size} of resources", plain.with_spec(containers=one)
    yield "a card.name of 2.8 MB", plain.naming("|".join(f"{salt}{n}" for n in range(MOST // 8)))
    yield "a card.name of 2.8 MB, one name", plain.naming(salt * MOST)
    yield (
        "a node selector of 2.5 MB",
        plain.on_nodes_labelled({f"{_WORDS}{salt}{number}": "1" for number in range(MOST // 80)}),
    )
    yield (
        "2.5 MB of tolerations",
        plain.with_spec(
            tolerations=[
                {"key": f"{_WORDS}{salt}{n}", "operator": "Exists"} for n in range(MOST // 100)
            ]
        ),
    )
    yield "a queue's name of 250 kB", plain.in_queue(salt * 250_000)
    yield "a group's name of 250 kB", plain.in_group(salt * 250_000)
    yield (
        "250 kB of labels",
        plain.put(
            {f"{_WORDS[:50]}{salt}{number}": "1" for number in range(3_500)}, "metadata", "labels"
        ),
    )
    yield "2.5 MB of foreign gates", plain.gated(*(f"{_WORDS}{salt}{n}" for n in range(MOST // 80)))
    yield "a quantity of 1 MB", plain.asking_for("1" * 1_000_000)


def queues() -> Iterator[tuple[str, Body]]:
    """Queues as an administrator may write them by mistake."""
    rows = {f"CARD-{number}": number for number in range(1_000)}
    yield "a quota of 1,000 rows", a_queue("q0001").with_quota(rows)
    yield (
        "a quota of 250 kB",
        a_queue("q0001").annotated(
            "volcano.sh/card.quota", json.dumps({f"CARD-{n}": n for n in range(14_000)})
        ),
    )
    yield "250 kB of namespaces", a_queue("q0001").open_to(*(f"a*{n}*b" for n in range(25_000)))


def review(body: Body, resource: str = "pods") -> bytes:
    """Of its create, as the API server sends it."""
    kind = {"group": "", "version": "v1", "resource": "pods"}
    if resource == "queues":
        kind = {"group": "scheduling.volcano.sh", "version": "v1beta1", "resource": "queues"}
    return _review(kind, "CREATE", body.name, body.body)


def deletion(queue: str) -> bytes:
    """Of a queue."""
    kind = {"group": "scheduling.volcano.sh", "version": "v1beta1", "resource": "queues"}
    return _review(kind, "DELETE", queue, None)


def workload(body: PodBody) -> bytes:
    """Of a Deployment with such pods."""
    kind = {"group": "apps", "version": "v1", "resource": "deployments"}
    spec = {"replicas": 3, "template": body.body}
    return _review(kind, "CREATE", "web", {"metadata": {"name": "web"}, "spec": spec})


def _review(kind: dict[str, str], operation: str, name: str, body: Any) -> bytes:
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "resource": kind,
        "operation": operation,
        "name": name,
        "namespace": "q0000",
        "userInfo": {"username": "tenant"},
        "object": body,
        "oldObject": None,
        "dryRun": True,
    }
    found = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(found, separators=(",", ":")).encode()


def _terms(salt: str, number: int, key: str = "zone") -> list[list[tuple[str, str, list[str]]]]:
    return [[(key, "In", [f"{salt}{n}"])] for n in range(number)]  # none of which a node meets


_DEFAULTED: Final = {
    "image": "i",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
}
"""What the API server completes before anybody reviews or watches a container."""


def _containers(salt: str, number: int, resources: int) -> list[dict[str, Any]]:
    first = {"name": "main", "resources": {"limits": {GPU: "1"}}}
    names = [f"example.com/{salt}{n}" for n in range(resources)]
    return [
        first,
        *(
            {**_DEFAULTED, "name": f"c{n}", "resources": {"limits": dict.fromkeys(names, "1")}}
            for n in range(number)
        ),
    ]
