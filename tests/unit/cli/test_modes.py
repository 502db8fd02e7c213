"""Audit mode, the namespace's label, exempt namespaces: who is unmanaged, and what is said."""

from collections.abc import Callable

import pytest

from cardquota.cli.simulate import Answer, Answers, WorkloadAnswer
from cardquota.quota.messages import request_messages
from cardquota.settings import GateSetter, InstallationMode, Settings, Webhook

Simulate = Callable[..., Answers]
ADMITTED, DENIED, UNMANAGED = Answer.ADMITTED, Answer.DENIED, Answer.UNMANAGED


def only(answers: Answers) -> WorkloadAnswer:
    (found,) = answers.workloads
    return found


def test_audit_mode_takes_a_bad_queue_with_a_note(simulate: Simulate) -> None:
    settings = Settings.model_construct(mode=InstallationMode.AUDIT)
    answers = simulate(settings=settings, edit=lambda t: t.replace("weight: 1", "weight: -1"))
    assert answers.refused == []
    assert answers.notes == [
        "Queue research: audit: would be refused or wait: spec.weight is -1, at least 1 is needed"
    ]
    assert [queue.name for queue in answers.queues] == ["research", "vision"]


def test_exempt_namespace_is_unmanaged(simulate: Simulate) -> None:
    answers = simulate(
        "deployment.yaml",
        edit=lambda t: t.replace("name: chat\n", "name: chat\n  namespace: kube-system\n", 1),
    )
    assert {p.text for p in only(answers).pods} == {"namespace kube-system is exempt"}


WITHOUT_ROW = """
apiVersion: v1
kind: Node
metadata: {{name: x, labels: {{new.example/xpu.product: X1, new.example/xpu.memory: "81559"}}}}
status: {{allocatable: {{new.example/xpu: 8}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: xs, annotations: {{volcano.sh/card.quota: '{{"X1": 2}}'}}}}
---
apiVersion: v1
kind: Namespace
metadata:
  name: default
  labels: {{volcano.sh/card-quota: "{label}"}}
  annotations: {{scheduling.volcano.sh/queue-name: xs}}
---
apiVersion: v1
kind: Pod
metadata: {{name: stock, annotations: {{{notes}}}}}
spec: {{containers: [{{resources: {{limits: {{new.example/xpu: 1}}}}}}]}}
"""
BY_POLICY = Settings(webhook=Webhook(gate=GateSetter.POLICY))
PASSES_BY = "new.example/xpu is in no vendor row: the webhook does not see pods that ask for it"
OFF = "card quotas are off in namespace default"


@pytest.mark.parametrize(
    ("settings", "label", "answer", "text"),
    [
        (Settings(), "enforced", ADMITTED, ""),
        (BY_POLICY, "enforced", DENIED, "Queue <xs>, requested <1> of <new.example/xpu>: no vendo"),
        (Settings(), "", UNMANAGED, PASSES_BY),
        (BY_POLICY, "", UNMANAGED, PASSES_BY),
        (Settings(), "audit", UNMANAGED, PASSES_BY),
        (Settings(), "off", UNMANAGED, OFF),
        (Settings(mode=InstallationMode.AUDIT), "enforced", UNMANAGED, "audit: would be admitted"),
    ],
)
def test_a_card_of_no_vendor_row_is_answered_as_at_create(
    simulate: Simulate, settings: Settings, label: str, answer: Answer, text: str
) -> None:
    """D1, D6: charged in any case, and refused or gated where the webhook sees its pod."""
    written = WITHOUT_ROW.format(label=label, notes="")
    answers = simulate(cluster=(), text=written, settings=settings)
    (stock,) = only(answers).pods
    assert (stock.answer, stock.warnings) == (answer, ())
    assert stock.text.startswith(text)
    (card,) = answers.queues[0].cards
    assert card.allocated == (answer is not DENIED and label != "off")


@pytest.mark.parametrize("settings", [Settings(), BY_POLICY])
def test_its_pod_is_seen_if_it_names_its_queue(simulate: Simulate, settings: Settings) -> None:
    for label in ("enforced", ""):
        notes = "scheduling.volcano.sh/queue-name: xs"
        text = WITHOUT_ROW.format(label=label, notes=notes)
        (one,) = only(simulate(cluster=(), text=text, settings=settings)).pods
        assert one.answer is ADMITTED


def test_p7_claims_are_warned_of_in_an_audited_namespace(simulate: Simulate) -> None:
    """Elsewhere a pod that has nothing to do with cards never reaches the webhook."""
    for label, warnings in (("audit", (request_messages.claim_not_counted(),)), ("", ())):
        text = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: default, labels: {{volcano.sh/card-quota: "{label}"}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: claims}}
spec: {{containers: [], resourceClaims: [{{name: device}}]}}
"""
        (found,) = only(simulate(text=text)).pods
        assert (found.answer, found.warnings) == (UNMANAGED, warnings)
