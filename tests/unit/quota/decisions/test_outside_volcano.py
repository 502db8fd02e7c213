"""V5: who creates a pod that Volcano runs in its queue `default` is told who counts it."""

import pytest

from builders import H200, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import Verdict
from cardquota.quota.decisions import judge_create, told_of_default
from cardquota.quota.messages import queue_messages

from ..red_queue import RED, a_cluster

CARDS = a_pod().asking_for(2)
SAYS = queue_messages.runs_without_quota()


def told(pod: PodBody, scheduler: str = "volcano", mode: str | None = None) -> Verdict:
    ledger = a_cluster(RED, a_queue("default"), a_namespace().in_mode(mode))
    verdict = judge_create(ledger, pod.facts())
    found = told_of_default(ledger, pod.facts(), verdict, scheduler)
    assert found._replace(warnings=()) == verdict._replace(warnings=())
    return found


@pytest.mark.parametrize("pod", [CARDS, CARDS.naming(H200)])
@pytest.mark.parametrize("mode", [None, "audit"])
def test_v5_it_is_told_once(pod: PodBody, mode: str | None) -> None:
    assert told(pod, mode=mode).warnings == (SAYS,)


def test_v5_one_that_names_a_card_and_asks_for_none_is_told_too() -> None:
    assert told(a_pod().naming(H200)).warnings == (SAYS,)


def test_v5_other_schedulers_pods_are_not() -> None:
    assert told(CARDS, "default-scheduler").warnings == ()
    named = (queue_messages.card_without_queue(H200),)
    assert told(CARDS.naming(H200), "").warnings == named


def test_v5_nor_is_one_with_a_queue_or_without_cards_or_where_quotas_are_off() -> None:
    assert told(CARDS.naming(H200).in_queue("cr-queue1")).warnings == ()
    assert SAYS not in told(CARDS.in_queue("default")).warnings
    assert told(a_pod()).warnings == ()
    assert told(CARDS, mode="off").warnings == ()


def test_v5_nor_is_one_that_is_refused() -> None:
    assert told(CARDS, mode="enforced").warnings == ()
