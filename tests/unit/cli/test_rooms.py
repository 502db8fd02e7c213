"""Which node a pod gets."""

import msgspec
import pytest

from cardquota.cli.rooms import Rooms
from cardquota.quota.objects.node import Node
from cardquota.quota.objects.pod import Pod
from cardquota.quota.pod_facts import pod_facts
from cardquota.quota.vendor_table import DEFAULT_TABLE

LABELS = {"nvidia.com/gpu.product": "NVIDIA-H200", "nvidia.com/gpu.memory": "143771"}
CHARGE = (("NVIDIA-H200", 1),)


def node(name: str, **more: object) -> Node:
    body = {
        "metadata": {"name": name, "labels": LABELS},
        "status": {"allocatable": {"nvidia.com/gpu": 1}},
    }
    return msgspec.convert({**body, **more}, Node)


def bound(rooms: Rooms) -> str | None:
    containers = [{"resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "1"}}}]
    pod = msgspec.convert({"metadata": {"name": "p"}, "spec": {"containers": containers}}, Pod)
    return rooms.bind(pod.spec, pod_facts(pod), CHARGE)


def test_first_with_room_then_the_next_then_none() -> None:
    rooms = Rooms([node("a"), node("b")], DEFAULT_TABLE)
    assert [bound(rooms) for _ in range(3)] == ["a", "b", None]


@pytest.mark.parametrize(
    "more",
    [
        {"spec": {"unschedulable": True}},
        {"spec": {"taints": [{"key": "team", "effect": "NoExecute"}]}},
        {"metadata": {"name": "a", "labels": {"nvidia.com/gpu.product": "NVIDIA-H200"}}},
        {"status": {"allocatable": {"nvidia.com/gpu": 1, "cpu": "many"}}},
        {"status": {"allocatable": {"nvidia.com/gpu": 1, "pods": 0}}},
        {
            "status": {
                "allocatable": {"nvidia.com/gpu": 1},
                "conditions": [{"type": "Ready", "status": "Unknown"}],
            }
        },
    ],
)
def test_nodes_that_take_no_pod(more: dict[str, object]) -> None:
    assert bound(Rooms([node("a", **more)], DEFAULT_TABLE)) is None
