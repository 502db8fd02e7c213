"""The samples of groups: applied as they are, each waits whole and starts whole (E1, E2).

Pods are written by the plane's own controllers; for JobSets and PyTorchJobs, of which the plane has
the definitions, as their controllers write them.
"""

import pytest

from cardquota.quota import vocabulary as v
from integration.team import notes, released

from .research import GroupSample, Research

pytestmark = pytest.mark.slow

H200 = "NVIDIA-H200"
ONE_EACH = [{H200: 1}, {H200: 1}]

SAMPLES = [
    GroupSample("gang.yaml", "train", 2, waiting=2),
    GroupSample("groups/indexed-job.yaml", "shards", 2, waiting=2),
    GroupSample("groups/jobset.yaml", "pretrain", 3, waiting=3),
    GroupSample("groups/pytorchjob.yaml", "finetune", 2, waiting=0),
    GroupSample("groups/deployment.yaml", "ensemble", 2, waiting=2),
    GroupSample("groups/pods.yaml", "duo", 2, waiting=2),
]


def test_every_manifest_of_a_group_is_tried() -> None:
    found = {f"groups/{path.name}" for path in SAMPLES[1].path.parent.glob("*.yaml")}
    assert found | {"gang.yaml"} == {sample.file for sample in SAMPLES}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_one_starts_whole_and_the_next_waits_until_there_is_room(
    research: Research, sample: GroupSample
) -> None:
    """Two of three cards are held by the first, so the second waits, though one pod would fit."""
    first = f"{sample.name}-first"
    research.cluster.apply(sample.renamed(first))
    cards = research.until_charged(sample, first)
    assert [one for one in cards if one] == ONE_EACH
    research.until_row(H200, allocated=2, inqueue=0, requested=2)
    research.until(lambda: research.phase(first) == "Running", "phase Running")

    research.applies(sample.path)
    research.controllers_write()
    told = research.until_told(sample.name, v.Reason.INSUFFICIENT_CARD)
    assert told["message"].startswith(
        f"Queue <research> has insufficient <{H200}> quota: "
        "requested <2>, total would be <4>, but capability is <3>"
    )
    research.until(lambda: research.phase(sample.name) == "Pending", "phase Pending")
    research.until(lambda: len(research.members(sample.name)) == sample.waiting, "those that wait")
    assert not any(released(pod) for pod in research.members(sample.name))
    research.until_row(H200, allocated=2, inqueue=0)

    research.removes(sample, first)

    cards = research.until_charged(sample, sample.name)
    assert [one for one in cards if one] == ONE_EACH


def test_the_pods_of_a_pytorch_job_come_once_its_group_is_enqueued(research: Research) -> None:
    """E1: queue, priorityClass, minAvailable and cards are handed on from the job to its group."""
    sample = next(one for one in SAMPLES if one.name == "finetune")
    research.cluster.apply(sample.renamed("first"))
    research.controllers_write()
    assert research.pods() == []
    research.until(lambda: research.phase("first") == "Inqueue", "phase Inqueue")
    research.until_told("first", v.ENQUEUED)
    research.until_row(H200, inqueue=2, allocated=0, requested=0)
    research.until_charged(sample, "first")
    research.until(lambda: research.phase("first") == "Running", "phase Running")
    (pod, *_) = research.members("first")
    assert notes(pod)[v.GROUP_NAME] == "first"
    assert pod["spec"]["schedulerName"] == "default-scheduler"
