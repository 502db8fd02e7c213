"""What becomes of the sample workloads, and of edits of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cardquota.cli.simulate import Answer, Answers, Simulation, WorkloadAnswer
from cardquota.cli.simulate.inventory import sort_documents
from cardquota.cli.simulate.yaml_files import read_files
from cardquota.quota.reports import columns
from cardquota.settings import GateSetter, InstallationMode, Settings, Webhook

Simulate = Callable[..., Answers]
H200 = "NVIDIA-H200"
RTX4090 = "NVIDIA-GeForce-RTX-4090"
ALL = ("deployment", "deployment-either", "gang", "volcano-job", "gpu-mem", "hpa")
ADMITTED, GATED = Answer.ADMITTED, Answer.GATED
DENIED, UNMANAGED = Answer.DENIED, Answer.UNMANAGED


def named(answers: Answers, name: str, kind: str | None = None) -> WorkloadAnswer:
    (found,) = (w for w in answers.workloads if w.name == name and kind in (None, w.kind))
    return found


def given(found: WorkloadAnswer) -> list[Answer]:
    return [pod.answer for pod in found.pods]


def test_samples_together(simulate: Simulate) -> None:
    answers = simulate(*(f"{name}.yaml" for name in ALL))
    assert given(named(answers, "chat")) == [ADMITTED] * 2
    assert given(named(answers, "render")) == [ADMITTED] * 3
    assert given(named(answers, "train", "Job")) == [GATED] * 2
    assert given(named(answers, "train", "Volcano Job")) == [GATED] * 2
    assert given(named(answers, "packed")) == [UNMANAGED]
    assert [note for note in answers.notes if "HorizontalPodAutoscaler chat is skipped" in note]
    research, vision = (columns(queue) for queue in answers.queues)
    assert research.cards == "NVIDIA-H200 2/3, NVIDIA-H200/mig-1g.18gb-mixed 0/3"
    assert research.requested == "NVIDIA-H200 6"
    assert (research.cpu, research.memory) == ("1/4", "1Gi/4Gi")
    assert vision.cards == f"{RTX4090} 2/2, {RTX4090}-D 1/1"


def test_admitted_pod_without_room_stays_pending(simulate: Simulate) -> None:
    answers = simulate(
        "deployment.yaml", edit=lambda t: t.replace('nvidia.com/gpu: "8"', 'nvidia.com/gpu: "1"')
    )
    chat = named(answers, "chat")
    assert given(chat) == [ADMITTED] * 2
    assert [p.pending for p in chat.pods] == ["", "no node has room: stays Pending"]
    assert columns(answers.queues[0]).inqueue == "NVIDIA-H200 1"


def test_a_pod_with_a_gate_of_others_holds_its_quota_and_has_no_node(simulate: Simulate) -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: held, annotations: {scheduling.volcano.sh/queue-name: research}}
spec:
  schedulingGates: [{name: other.io/gate}]
  containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]
"""
    (held,) = named(simulate(text=text), "held").pods
    assert (held.answer, held.pending) == (ADMITTED, "waits at other.io/gate: stays Pending")


def test_pods_get_the_defaults_of_their_namespace_and_their_overhead(simulate: Simulate) -> None:
    """500m and 250m of a limit of 1: the second is one too many. Wherever they stand."""
    text = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: small, annotations: {volcano.sh/card.quota: '{"NVIDIA-H200": 3}'}}
spec: {capability: {cpu: "1"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template:
    metadata: {annotations: {scheduling.volcano.sh/queue-name: small}}
    spec: {runtimeClassName: kata, containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, default: {cpu: 500m}}]}
---
"""
    runtime_class = """
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m}}
"""
    answers = simulate(text=text)
    assert [pod.answer for pod in answers.workloads[0].pods] == [ADMITTED, ADMITTED]
    note = "RuntimeClass kata is not in the files: its pods are taken without its overhead"
    assert answers.notes.count(note) == 1
    answers = simulate(text=text + runtime_class)
    assert [pod.answer for pod in answers.workloads[0].pods] == [ADMITTED, DENIED]
    assert note not in answers.notes


def test_p7_a_device_class_tells_by_which_resource_devices_are_claimed(simulate: Simulate) -> None:
    text = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: npu}
spec: {extendedResourceName: example.com/npu}
---
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {volcano.sh/card-quota: enforced}}
---
apiVersion: v1
kind: Pod
metadata: {name: claims}
spec: {containers: [{resources: {limits: {example.com/npu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {containers: [{resources: {limits: {example.com/other: 1}}}]}
"""
    answers = simulate(text=text)
    (refused,) = named(answers, "claims").pods
    assert (refused.answer, refused.reason) == (DENIED, "DeviceClaimNotCounted")
    assert given(named(answers, "other")) == [UNMANAGED]


def test_p7_a_claim_of_no_card_is_let_by_and_other_claims_are_not(simulate: Simulate) -> None:
    """Beside Volcano, in a Job too."""
    text = """
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {volcano.sh/card-quota: enforced}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: CLASS}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: CLASS.example.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{}], resourceClaims: [{name: c, resourceClaimTemplateName: NAMED}]}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: job}
spec:
  queue: research
  tasks:
  - replicas: 1
    template:
      spec:
        containers: [{}]
        resourceClaims: [{name: c, resourceClaimTemplateName: NAMED}]
"""
    settings = Settings(scheduler="volcano", device_classes_without_cards=("nic.example.com",))

    def simulated(there: str, claimed: str) -> Answers:
        found = text.replace("CLASS", there).replace("NAMED", claimed)
        return simulate(text=found, settings=settings)

    answers = simulated("nic", "nic")
    (a,) = named(answers, "a").pods
    assert (a.answer, a.reason, a.warnings) == (UNMANAGED, "", ())
    assert answers.refused == []
    for there, claimed, why in (
        ("nic", "other", "ResourceClaimTemplate <other> does not exist, so what"),
        ("gpu", "gpu", "ResourceClaimTemplate <gpu> is of DeviceClass <gpu.example.com>; if that"),
    ):
        answers = simulated(there, claimed)
        (a,) = named(answers, "a").pods
        assert (a.answer, a.reason) == (DENIED, "DeviceClaimNotCounted")
        assert f"; {why}" in a.text
        assert [refused.name for refused in answers.refused] == ["default/job"]


def test_in_audit_mode_an_answer_has_the_reason_that_there_would_be(simulate: Simulate) -> None:
    audit = Settings(mode=InstallationMode.AUDIT)
    answers = simulate(
        "deployment.yaml",
        edit=lambda t: t.replace('{"NVIDIA-H200": 3', '{"NVIDIA-H200": 0'),
        settings=audit,
    )
    reasons = {(pod.answer, pod.reason) for pod in named(answers, "chat").pods}
    assert reasons == {(UNMANAGED, "InsufficientCardQuota")}


@pytest.mark.parametrize(
    ("setter", "labels", "answer", "told"),
    [
        ("webhook", "{}", ADMITTED, True),
        ("policy", "{}", ADMITTED, False),
        ("webhook", '{volcano.sh/card-quota: "off"}', UNMANAGED, False),
    ],
)
def test_i3_keys_of_ours_are_left_out_where_the_webhook_changes_pods(
    simulate: Simulate, setter: str, labels: str, answer: Answer, *, told: bool
) -> None:
    text = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: default, labels: {labels}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: restored
  annotations: {{scheduling.volcano.sh/queue-name: research, volcano.sh/card.term: x/1}}
spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}
"""
    settings = Settings(webhook=Webhook(gate=GateSetter(setter)))
    (pod,) = named(simulate(text=text, settings=settings), "restored").pods
    assert pod.answer is answer
    assert any(one.startswith("left out: card.term;") for one in pod.warnings) is told


def test_a_volcano_job_whose_group_is_refused_has_no_pods(simulate: Simulate) -> None:
    def five(text: str) -> str:
        return text.replace('"NVIDIA-H200": 2}', '"NVIDIA-H200": 5}')

    answers = simulate("volcano-job.yaml", edit=five)
    (refused,) = answers.refused
    assert refused.name.startswith("default/train-")
    job = named(answers, "train", "Volcano Job")
    assert (job.pods, job.note) == ([], "its pod group is refused, so it has no pods")


def test_a_pod_group_has_the_priority_class_that_it_names(tmp_path: Path) -> None:
    text = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
"""
    (tmp_path / "class.yaml").write_text(text)
    inventory = sort_documents(read_files([str(tmp_path)]))
    simulation = Simulation(Settings.model_construct(), inventory)
    simulation.run()
    assert simulation.ledger.priorities == {"urgent": 1000}


def test_v4_a_volcano_job_that_never_runs_is_refused_as_by_the_webhook(simulate: Simulate) -> None:
    def large(text: str) -> str:
        return text.replace("replicas: 1", "replicas: 2").replace("Available: 2", "Available: 4")

    beside = Settings(scheduler="volcano")
    answers = simulate("volcano-job.yaml", edit=large, settings=beside)
    (refused,) = answers.refused
    assert (refused.kind, refused.name) == ("Volcano Job", "default/train")
    assert "its minimum of 4 pods, which start together: Queue <research> has" in refused.text
    assert named(answers, "train").pods == []
    assert simulate("volcano-job.yaml", edit=large).refused == []
    audit = Settings(scheduler="volcano", mode=InstallationMode.AUDIT)
    answers = simulate("volcano-job.yaml", edit=large, settings=audit)
    assert any("audit: would be refused or wait: Job <default/train>" in n for n in answers.notes)
