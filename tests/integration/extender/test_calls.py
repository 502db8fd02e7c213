"""Calls of the extender over TLS, by whom they are taken, and who may write a placement."""

import time

import pytest
import urllib3
from urllib3.exceptions import HTTPError

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import ask

from .device_plugin import AS_PLUGIN
from .shared_cards import (
    SharedCards,
    card_of,
    extender_address,
    extender_pool,
    leader_of,
    post_bind,
)

pytestmark = pytest.mark.slow
NOBODY = "none"
"""A scheduler that there is not: the pod waits for the test."""


def test_a_binding_carries_the_placement(one_node: SharedCards) -> None:
    before = time.time_ns()
    one_node.create("bound", 1024)
    notes = one_node.bound("bound")["metadata"]["annotations"]
    wanted = {
        v.GPU_MEMORY_CARD: "0",
        v.GPU_MEMORY_OF_POD: "1024",
        v.GPU_MEMORY_OF_CARD: "16276",
        v.GPU_MEMORY_ASSIGNED: "false",
    }
    assert {key: notes[key] for key in wanted} == wanted
    assert before <= int(notes[v.GPU_MEMORY_ASSUMED_AT]) <= time.time_ns()
    path = f"/apis/coordination.k8s.io/v1/namespaces/{v.OPERATOR_NAMESPACE}/leases/{v.LEASE}"
    lease = ask(one_node.plane, "GET", path)
    assert notes[v.TERM] == lease.body["spec"]["holderIdentity"]


def test_nobody_else_places_a_pod(one_node: SharedCards) -> None:
    """Neither with a Binding, nor later on the pod."""
    one_node.create("waits", 1024, schedulerName=NOBODY)
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "waits", "annotations": {v.GPU_MEMORY_CARD: "0"}},
        "target": {"apiVersion": "v1", "kind": "Node", "name": one_node.node(1)},
    }
    path = f"{one_node.path('waits')}/binding"
    reply = ask(one_node.plane, "POST", path, binding)
    assert (reply.code, reply.reason) == (403, "Forbidden"), reply.message
    assert "nodeName" not in ask(one_node.plane, "GET", one_node.path("waits")).body["spec"]
    card = one_node.placed("bound", 1024)
    for who in ({}, AS_PLUGIN):
        reply = one_node.annotate("bound", {v.GPU_MEMORY_CARD: str(1 - card)}, **who)
        assert reply.code == 403, reply.message
    assert one_node.annotate("bound", {v.GPU_MEMORY_ASSIGNED: "true"}).code == 403
    assert card_of(one_node.bound("bound")) == card


@pytest.mark.parametrize("replica", [0, 1])
def test_a_caller_without_a_certificate(extender_plane: Cluster, replica: int) -> None:
    url = f"{extender_address(extender_plane, replica)}/inspect"
    with extender_pool(extender_plane) as pool:
        assert pool.request("GET", url).status == 200
    with extender_pool(extender_plane, known=False) as pool, pytest.raises(HTTPError):
        pool.request("GET", url)
    with urllib3.PoolManager(retries=False, timeout=10.0) as pool, pytest.raises(HTTPError):
        pool.request("GET", url.replace("https:", "http:"))


def test_a_bind_at_the_follower(one_node: SharedCards) -> None:
    """It is passed on to the leader, and asking again changes nothing."""
    pod = one_node.create("passed-on", 1024, schedulerName=NOBODY)
    follower = 1 - leader_of(one_node.plane)
    for _ in range(2):
        answer = post_bind(one_node.plane, follower, pod, one_node.node(1))
        assert answer == {"status": 200, "Error": ""}
    notes = one_node.bound("passed-on")["metadata"]["annotations"]
    assert (notes[v.GPU_MEMORY_CARD], notes[v.GPU_MEMORY_OF_POD]) == ("0", "1024")
    eventually(lambda: one_node.agree(1), "both replicas count it")
