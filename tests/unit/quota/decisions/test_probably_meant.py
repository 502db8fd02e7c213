"""Which name was probably meant, in the answers to those who wrote another."""

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import Reason, Verdict
from cardquota.quota.decisions import (
    any_queue_meant,
    group_meant,
    judge_create,
    judge_new,
    judge_release,
    queue_meant,
    with_group_meant,
)

from ...steps import steps_of

RESEARCH = a_queue("research").with_quota({H200: 3})
POD = a_pod().in_queue("research").naming(H200).asking_for(1)


def judged(pod: PodBody, *things: Body) -> Verdict:
    ledger = a_ledger(*CARDS, *things)
    return judge_new(ledger, pod.facts())


def test_e5_nobody_is_told_of_a_queue_that_is_not_open_to_the_namespace() -> None:
    near = a_queue("reserach-x").open_to("other")
    ledger = a_ledger(RESEARCH.open_to("team-*"), near, a_queue("research2").closed())
    assert queue_meant(ledger, "reserach", "team-a") == "research"
    assert queue_meant(ledger, "reserach", "other") == "reserach-x"
    assert queue_meant(ledger, "reserach", "nobody") == ""


def test_f1_who_may_know_of_all_queues_is_told_of_any() -> None:
    ledger = a_ledger(RESEARCH.closed().open_to("other"))
    assert any_queue_meant(ledger, "reserach") == "research"
    assert any_queue_meant(ledger, "vision") == ""


def test_a_group_of_the_same_namespace_is_meant() -> None:
    ledger = a_ledger(a_group("train").in_queue("research"), a_group("tria").in_namespace("other"))
    assert group_meant(ledger, "team/trian") == "train"
    assert group_meant(ledger, "other/trian") == "tria"
    assert group_meant(ledger, "third/trian") == ""
    ledger.group_gone("team/train")
    ledger.group_gone("team/never-seen")
    assert group_meant(ledger, "team/trian") == ""


def test_who_only_asks_whether_a_group_is_there_looks_for_no_other() -> None:
    """Neither the release pass, nor the judgement of another pod, whoever waits: a guess costs
    thousands of steps, and so does one for each of the pods.
    """
    names = ["abcdefghij"[n % 10 :] + "abcdefghij" * 4 for n in range(50)]
    groups = [a_group(f"{name}{n}") for n, name in enumerate(names)]
    pods = [
        POD.put(f"w{n}", "metadata", "name").with_uid(f"w{n}").in_group(f"{name}x{n}").gated()
        for n, name in enumerate(names[1:] + names[:1])
    ]
    ledger = a_ledger(*CARDS, RESEARCH.with_policy("Deny"), *groups, *pods)
    record = ledger.pods["w0"]
    verdict = judge_release(ledger, record)
    assert verdict.reason is Reason.GROUP_NOT_FOUND
    assert "did you mean" not in verdict.text
    assert steps_of(lambda: judge_release(ledger, record)) < 300
    assert steps_of(lambda: judge_create(ledger, POD.facts())) < 6_000


def test_the_guess_is_added_to_a_text_that_goes_out() -> None:
    there = a_group("train").in_queue("research")
    waits = POD.in_group("trian").gated()
    ledger = a_ledger(*CARDS, RESEARCH, there, waits)
    record = ledger.pods[waits.uid]
    verdict = with_group_meant(ledger, record.facts, judge_release(ledger, record))
    assert verdict.text.endswith("; create it, or did you mean <train>?")
    fits = judge_create(ledger, POD.facts())
    assert with_group_meant(ledger, record.facts, fits) is fits


def test_p4_a_card_counted_by_another_resource_name_is_not_meant() -> None:
    other = a_node("a").with_cards("AMD-H20P", 8, resource="amd.com/gpu")
    verdict = judged(POD.naming("AMD-H20O"), RESEARCH, other)
    assert "did you mean" not in verdict.text


def test_q1_a_card_of_another_queues_typing_error_is_answered_with_the_nearest() -> None:
    other = a_queue("other").with_quota({"NVIDIA-H20O": 3})
    verdict = judged(POD.naming("NVIDIA-H20O"), RESEARCH, other)
    assert verdict.reason is Reason.CARD_NOT_IN_QUOTA
    assert verdict.text.endswith(f"; did you mean <{H200}>?")
    assert "did you mean" not in judged(POD.naming(H800), RESEARCH).text


def test_p3_who_names_no_card_is_not_advised_to_use_one_that_no_node_has() -> None:
    pod = (
        a_pod()
        .in_queue("research")
        .asking_for(1)
        .on_nodes_labelled({"nvidia.com/gpu.product": "NONE"})
    )
    said = judged(pod, a_queue("research").with_quota({"NVIDIA-H20O": 3})).text
    assert said.endswith(
        "(its cards: NVIDIA-H20O (no node has it)) and allowed by the pod's node selector and "
        "affinity; ask the queue's owner for a quota"
    )
