"""Which pods each kind of workload makes."""

import pytest

from cardquota.cli.simulate import Expansion, expand
from cardquota.cli.simulate.inventory import WrittenWorkload, sort_documents
from cardquota.cli.simulate.yaml_files import Document
from cardquota.quota.objects import PodSpec
from cardquota.quota.selectors import Selector

TEMPLATE = {
    "metadata": {"annotations": {"volcano.sh/card.name": "NVIDIA-H200"}},
    "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]},
}


def made(group: str, kind: str, spec: dict[str, object], name: str = "w") -> Expansion:
    body = {"metadata": {"name": name, "namespace": "team"}, "spec": spec}
    (workload,) = sort_documents([Document("here", group, kind, body)]).workloads
    assert isinstance(workload, WrittenWorkload)
    return expand(workload, lambda _: ["node-a", "node-b"])


def names(found: Expansion) -> list[str]:
    return [pod.metadata.name for pod in found.pods]


def owners(found: Expansion) -> set[str]:
    found_owners = (owner for pod in found.pods for owner in pod.metadata.owner_references)
    return {owner.kind for owner in found_owners if owner.controller}


@pytest.mark.parametrize(
    ("group", "kind", "more", "count", "owner"),
    [
        ("apps", "Deployment", {}, 1, "ReplicaSet"),
        ("apps", "Deployment", {"replicas": 3}, 3, "ReplicaSet"),
        ("apps", "ReplicaSet", {"replicas": 2}, 2, "ReplicaSet"),
        ("apps", "DaemonSet", {}, 2, "DaemonSet"),
        ("batch", "Job", {}, 1, "Job"),
        ("batch", "Job", {"parallelism": 5, "completions": 2}, 2, "Job"),
    ],
)
def test_generated_names_and_owners(
    group: str, kind: str, more: dict[str, object], count: int, owner: str
) -> None:
    found = made(group, kind, {"template": TEMPLATE, **more})
    assert len(set(names(found))) == count
    assert all(name.startswith("w-") for name in names(found))
    assert owners(found) == {owner}
    assert {pod.metadata.namespace for pod in found.pods} == {"team"}
    assert names(found) == names(made(group, kind, {"template": TEMPLATE, **more}))


def test_ordinals() -> None:
    found = made("apps", "StatefulSet", {"replicas": 2, "template": TEMPLATE})
    assert names(found) == ["w-0", "w-1"]
    spec = {"parallelism": 2, "completionMode": "Indexed", "template": TEMPLATE}
    first, second = names(made("batch", "Job", spec))
    assert first.startswith("w-0-")
    assert second.startswith("w-1-")


def test_daemon_pods_are_bound_to_their_nodes() -> None:
    found = made("apps", "DaemonSet", {"template": TEMPLATE})

    def node(spec: PodSpec) -> tuple[str, ...] | None:
        (term,) = Selector.of(spec).terms or ()
        (field,) = term.match_fields or ()
        return field.values

    assert [node(pod.spec) for pod in found.pods] == [("node-a",), ("node-b",)]


def test_volcano_job_makes_its_group_and_names_it_on_the_pods() -> None:
    tasks = [
        {"name": "master", "replicas": 1, "template": TEMPLATE},
        {"replicas": 2, "template": TEMPLATE, "minAvailable": 1},
    ]
    found = made("batch.volcano.sh", "Job", {"queue": "research", "tasks": tasks})
    assert names(found) == ["w-master-0", "w-default1-0", "w-default1-1"]
    assert owners(found) == {"Job"}
    assert found.group is not None
    assert (found.group.spec.queue, found.group.spec.min_member) == ("research", 2)
    for pod in found.pods:
        notes = pod.metadata.annotations
        assert notes is not None
        assert notes.group == found.group.metadata.name
        assert notes.queue_volcano_job == "research"
        assert notes.card_name == "NVIDIA-H200"


def test_volcano_job_without_queue_takes_volcanos_default() -> None:
    found = made("batch.volcano.sh", "Job", {"tasks": []})
    assert found.group is not None
    assert found.group.spec.queue == "default"


@pytest.mark.parametrize(
    ("group", "kind", "spec", "note"),
    [
        ("batch", "CronJob", {}, "not run: it creates its Jobs on a schedule"),
        ("batch", "Job", {"template": TEMPLATE, "suspend": True}, "suspended: it has no pods"),
        ("apps", "Deployment", {"template": TEMPLATE, "replicas": 0}, "asks for no pods"),
    ],
)
def test_no_pods_and_why(group: str, kind: str, spec: dict[str, object], note: str) -> None:
    found = made(group, kind, spec)
    assert (found.pods, found.note) == ((), note)
