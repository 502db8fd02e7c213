"""Bodies as large, or as odd, as an API server takes them in one request."""

import json
from collections.abc import Iterator
from typing import Any, Final

from builders import GPU, H200, a_queue
from builders.body import Body
from builders.pod import PodBody
from cardquota.quota import limits

from ..loop.stall_world import gated

MOST: Final = 2_900_000
"""Characters of a body: the API server's limit is 3 MiB."""
READ: Final = 1_400_000
"""Of the largest that is read in a review."""


def pods(salt: str) -> Iterator[tuple[str, PodBody]]:
    """What each is, and a pod that waits, as it is stored: first those that have as much as is
    read, then some beyond. Another `salt` makes other pods: the answer to one that was asked about
    before may be remembered.
    """
    plain, unnamed = gated("q0000"), gated("q0000").naming(None)
    names = "|".join([H200, *(f"{salt}{n}" for n in range(limits.ALTERNATIVES.most - 1))])
    terms, values = limits.TERMS.most, limits.VALUES.most // limits.TERMS.most
    products = [(f"{GPU}.product", "NotIn", [salt])] * (limits.EXPRESSIONS.most // terms)
    yield "all alternatives and requirements", plain.naming(names).requiring(*[products] * terms)
    yield "all requirements, no card named", unnamed.requiring(*[products] * terms)
    yield (
        "all values",
        unnamed.requiring(
            *(
                [("kubernetes.io/hostname", "In", [f"{salt}{t}-{n}" for n in range(values)])]
                for t in range(terms)
            )
        ),
    )
    each = limits.RESOURCE_ENTRIES.most // limits.CONTAINERS.most - 1
    many = _containers(salt, limits.CONTAINERS.most - 1, each)
    yield "all containers and resources", plain.with_spec(containers=many)
    asked = [[("zone", "In", [f"{salt}{n}"])] for n in range(MOST // 75)]
    yield "3 MB of affinity terms", unnamed.requiring(*asked)
    for size, most in (("3 MB", MOST), ("1.5 MB", READ)):
        many = _containers(salt, most // 250, 1)
        yield f"{size} of containers", plain.with_spec(containers=many)
    yield "a card.name of 2.8 MB", plain.naming("|".join(f"{salt}{n}" for n in range(MOST // 8)))


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


def question(resource: str, **spec: Any) -> bytes:
    """A question to the operator, as a dry run."""
    kind = {"group": "cardquota.volcano.sh", "version": "v1alpha1", "resource": resource}
    return _review(kind, "CREATE", "ask", {"metadata": {"name": "ask"}, "spec": spec})


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
