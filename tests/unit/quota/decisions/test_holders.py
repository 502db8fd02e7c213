"""Who holds what a pod lacks: names of its own namespace, numbers of others (section 9)."""

import pytest

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.decisions import (
    holders_text,
    judge_create,
    lacked,
    with_holders,
    with_holders_of,
)

QUEUE = a_queue().with_quota({H200: 3, H800: 1})
ASKS = a_pod("new").in_queue("queue").naming(H200).asking_for(1)


def held(workload: str, cards: int, namespace: str = "team", card: str = H200) -> PodBody:
    uid = f"{namespace}-{workload}-{card}"
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(card).asking_for(cards)
    pod = pod.owned_by("StatefulSet", name=workload).in_namespace(namespace)
    return pod.stamped("queue", {card: cards}).on_node("h200-a" if card == H200 else "h800-a")


def said(*things: Body, pod: PodBody = ASKS, queue: Body = QUEUE, beside: int | None = None) -> str:
    """What is added to the sentence. `beside`: the bytes that there are for it."""
    ledger, facts = a_ledger(*CARDS, queue, *things), pod.facts()
    verdict = judge_create(ledger, facts)
    most = len(verdict.text) + beside if beside is not None else None
    text = with_holders(ledger, facts, verdict, most=most).text
    assert text.startswith(verdict.text)
    return text.removeprefix(verdict.text)


def test_three_are_named_those_that_hold_most_first_then_a_count() -> None:
    queue = QUEUE.with_quota({H200: 10})
    there = [held(f"w{n}", n) for n in (1, 4, 2, 3)]
    assert said(*there, queue=queue) == "; held by w4 4, w3 3, w2 2, 1 more workload 1"
    there = [held(f"w{n}", 1) for n in range(10)]
    assert ", 7 more workloads 7" in said(*there, queue=queue)


def test_what_other_groups_reserve_is_told() -> None:
    gang = a_group("gang").in_queue("queue").of(2).in_phase("Inqueue").reserving("queue", {H200: 2})
    there = gang, held("chat", 1)
    assert said(*there) == "; held by chat 1, and 2 reserved for pod groups"
    assert said(gang, held("secret", 1, "other")) == (
        "; held: 1 in other namespaces and 2 reserved for pod groups"
    )


def test_t3_who_came_past_us_with_a_choice_holds_the_first_of_them() -> None:
    both = f"{H200}|{H800}"
    flexible = a_pod("f").with_uid("f").in_queue("queue").naming(both).asking_for(1)
    flexible = flexible.owned_by("StatefulSet", name="flex").stamped("queue", {both: 1})
    full = QUEUE.with_quota({H200: 1, H800: 1})
    assert said(held("chat", 1), flexible, queue=full) == "; held by chat 1, flex 1"


def test_of_several_cards_each_is_named_again() -> None:
    pod = ASKS.naming(f"{H200}|{H800}")
    there = held("chat", 3), held("tune", 1, card=H800)
    assert said(*there, pod=pod) == f"; <{H200}> held by chat 3; <{H800}> held by tune 1"


@pytest.mark.parametrize("pod", [ASKS.asking_for(4), ASKS.naming("NVIDIA-A10"), ASKS.with_cpu("2")])
def test_nobody_is_named_where_waiting_does_not_help(pod: PodBody) -> None:
    assert said(held("chat", 3), pod=pod, queue=QUEUE.limited_to(cpu="1")) == ""


def test_nobody_is_named_of_cpu_alone() -> None:
    queue = QUEUE.limited_to(cpu="1")
    there = held("chat", 1).with_cpu("1")
    assert said(there, pod=ASKS.with_cpu("1"), queue=queue) == ""


def test_nobody_holds_what_pods_on_their_way_will_get() -> None:
    """These are at the gate: they count for the newcomer, and hold nothing yet."""
    deny = QUEUE.with_policy("Deny")
    gated = [ASKS.put(f"g{n}", "metadata", "name").with_uid(f"g{n}").gated() for n in range(3)]
    assert said(*gated, queue=deny) == ""


LONG = "w" * 30
ALL_NAMED = f"; <{H200}> held by {LONG}4 4, {LONG}3 3, {LONG}2 2; <{H800}> held by {LONG} 1"
ONE_NAMED = f"; <{H200}> held by {LONG}4 4, 2 more workloads 5; <{H800}> held by {LONG} 1"
NONE_NAMED = f"; <{H200}> held by 3 workloads 9; <{H800}> held by 1 workload 1"


@pytest.mark.parametrize(
    ("beside", "added"),
    [
        (None, ALL_NAMED),
        (len(ALL_NAMED), ALL_NAMED),
        (len(NONE_NAMED), NONE_NAMED),
        (len(ONE_NAMED) - 1, NONE_NAMED),
        (len(NONE_NAMED) - 1, ""),
        (-1, ""),
    ],
)
def test_the_advice_is_not_pushed_out_of_an_event(beside: int | None, added: str) -> None:
    """Fewer are named where there is little room, and nobody where there is none."""
    queue = QUEUE.with_quota({H200: 9, H800: 1})
    there = [held(f"{LONG}{n}", n) for n in (2, 3, 4)]
    pod = ASKS.naming(f"{H200}|{H800}")
    found = said(*there, held(LONG, 1, card=H800), pod=pod, queue=queue, beside=beside)
    assert found == added


def test_it_is_told_without_a_sentence_too() -> None:
    ledger, facts = a_ledger(*CARDS, QUEUE, held("chat", 3)), ASKS.facts()
    shorts = judge_create(ledger, facts).shortfalls
    assert holders_text(ledger, facts, "queue", shorts) == "held by chat 3"
    assert holders_text(ledger, facts, "nowhere", shorts) == ""


# --- groups -----------------------------------------------------------------------------------


def said_of_group(*lacks: str, most: int = 1_000, reserves: int = 0) -> str:
    """What is added to the sentence of a group. `reserves`: what its own reservation has left."""
    gang = a_group("gang").in_queue("queue").of(2)
    if reserves:
        gang = gang.in_phase("Inqueue").reserving("queue", {H200: reserves})
    ledger = a_ledger(*CARDS, QUEUE, gang, held("chat", 2), held("secret", 1, "other"))
    text = with_holders_of(ledger, "team/gang", "queue", "no room", lacks, most=most)
    return text.removeprefix("no room")


def test_a_group_is_told_in_its_namespace() -> None:
    assert said_of_group(H200) == "; held by chat 2, and 1 in other namespaces"
    assert said_of_group(H200, "cpu") == (f"; <{H200}> held by chat 2, and 1 in other namespaces")
    assert said_of_group(H200, reserves=1) == said_of_group(H200)
    assert said_of_group("cpu") == said_of_group() == ""
    assert said_of_group(H200, most=10) == ""


def test_a_group_lacks_something_only_where_waiting_helps() -> None:
    ledger = a_ledger(*CARDS, QUEUE, held("chat", 3))
    assert lacked(judge_create(ledger, ASKS.facts())) == (H200,)
    assert lacked(judge_create(ledger, ASKS.asking_for(9).facts())) == ()
    assert lacked(judge_create(ledger, ASKS.in_queue("gone").facts())) == ()
