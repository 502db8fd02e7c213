"""Pods that share cards by memory, on the real API server and the real kube-scheduler."""

import ssl
import subprocess
import sys
import urllib.request
from urllib.error import URLError

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import ApiReply, Object, ask

from .device_plugin import DevicePlugin
from .shared_cards import CARD, PLUGIN, Shelf, address, call

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


@pytest.mark.slow
def test_b4_one_card_must_have_room(shelf: Shelf) -> None:
    """4,069 left in sum on one node, on each card of another, 8,138 on one card of the third."""
    one, two, three = (shelf.node(name) for name in ("n1", "n2", "n3"))
    for node, first, second in ((one, CARD, 12207), (two, 12207, 12207), (three, CARD, 8138)):
        shelf.holds(f"{node}-a", first, node, 0)
        shelf.holds(f"{node}-b", second, node, 1)
    shelf.pod("wanted", 8138)
    assert shelf.placed("wanted") == (three, "1")
    shelf.pod("late", 4070)
    shelf.refused("late", "1 no single card has 4070 MiB free", "Insufficient aliyun.com/gpu-mem")
    shelf.remove(f"{two}-b")
    assert shelf.placed("late") == (two, "1")


@pytest.mark.slow
def test_b5_the_least_free_card_that_fits(shelf: Shelf) -> None:
    node = shelf.node("n1", 4)
    shelf.holds("c", 12207, node, 0)
    shelf.holds("b", 8138, node, 1)
    shelf.holds("a", 4069, node, 0)
    assert shelf.used(node) == [CARD, 8138, 0, 0]
    shelf.pod("wanted", 8138)
    assert shelf.placed("wanted") == (node, "1")


@pytest.mark.slow
def test_b6_one_card_until_it_is_full(shelf: Shelf) -> None:
    nodes = [shelf.node(name) for name in ("n1", "n2")]
    for i in range(16):
        shelf.pod(f"p{i}", 1024)
    places = {shelf.placed(f"p{i}") for i in range(16)}
    assert places == {(nodes[0], "0"), (nodes[0], "1")}
    assert sorted(shelf.used(nodes[0])) == [1024, 15 * 1024]
    assert shelf.used(nodes[1]) == [0, 0]


def test_b5_what_the_binding_wrote_is_ours(shelf: Shelf) -> None:
    node = shelf.node("n1")
    shelf.holds("p", 1024, node, 0)
    notes = shelf.read("p")["metadata"]["annotations"]
    lease = "/apis/coordination.k8s.io/v1/namespaces/cardquota-system/leases/cardquota"
    assert notes[v.TERM] == ask(shelf.plane, "GET", lease).body["spec"]["holderIdentity"]
    assert {key: notes[key] for key in (v.GPU_MEMORY_OF_POD, v.GPU_MEMORY_OF_CARD)} == {
        v.GPU_MEMORY_OF_POD: "1024",
        v.GPU_MEMORY_OF_CARD: str(CARD),
    }

    def moved(user: str) -> ApiReply:
        change = {"metadata": {"annotations": {v.GPU_MEMORY_CARD: "1"}}}
        return shelf.change("p", change, as_user=user, as_groups=["system:masters"])

    for user in ("tenant", PLUGIN):
        assert moved(user).code == 403
    binding = {
        "metadata": {"name": "p", "annotations": {v.GPU_MEMORY_CARD: "1"}},
        "target": {"kind": "Node", "name": node},
    }
    assert ask(shelf.plane, "POST", f"{shelf.pods}/p/binding", binding).code == 403


@pytest.mark.slow
def test_beside_a_device_plugin_that_crashes_in_between(shelf: Shelf) -> None:
    node = shelf.node("n1")
    for i in range(4):
        shelf.pod(f"p{i}", 5000)
    cards = {f"p{i}": shelf.placed(f"p{i}")[1] for i in range(4)}
    order = DevicePlugin(shelf, node).waiting()
    assert DevicePlugin(shelf, node).give_cards(most=1) == order[:1]
    shelf.pod("between", 5000)
    shelf.placed("between")
    assert DevicePlugin(shelf, node).give_cards() == [*order[1:], "between"]
    assert {name: shelf.placed(name)[1] for name in cards} == cards

    def states() -> list[str]:
        return [pod["state"] for card in shelf.inspect(node)["cards"] for pod in card["pods"]]

    eventually(lambda: states() == ["assigned"] * 5, "all are assigned")
    assert sum(shelf.used(node)) == 25_000


@pytest.mark.slow
def test_b2_terminating_pods_hold_their_card_and_finished_ones_do_not(shelf: Shelf) -> None:
    node = shelf.node("n1", 1)
    shelf.pod("ending", CARD, node=node, finalizers=["example.com/hold"])
    shelf.placed("ending")
    shelf.remove("ending")
    shelf.pod("next", CARD)
    shelf.refused("next")
    assert shelf.inspect(node)["cards"][0]["pods"][0]["state"] == "terminating"
    shelf.change("ending", {"metadata": {"finalizers": None}})
    assert shelf.placed("next") == (node, "0")
    done = {"status": {"phase": "Succeeded"}}
    reply = ask(
        shelf.plane,
        "PATCH",
        f"{shelf.pods}/next/status",
        done,
        content_type="application/merge-patch+json",
    )
    assert reply.ok, reply.message
    eventually(lambda: shelf.used(node) == [0], "its memory is free")


@pytest.mark.slow
def test_b2_broken_cards_and_a_list_that_nobody_can_read(shelf: Shelf) -> None:
    node = shelf.node("n1")
    name = f"unhealthy-gpu-{node}"

    def list_(method: str, text: str) -> None:
        body = {"metadata": {"name": name}, "data": {"gpus": text}}
        path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/{name}"
        assert ask(shelf.plane, method, path, body).ok

    def healthy() -> list[bool]:
        return [card["healthy"] for card in shelf.inspect(node)["cards"]]

    try:
        list_("POST", "0,1")
        eventually(lambda: healthy() == [False, False], "both are broken")
        shelf.pod("p", 1024)
        shelf.refused("p", "1 no healthy card has 1024 MiB")
        list_("PUT", "1, 2")
        events = f"/api/v1/events?fieldSelector=involvedObject.name={node}"

        def told() -> list[Object]:
            found = ask(shelf.plane, "GET", events).body["items"]
            return [one for one in found if one["reason"] == v.CARD_MEMORY_UNREADABLE]

        eventually(told, "the list is reported")
        assert healthy() == [False, False]
        list_("PUT", "0")
        assert shelf.placed("p") == (node, "1")
    finally:
        ask(shelf.plane, "DELETE", f"{CONFIG_MAPS}/{name}")


@pytest.mark.slow
def test_b2_a_node_that_comes_back_with_other_cards(shelf: Shelf) -> None:
    node = shelf.node("n1")
    shelf.holds("a", CARD, node, 0)
    shelf.holds("b", CARD, node, 1)
    body = ask(shelf.plane, "GET", f"/api/v1/nodes/{node}").body
    for amounts in ("capacity", "allocatable"):
        body["status"][amounts].update({v.GPU_MEMORY: str(CARD), v.GPU_COUNT: "1"})
    assert ask(shelf.plane, "PUT", f"/api/v1/nodes/{node}/status", body).ok
    eventually(lambda: shelf.used(node) == [CARD], "it has one card")
    (unknown,) = shelf.inspect(node)["unknown"]
    assert (unknown["name"], unknown["problem"]) == ("b", "the node has no card <1>")


def test_nobody_calls_without_a_certificate(shelf: Shelf) -> None:
    assert shelf.plane.folder is not None
    tls = ssl.create_default_context(cafile=str(shelf.plane.folder.extender / "ca.crt"))
    with pytest.raises((URLError, OSError)):
        urllib.request.urlopen(  # noqa: S310
            f"{address(shelf.plane)}/inspect", timeout=10, context=tls
        )


def test_b5_a_bind_for_a_pod_that_is_not_there_is_refused(shelf: Shelf) -> None:
    node = shelf.node("n1")
    pod = shelf.pod("p", CARD + 1)
    wanted = {"PodName": "p", "PodNamespace": shelf.namespace, "Node": node}
    stale = call(shelf.plane, "/scheduler/bind", {**wanted, "PodUID": "made-again"})
    assert "is not known to cardquota" in stale["Error"]
    full = call(shelf.plane, "/scheduler/bind", {**wanted, "PodUID": pod["metadata"]["uid"]})
    assert "no healthy card has 16277 MiB" in full["Error"]
    assert call(shelf.plane, "/inspect/nowhere") is None


def test_b5_the_same_bind_again_is_no_fault(shelf: Shelf) -> None:
    node = shelf.node("n1")
    pod = shelf.pod("p", 1024)
    shelf.placed("p")
    again = {
        "PodName": "p",
        "PodNamespace": shelf.namespace,
        "PodUID": pod["metadata"]["uid"],
        "Node": node,
    }
    for _ in range(4):  # by whichever replica the balancer chooses
        assert call(shelf.plane, "/scheduler/bind", again) == {"Error": ""}
    assert shelf.used(node) == [1024, 0]


@pytest.mark.slow
def test_b3_pods_by_card_and_by_memory_never_meet(shelf: Shelf) -> None:
    node = shelf.node("n1", whole=2)
    shelf.holds("m", 1024, node, 0)
    whole = {
        "metadata": {"name": "w"},
        "spec": {
            "nodeSelector": {"node": node},
            "containers": [
                {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}
            ],
        },
    }
    assert ask(shelf.plane, "POST", shelf.pods, whole).ok
    shelf.refused("w", "1 node is by-memory")
    shelf.remove("m")
    assert shelf.placed("w") == (node, "")
    shelf.pod("m2", 1024)
    shelf.refused("m2", "1 node is by-card")


@pytest.mark.slow
def test_b8_the_plugin_shows_the_same(shelf: Shelf, extender_plane: Cluster) -> None:
    node = shelf.node("n1")
    shelf.holds("p", 1024, node, 0)
    assert extender_plane.folder is not None
    command = (sys.executable, "-m", "cardquota.cli.plugin", "inspect", "--kubeconfig")

    def shown(*more: str) -> subprocess.CompletedProcess[str]:
        kubeconfig = str(extender_plane.folder.kubeconfig) if extender_plane.folder else ""
        return subprocess.run(
            [*command, kubeconfig, *more], capture_output=True, text=True, timeout=60, check=False
        )

    done = shown(node, "-d")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{node}   0      1024/16276 MiB   healthy   1" in done.stdout
    assert f"{shelf.namespace}/p" in done.stdout
    assert shown("nowhere").returncode == 1
    listed = shown("-o", "json")
    assert f'"{node}"' in listed.stdout
