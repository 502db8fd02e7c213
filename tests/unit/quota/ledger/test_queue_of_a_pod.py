"""Whose a pod is, and under which policy: its group, itself, its namespace, the installation."""

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Mode, Policy
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.pods import ChargeState

from ..red_queue import POD, RED, UNNAMED, a_cluster, totals


def queue_of(pod: PodBody, *things: Body, default: str = "") -> str:
    return a_ledger(*CARDS, *things, default_queue=default).queue_of(pod.facts())


def test_a_pods_group_says_its_queue() -> None:
    pod = UNNAMED.in_group("gang").in_queue("own")
    assert queue_of(pod, a_group().in_queue("groups")) == "groups"


def test_a_group_without_a_queue_leaves_it_to_the_pod() -> None:
    assert queue_of(UNNAMED.in_group("gang").in_queue("own"), a_group()) == "own"
    assert queue_of(UNNAMED.in_group("gang").in_queue("own")) == "own"


def test_the_namespace_says_the_queue_of_pods_that_name_none() -> None:
    team = a_namespace().with_default_queue("teams")
    assert queue_of(UNNAMED, team) == "teams"
    assert queue_of(UNNAMED.in_queue("own"), team) == "own"
    assert queue_of(UNNAMED.in_namespace("other"), team) == OUTSIDE


def test_the_installation_may_have_a_default_queue() -> None:
    assert queue_of(UNNAMED, default="all") == "all"
    assert queue_of(UNNAMED, a_namespace().with_default_queue("teams"), default="all") == "teams"


def test_defaults_are_for_pods_that_use_cards() -> None:
    pod = a_pod().in_group("gang").with_cpu("1")
    assert queue_of(pod, a_namespace().with_default_queue("teams"), default="all") == OUTSIDE


def test_a_namespace_that_is_off_has_no_default() -> None:
    team = a_namespace().with_default_queue("teams").in_mode("off")
    assert queue_of(UNNAMED, team, default="all") == OUTSIDE


def test_a_pod_with_cards_and_no_queue_is_counted_outside() -> None:
    ledger = a_ledger(*CARDS, UNNAMED.with_cpu("1"))
    assert totals(ledger, queue=OUTSIDE) == (1, 1, 0, 0)
    assert totals(ledger, "cpu", OUTSIDE) == (0, 0, 0, 0)


def test_a_pod_follows_its_namespace_until_it_is_stamped() -> None:
    stamped = UNNAMED.with_uid("stamped").stamped("red", {H200: 1})
    blue = a_queue("blue")
    ledger = a_cluster(blue, a_namespace().with_default_queue("red"), UNNAMED, stamped)
    see(ledger, a_namespace().with_default_queue("blue"))
    assert totals(ledger, queue="blue") == (1, 1, 0, 0)
    ledger.namespace_gone("team")
    assert totals(ledger, queue=OUTSIDE) == (1, 1, 0, 0)
    assert totals(ledger) == (1, 1, 0, 0)


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


def test_v5_another_queue_of_such_a_group_says_nothing_either() -> None:
    late = a_group(VOLCANOS).in_queue("groups")
    assert queue_of(UNNAMED.in_group(VOLCANOS), late, default="all") == "all"


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


def test_a_pod_moves_with_its_late_group() -> None:
    ledger = a_cluster(a_queue("blue"), POD.in_group("gang"))
    see(ledger, a_group().in_queue("blue"))
    assert (totals(ledger), totals(ledger, queue="blue")) == ((0, 0, 0, 0), (2, 2, 0, 0))
    ledger.group_gone("team/gang")
    assert totals(ledger) == (2, 2, 0, 0)


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


def test_a_change_of_policy_moves_who_is_gated() -> None:
    ledger = a_cluster(POD.gated())
    see(ledger, RED.with_policy("Gate"))
    assert ledger.pods[POD.uid].charge_state is ChargeState.GATED_GATE


def test_the_mode_of_a_namespace() -> None:
    assert a_ledger().mode_in("team") is Mode.ENFORCE
    assert a_ledger(audit=True).mode_in("team") is Mode.AUDIT
    assert a_ledger(a_namespace().in_mode("off")).mode_in("team") is Mode.OFF
