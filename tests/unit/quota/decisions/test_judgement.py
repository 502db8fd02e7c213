"""E2, E4, E5, E9 and section 9: may this pod, or this gang, be released, and if not, why?"""

import pytest

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import (
    QUEUE_NAME,
    Effect,
    Mode,
    Outcome,
    Policy,
    Reason,
    Shortfall,
    Verdict,
    effect_of,
)
from cardquota.quota.decisions import (
    judge_create,
    judge_gang,
    judge_release,
    queue_not_named,
    queue_on_its_way,
)
from cardquota.quota.ledger import Ledger
from cardquota.quota.messages import (
    gate_messages,
    queue_messages,
    request_messages,
    shortfall_messages,
)

QUEUE = a_queue("cr-queue1").with_quota({H200: 3, H800: 2})


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things)


def a_request(name: str = "pod", cards: int = 1, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("cr-queue1").naming(card).asking_for(cards)


def create(ledger: Ledger, pod: PodBody) -> Verdict:
    return judge_create(ledger, pod.facts())


def gang(ledger: Ledger, *pods: PodBody) -> tuple[Verdict, list[tuple[tuple[str, int], ...]]]:
    return judge_gang(ledger, [ledger.pods[pod.uid] for pod in pods])


# --- E2 at create: Deny counts Deny -------------------------------------------------------------


def test_e2_gated_deny_pods_that_have_been_seen_are_on_their_way() -> None:
    ledger = a_cluster(a_request("gated", 2).gated())
    assert create(ledger, a_request(cards=2)).shortfalls == (Shortfall(H200, 2, 4, 3),)


def test_e2_who_is_on_the_way_with_a_choice_counts_with_the_first_that_is_left() -> None:
    gated = a_request("gated", card=f"{H200}|{H800}").gated()
    assert create(a_cluster(gated), a_request(cards=3)).shortfalls == (Shortfall(H200, 3, 4, 3),)
    full = a_request("full", 3).on_node("h200-a")
    other = create(a_cluster(gated, full), a_request(cards=2, card=H800))
    assert other.shortfalls == (Shortfall(H800, 2, 3, 2),)


# --- E9, P7 -------------------------------------------------------------------------------------


def test_i4_a_queue_that_only_an_unseen_group_knows_is_not_named() -> None:
    ledger = a_cluster(a_namespace().with_default_queue("cr-queue1"))
    pod = a_pod().in_group("gang").naming(H200).asking_for(1)
    assert create(ledger, pod.on_node("h200-a")).text == (
        f"the pod requests <1> of <{H200}>: {request_messages.node_named('h200-a')}"
    )
    assert create(ledger, pod.naming("typo")).text.startswith(
        "the pod requests <1> of <typo>: card <typo> is not known"
    )


def test_p7_the_refusal_names_queue_and_amounts_where_it_has_them() -> None:
    enforced = a_cluster(a_namespace().in_mode("enforced"))
    why = request_messages.device_claimed()
    assert create(enforced, a_request().claiming_devices()).text == (
        f"Queue <cr-queue1>, requested <1> of <{H200}>: {why}"
    )
    queued = a_pod().in_queue("cr-queue1").claiming_devices()
    assert create(enforced, queued).text == f"Queue <cr-queue1>: {why}"
    assert create(enforced, a_pod().claiming_devices()).text == why


# --- pods without a queue -----------------------------------------------------------------------


def test_a_gated_pod_that_lost_its_queue_is_told() -> None:
    pod = a_pod().asking_for(1).gated()
    ledger = a_cluster(pod)
    verdict = judge_release(ledger, ledger.pods[pod.uid])
    assert (verdict.outcome, verdict.text) == (Outcome.NEVER, gate_messages.gated_without_queue())


# --- groups that have not been seen: a stale view never refuses ---------------------------------


@pytest.mark.parametrize("default", ["", "small"])
def test_a_pod_whose_group_alone_knows_its_queue_is_not_judged_by_another(default: str) -> None:
    """Its group's queue may have room where its namespace's default has none."""
    small = a_queue("small").with_quota({H200: 1})
    ledger = a_cluster(small, a_namespace().with_default_queue(default or None))
    pod = a_pod().in_group("gang").naming(H200).asking_for(3)
    assert create(ledger, pod).outcome is Outcome.UNSEEN


def test_what_is_wrong_in_any_queue_is_refused_before_the_group_is_seen() -> None:
    pod = a_pod().in_group("gang").naming("typo").asking_for(1)
    verdict = create(a_cluster(), pod)
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, Reason.INVALID_CARD)


def test_what_never_fits_the_pods_own_queue_is_refused_before_the_group_is_seen() -> None:
    assert create(a_cluster(), a_request(cards=9).in_group("gang")).outcome is Outcome.NEVER


# --- gangs --------------------------------------------------------------------------------------


def members(number: int, cards: int = 1, card: str = H200) -> list[PodBody]:
    return [a_request(f"m{i}", cards, card).in_group("gang").gated() for i in range(number)]


GANG = a_group().in_queue("cr-queue1").of(2)
"""A member that is released, and asks for no card."""


def test_e5_a_gang_that_fits_only_by_several_alternatives_waits_for_them() -> None:
    pods, running = members(5, card=f"{H200}|{H800}"), a_request("running").on_node("h200-a")
    assert gang(a_cluster(GANG.of(5), running, *pods), *pods)[0].outcome is Outcome.WAITS
    pods = members(6, card=f"{H200}|{H800}")
    assert gang(a_cluster(GANG.of(6), *pods), *pods)[0].outcome is Outcome.NEVER


def test_e5_a_gang_with_a_choice_is_told_no_amount_that_would_be_wrong() -> None:
    """At most three of one card and two of the other: no single number says that."""
    pods = members(6, card=f"{H200}|{H800}")
    verdict, _ = gang(a_cluster(GANG.of(6), *pods), *pods)
    assert "ask for at most" not in verdict.text
    assert verdict.text.endswith(shortfall_messages.ADVICE_TOGETHER)


def test_e5_a_gang_over_the_cpu_limit_never_fits_although_its_cards_may() -> None:
    pods = [pod.with_cpu("3") for pod in members(2)]
    running = a_request("running", 2).on_node("h200-a")
    ledger = a_ledger(*CARDS, QUEUE.limited_to(cpu="4"), GANG, running, *pods)
    assert gang(ledger, *pods)[0].outcome is Outcome.NEVER


def test_e5_a_missing_queue_that_a_group_names_is_corrected_there() -> None:
    """An annotation of the pod could not name another one."""
    group = a_group("lost").in_queue("gone")
    for pod in (
        a_request("p").in_queue(None).in_group("lost"),
        a_request("p").in_queue("gone").in_group("lost"),
    ):
        text = create(a_cluster(group), pod).text
        assert text.startswith("Queue <gone> does not exist (the pod requests <1> of <")
        assert "; name one that does (`kubectl get queues`) in spec.queue of pod group <" in text
    text = create(a_cluster(), a_request("p").in_queue("gone")).text
    assert f"in the annotation {QUEUE_NAME}, or ask" in text


def test_e5_a_queue_that_is_on_its_way_is_waited_for_under_any_policy() -> None:
    verdict = queue_on_its_way("new")
    assert (verdict.outcome, verdict.queue) == (Outcome.UNSEEN, "new")
    assert verdict.warnings == (queue_messages.queue_not_seen("new"),)
    assert {effect_of(verdict.outcome, policy, Mode.ENFORCE) for policy in Policy} == {Effect.GATE}


def test_d1_who_can_get_no_gate_is_told_to_name_its_queue() -> None:
    """A card of no vendor row, whose pod has its queue from elsewhere, where a policy gates."""
    xpu = "new.example/xpu"
    ledger = a_ledger(a_node("x").with_cards("X1", 8, xpu))
    verdict = queue_not_named(ledger, a_pod().asking_for(2, xpu).facts(), "red")
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, Reason.QUEUE_NOT_FOUND)
    assert verdict.text == queue_messages.queue_not_named("red", [(xpu, 2)])
    assert verdict.text.startswith(f"Queue <red>, requested <2> of <{xpu}>: no vendor row has")
