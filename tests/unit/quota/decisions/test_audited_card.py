"""A card that is named where nothing is enforced steers nothing, and that is said (P5)."""

import pytest

from builders import CARDS, H200, H800, a_ledger, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.decisions import card_not_steered, judge_create
from cardquota.quota.messages import queue_messages

NAMED = a_pod().in_queue("red").naming(H200).asking_for(9)


def told(pod: PodBody, mode: str = "audit") -> tuple[str, ...]:
    red = a_queue("red").with_quota({H200: 3})
    ledger = a_ledger(*CARDS, red, a_namespace("team").in_mode(mode))
    facts = pod.facts()
    return card_not_steered(ledger, facts, judge_create(ledger, facts))


@pytest.mark.parametrize("pod", [NAMED, NAMED.naming(f"{H200}|{H800}"), NAMED.in_queue("gone")])
def test_a_name_in_audit_is_said_to_steer_nothing(pod: PodBody) -> None:
    assert told(pod) == (queue_messages.card_in_audit(str(pod.facts().card_text)),)


def test_nothing_is_said_where_the_name_steers_or_is_wrong_or_absent() -> None:
    """Of a pod without a queue it is said with the verdict."""
    assert told(NAMED, "enforced") == ()
    assert told(NAMED.naming("NVIDIA-H2OO")) == ()
    assert told(NAMED.naming(None)) == ()
    assert told(NAMED.in_queue(None)) == ()
    assert "any model its node selector allows" in queue_messages.card_without_queue(H200)


@pytest.mark.parametrize(("mode", "rest"), [("audit", ""), ("enforced", ": the pod waits until")])
def test_in_audit_no_pod_waits_for_a_card_of_no_node(mode: str, rest: str) -> None:
    """P4: without a gate it may run on another model at once."""
    red = a_queue("red").with_quota({"NVIDIA-B300": 9})
    ledger = a_ledger(*CARDS, red, a_namespace("team").in_mode(mode))
    (said,) = judge_create(ledger, NAMED.naming("NVIDIA-B300").facts()).warnings
    assert said.removesuffix(" one has") == f"no node has card <NVIDIA-B300> at present{rest}"
