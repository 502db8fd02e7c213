"""N1: reviews that somebody sends to the webhook's port himself, from any pod of the cluster.

Without the secret of the path nobody learns a name, and nothing changes: no answer differs before
and after, no event is written, and honest requests are answered as before.
"""

import json
import ssl
from collections.abc import Iterator
from http.client import HTTPSConnection
from urllib.parse import urlsplit

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team

HPA = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
KINDS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


def sent(cluster: Cluster, path: str, review: Object) -> tuple[int, str]:
    """By somebody who has read nothing of ours; the CA is no secret."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    at = urlsplit(cluster.state.webhook)
    connection = HTTPSConnection(at.hostname or "", at.port, context=context, timeout=30)
    try:
        connection.request("POST", path, json.dumps(review))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def forged(group: str, resource: str, sub: str, user: str, **request: object) -> Object:
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "forged",
            "resource": {"group": group, "version": "v1", "resource": resource},
            "subResource": sub,
            "operation": "UPDATE" if sub else "CREATE",
            "userInfo": {"username": user},
            **request,
        },
    }


def reviews(team: Team) -> Iterator[Object]:
    queue, namespace = team.queue_name(), team.namespace
    question = {"spec": {"queue": queue}}
    yield forged(v.REVIEW_GROUP, v.QUEUE_REVIEWS, "", "admin", object=question, dryRun=True)
    scale: Object = {"metadata": {"name": "web", "namespace": namespace}}
    yield forged(
        *("apps", "deployments", "scale", HPA),
        namespace=namespace,
        name="web",
        oldObject={**scale, "spec": {"replicas": 0}},
        object={**scale, "spec": {"replicas": 1000}},
    )
    pod = team.wire(team.a_pod("forged", 1000, T1000))
    yield forged("", "pods", "", "tenant", namespace=namespace, name="forged", object=pod)


def paths(cluster: Cluster) -> list[str]:
    """Where the API server calls us, without the secrets."""
    clients = [
        webhook["clientConfig"]
        for kind in KINDS
        for one in ask(cluster, "GET", f"{ADMISSION}/{kind}").body["items"]
        for webhook in one["webhooks"]
    ]
    ours = (one["url"] for one in clients if one["url"].startswith(cluster.state.webhook))
    return sorted({urlsplit(url).path.rpartition("/")[0] for url in ours})


def test_n1_forged_reviews_are_answered_nothing_and_change_nothing(team: Team) -> None:
    if not team.cluster.state.webhook:
        pytest.skip("the port of the webhook is not known")
    team.has_queue(team.a_queue({T1000: 2}))
    assert team.create(team.a_pod("holder", 1, T1000)).ok
    team.until_open("holder")
    called = paths(team.cluster)
    assert called == ["/mutate", "/validate"]
    for review in reviews(team):
        for path in (*called, *(f"{one}/{64 * '0'}" for one in called), "/", "/observe"):
            assert sent(team.cluster, path, review) == (404, "nothing is here\n")
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    assert not [one for one in events if "web" in one["involvedObject"]["name"]]
    assert team.create(team.a_pod("honest", 1, T1000)).ok
    team.until_open("honest")
