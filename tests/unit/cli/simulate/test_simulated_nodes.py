"""Which node a pod gets."""

import dataclasses

import msgspec
import pytest

from cardquota.cli.simulate import SimulatedNodes, shape_of
from cardquota.quota.cards import DEFAULT_TABLE
from cardquota.quota.objects import Node, Pod
from cardquota.quota.pods.pod_facts import pod_facts

LABELS = {"nvidia.com/gpu.product": "NVIDIA-H200", "nvidia.com/gpu.memory": "143771"}
CHARGE = (("NVIDIA-H200", 1),)
CONTAINER = {"resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "1"}}}
ONE_CARD = msgspec.convert({"metadata": {"name": "p"}, "spec": {"containers": [CONTAINER]}}, Pod)


def node(name: str, **more: object) -> Node:
    status = {"allocatable": {"nvidia.com/gpu": 1}}
    body = {"metadata": {"name": name, "labels": LABELS}, "status": status}
    return msgspec.convert({**body, **more}, Node)


def bound(nodes: SimulatedNodes) -> str | None:
    return nodes.bind(shape_of(ONE_CARD.spec, pod_facts(ONE_CARD), CHARGE))


def test_first_with_room_then_the_next_then_none() -> None:
    nodes = SimulatedNodes([node("a"), node("b")], DEFAULT_TABLE)
    assert [bound(nodes) for _ in range(3)] == ["a", "b", None]


@pytest.mark.parametrize(
    "more",
    [
        {"spec": {"unschedulable": True}},
        {"spec": {"taints": [{"key": "team", "effect": "NoExecute"}]}},
        {"metadata": {"name": "a", "labels": {"nvidia.com/gpu.memory": "143771"}}},
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
    assert bound(SimulatedNodes([node("a", **more)], DEFAULT_TABLE)) is None


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("In", ["a"], ["in-a"]),
        ("NotIn", ["a"], ["in-b", "nowhere"]),
        ("DoesNotExist", [], ["nowhere"]),
        ("OfALaterKubernetes", ["a"], ["in-a", "in-b", "nowhere"]),
    ],
)
def test_the_ledger_says_where(operator: str, values: list[str], expected: list[str]) -> None:
    """Not by a rule of its own: of an operator that it does not know the scheduler decides."""
    zones = {"in-a": {"zone": "a"}, "in-b": {"zone": "b"}, "nowhere": {}}
    nodes = [node(name, metadata={"name": name, "labels": zone}) for name, zone in zones.items()]
    expression = {"key": "zone", "operator": operator, "values": values}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    pod = msgspec.convert({"metadata": {"name": "p"}, "spec": {"affinity": affinity}}, Pod)
    simulated = SimulatedNodes(nodes, DEFAULT_TABLE)
    assert simulated.matching(pod.spec) == expected
    assert simulated.bind(shape_of(pod.spec, pod_facts(pod), ())) == expected[0]


def test_of_many_shapes_each_still_gets_the_first_node_with_room() -> None:
    offer = {"allocatable": {"nvidia.com/gpu": 1000, "cpu": "1000"}}
    nodes = SimulatedNodes(
        [node("a", status={"allocatable": {}}), node("b", status=offer)], DEFAULT_TABLE
    )
    facts = pod_facts(ONE_CARD)
    facts_of = (dataclasses.replace(facts, cpu=cpu) for cpu in range(300))
    shapes = [shape_of(ONE_CARD.spec, one, CHARGE) for one in facts_of]
    assert {nodes.bind(shape) for shape in shapes} == {"b"}
