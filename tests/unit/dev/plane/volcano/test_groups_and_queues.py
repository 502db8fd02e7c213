import pytest

from cardquota_dev.plane.volcano.controllers.group_controller import (
    lacks_group,
    pod_group,
    pod_group_name,
)
from cardquota_dev.plane.volcano.controllers.queue_controller import queue_status
from cardquota_dev.plane.volcano.known_fields import group_with_status, queue_with_status

from .volcano_objects import a_pod, a_pod_group, an_open_queue


def owner(kind: str, *, controller: bool = True) -> dict[str, object]:
    return {"kind": kind, "name": "web", "uid": "of-the-owner", "controller": controller}


def test_pods_of_one_controller_have_one_group_and_a_bare_pod_its_own() -> None:
    pod = a_pod("a", group="")
    assert lacks_group(pod)
    assert pod_group_name(pod) == "podgroup-uid-a"
    assert pod_group(pod, {})["metadata"]["ownerReferences"][0]["kind"] == "Pod"
    pod["metadata"]["ownerReferences"] = [owner("ReplicaSet")]
    assert pod_group_name(pod) == "podgroup-of-the-owner"
    group = pod_group(pod, {"volcano.sh/x": "1", "example.com/y": "2"})
    assert group["metadata"]["annotations"] == {"volcano.sh/x": "1"}
    assert group["metadata"]["ownerReferences"] == [owner("ReplicaSet")]
    assert (group["spec"]["minMember"], group["spec"]["queue"]) == (1, "default")
    assert group["status"] == {"phase": "Pending"}


def test_others_pods_and_those_with_a_group_are_left_alone() -> None:
    assert not lacks_group(a_pod("a", group="g"))
    assert not lacks_group(a_pod("a", group="", deleted=True))
    pod = a_pod("a", group="")
    pod["spec"]["schedulerName"] = "default-scheduler"
    assert not lacks_group(pod)


def test_a_bare_pod_names_its_queue_by_an_annotation_of_its_own() -> None:
    pod = a_pod("a", group="")
    pod["metadata"]["annotations"]["volcano.sh/queue-name"] = "not-this"
    assert pod_group(pod, {})["spec"]["queue"] == "default"
    pod["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] = "research"
    assert pod_group(pod, {})["spec"]["queue"] == "research"


@pytest.mark.parametrize(
    ("state", "counts", "after"),
    [
        ("", {}, "Open"),
        ("Open", {"Running": 1}, "Open"),
        ("Closing", {"Running": 1}, "Closing"),
        ("Closing", {}, "Closed"),
        ("Closed", {}, "Closed"),
    ],
)
def test_states_of_a_queue(state: str, counts: dict[str, int], after: str) -> None:
    assert queue_status(an_open_queue(state=state), counts)["state"] == after


def test_counts_appear_with_the_first_group_and_stay() -> None:
    queue = an_open_queue()
    assert queue_status(queue, {}) == {"state": "Open"}
    queue["status"] = queue_status(queue, {"Running": 2, "Unknown": 1})
    assert queue["status"] == {"state": "Open", "running": 2, "unknown": 1}
    assert queue_status(queue, {}) == {"state": "Open", "running": 0, "unknown": 0}


def test_a_whole_object_loses_what_volcano_does_not_know() -> None:
    queue = queue_with_status(an_open_queue(), {"state": "Open", "cards": [], "conditions": []})
    assert queue["status"] == {"allocated": {}, "state": "Open"}
    group = a_pod_group()
    group["spec"]["topologyAffinity"] = {}
    written = group_with_status(group, {"phase": "Running", "columns": {}})
    assert written["status"] == {"phase": "Running"}
    assert "topologyAffinity" not in written["spec"]
    assert written["metadata"] == group["metadata"]
