from typing import Any

import pytest

from cardquota_dev.plane.volcano.scheduler.node_fit import misfit

from .volcano_objects import a_node, a_pod

LABELS = {"card": "H200", "memory": "141"}


def why(spec: dict[str, Any], **node: Any) -> str:
    found = a_node("n1", labels=LABELS)
    found["spec"] |= node
    pod = a_pod("p")
    pod["spec"] |= spec
    return misfit(pod, found, {"cpu": 1_000}, {"cpu": 1_000})


def required(*expressions: dict[str, Any], fields: bool = False) -> dict[str, Any]:
    kind = "matchFields" if fields else "matchExpressions"
    terms = [{kind: [one]} for one in expressions]
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {name: {"nodeSelectorTerms": terms}}}}


def needs(operator: str, *values: str, key: str = "card") -> dict[str, Any]:
    found: dict[str, Any] = {"key": key, "operator": operator}
    return {**found, "values": list(values)} if values else found


@pytest.mark.parametrize(
    ("requirement", "fits"),
    [
        (needs("In", "H800", "H200"), True),
        (needs("In", "H800"), False),
        (needs("NotIn", "H800"), True),
        (needs("NotIn", "H200"), False),
        (needs("NotIn", "x", key="absent"), True),
        (needs("Exists"), True),
        (needs("Exists", key="absent"), False),
        (needs("DoesNotExist"), False),
        (needs("DoesNotExist", key="absent"), True),
        (needs("Gt", "80", key="memory"), True),
        (needs("Gt", "141", key="memory"), False),
        (needs("Lt", "142", key="memory"), True),
        (needs("Lt", "142"), False),
        (needs("Lt", "142", key="absent"), False),
    ],
)
def test_required_affinity(requirement: dict[str, Any], fits: bool) -> None:
    assert (why(required(requirement)) == "") is fits


def test_one_term_is_enough_and_none_is_not() -> None:
    assert why(required(needs("In", "H800"), needs("Exists"))) == ""
    assert why(required()) == "node(s) didn't match Pod's node affinity"
    assert (
        why(required({"key": "metadata.name", "operator": "In", "values": ["n1"]}, fields=True))
        == ""
    )


def test_selector() -> None:
    assert why({"nodeSelector": {"card": "H200"}}) == ""
    assert why({"nodeSelector": {"card": "H800"}}) == "node(s) didn't match Pod's node selector"


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_taints(toleration: dict[str, str], fits: bool) -> None:
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    assert why({}, taints=[taint]) == "node(s) had untolerated taint k"
    assert why({}, taints=[{**taint, "effect": "PreferNoSchedule"}]) == ""
    assert (why({"tolerations": [toleration]}, taints=[taint]) == "") is fits


def test_room_and_cordon() -> None:
    assert misfit(a_pod("p"), a_node("n1"), {"cpu": 2}, {"cpu": 1}) == "Insufficient cpu"
    assert why({}, unschedulable=True) == "node(s) were unschedulable"
