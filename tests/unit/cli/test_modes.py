"""Audit mode, the namespace's label, exempt namespaces: who is let by, and what is said."""

from collections.abc import Callable

import pytest

from cardquota.cli.answers import Answer, Answers, WorkloadAnswer
from cardquota.settings import InstallationMode, Settings

Simulate = Callable[..., Answers]
DENIED, LET_BY = Answer.DENIED, Answer.LET_BY


def only(answers: Answers) -> WorkloadAnswer:
    (found,) = answers.workloads
    return found


def given(found: WorkloadAnswer) -> list[Answer]:
    return [pod.answer for pod in found.pods]


def replicas(count: int) -> Callable[[str], str]:
    return lambda text: text.replace("replicas: 2", f"replicas: {count}")


def test_audit_mode_denies_nothing_and_says_what_would_be(simulate: Simulate) -> None:
    settings = Settings.model_construct(mode=InstallationMode.AUDIT)
    answers = simulate("deployment.yaml", edit=replicas(4), settings=settings)
    chat = only(answers)
    assert given(chat) == [LET_BY] * 4
    assert [p.text for p in chat.pods[:3]] == ["audit: would be admitted"] * 3
    assert chat.pods[3].text.startswith("audit: would not be let through: Queue <research>")
    assert answers.queues[0].over == (("NVIDIA-H200", 4, 3),)


def test_audit_mode_takes_a_bad_queue_with_a_note(simulate: Simulate) -> None:
    settings = Settings.model_construct(mode=InstallationMode.AUDIT)
    answers = simulate(settings=settings, edit=lambda t: t.replace("weight: 1", "weight: -1"))
    assert answers.refused == []
    assert answers.notes == [
        "Queue research: audit: would not be let through: spec.weight is -1, at least 1 is needed"
    ]
    assert [queue.name for queue in answers.queues] == ["research", "vision"]


@pytest.mark.parametrize(
    ("label", "answer", "text"),
    [
        ("off", LET_BY, "card quotas are off in namespace default"),
        ("audit", LET_BY, "audit: would not be let through"),
        ("enforced", DENIED, "Queue <research>"),
    ],
)
def test_namespace_label_counts(simulate: Simulate, label: str, answer: Answer, text: str) -> None:
    namespace = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: default, labels: {{volcano.sh/card-quota: "{label}"}}}}
"""
    chat = only(simulate("deployment.yaml", edit=replicas(4), text=namespace))
    assert chat.pods[3].answer is answer
    assert chat.pods[3].text.startswith(text)


def test_exempt_namespace_is_let_by(simulate: Simulate) -> None:
    answers = simulate(
        "deployment.yaml",
        edit=lambda t: t.replace("name: chat\n", "name: chat\n  namespace: kube-system\n", 1),
    )
    assert {p.text for p in only(answers).pods} == {"namespace kube-system is exempt"}
