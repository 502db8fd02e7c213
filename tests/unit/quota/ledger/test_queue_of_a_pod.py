"""Whose a pod is, and under which policy: its group, itself, its namespace, the installation."""

import pytest

from builders import CARDS, Body, a_group, a_ledger, a_namespace, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Policy
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.pods import ChargeState

from ..red_queue import POD, RED, UNNAMED, a_cluster, totals


def queue_of(pod: PodBody, *things: Body, default: str = "") -> str:
    return a_ledger(*CARDS, *things, default_queue=default).queue_of(pod.facts())


def test_a_group_without_a_queue_leaves_it_to_the_pod() -> None:
    assert queue_of(UNNAMED.in_group("gang").in_queue("own"), a_group()) == "own"
    assert queue_of(UNNAMED.in_group("gang").in_queue("own")) == "own"


# --- V5: the group that Volcano makes for pods that have none ---------------------------------

VOLCANOS = "podgroup-0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11"


@pytest.mark.parametrize(
    ("own", "namespace", "default", "queue"),
    [
        ("own", "teams", "all", "own"),
        (None, "teams", "all", "teams"),
        (None, None, "all", "all"),
        (None, None, "", OUTSIDE),
        ("default", "teams", "all", "default"),
    ],
)
def test_v5_volcanos_default_changes_nobodys_queue(
    own: str | None, namespace: str | None, default: str, queue: str
) -> None:
    late = a_group(VOLCANOS).in_queue("default")
    pod = UNNAMED.in_group(VOLCANOS).in_queue(own)
    team = a_namespace().with_default_queue(namespace)
    assert queue_of(pod, team, late, default=default) == queue
    assert queue_of(pod.in_group(None), team, default=default) == queue


@pytest.mark.parametrize("default", ["", "red"])
def test_v5_a_pod_is_counted_once_and_stays_where_it_is_when_the_group_comes(default: str) -> None:
    ledger = a_ledger(*CARDS, RED, a_queue("default"), UNNAMED, default_queue=default)
    counted = totals(ledger, queue=default)
    assert counted == (1, 1, 0, 0)
    see(ledger, a_group(VOLCANOS).in_queue("default"), UNNAMED.in_group(VOLCANOS).at_revision(9))
    assert totals(ledger, queue=default) == counted
    assert totals(ledger, queue="default") == (0, 0, 0, 0)
    account = ledger.account("default")
    assert account is not None
    assert len(account.unadmitted) == 0


@pytest.mark.parametrize(
    ("pod", "things", "policy"),
    [
        (POD, [], Policy.DENY),
        (POD.owned_by("ReplicaSet"), [], Policy.DENY),
        (POD.owned_by("Job"), [], Policy.GATE),
        (POD.owned_by("Job", "batch.volcano.sh/v1alpha1"), [], Policy.GATE),
        (POD.in_group("gang"), [], Policy.DENY),
        (POD.in_group("gang"), [a_group().of(1)], Policy.DENY),
        (POD.in_group("gang"), [a_group().of(2)], Policy.GATE),
        (POD, [RED.with_policy("Gate")], Policy.GATE),
        (POD.owned_by("Job"), [RED.with_policy("Deny")], Policy.DENY),
    ],
)
def test_section_2_the_queue_says_the_policy_else_the_controller(
    pod: PodBody, things: list[Body], policy: Policy
) -> None:
    ledger = a_cluster(*things)
    assert ledger.policy_of(pod.facts(), "red") is policy
    see(ledger, pod.gated())
    charge_state = ChargeState.GATED_GATE if policy is Policy.GATE else ChargeState.GATED_DENY
    assert ledger.pods[pod.uid].charge_state is charge_state
