"""A workload's own pods: which they are, what they hold, what they give back."""

from collections.abc import Mapping
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CARDS, GPU, H200, H800, Body, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.decisions import QueueRoom, must_go_first, on_the_way
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodRecord, PodRequest, WorkloadUsage
from cardquota.quota.pods import queue_pods as own_pods

QUEUE = a_queue("red").with_quota({H200: 3, H800: 2})
JOB = "train"


def a_member(name: str, cards: int = 1, card: str = H200) -> PodBody:
    pod = a_pod(name).with_uid(name).in_queue("red").naming(card).asking_for(cards)
    return pod.owned_by("Job", name=JOB)


def held(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return a_member(name, cards, card).stamped("red", {card: cards})


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things)


def names(ledger: Ledger, queue: str = "red", namespace: str = "team", kind: str = "Job") -> str:
    found: list[PodRecord] = []
    made = ledger.made_pods
    to_its_end(made.each(queue, namespace, kind, lambda name: name == JOB, found.append))
    return " ".join(record.facts.name for record in found)


def own(ledger: Ledger, template: PodBody | None = None) -> WorkloadUsage:
    found = WorkloadUsage(template.facts() if template else None)
    named = lambda name: name == JOB  # noqa: E731
    to_its_end(ledger.made_pods.each("red", "team", "Job", named, found.add))
    return found


def kept(ledger: Ledger, template: PodBody | None = None) -> tuple[int, dict[str, int]]:
    found = own(ledger, template)
    return found.alike, found.given_back


def first(ledger: Ledger, pod: PodBody) -> int | None:
    account = ledger.account("red")
    assert account is not None
    return must_go_first(account, ledger.request_of(pod.facts(), "red"), own(ledger))


# --- which they are ---


def test_they_are_found_by_their_controller() -> None:
    other = held("other").owned_by("Job", name="other")
    bare = held("bare").put(None, "metadata", "ownerReferences")
    elsewhere = held("elsewhere").in_namespace("elsewhere")
    ledger = a_cluster(held("b"), a_member("a").gated(), other, bare, elsewhere)
    assert names(ledger) == "b a"
    assert names(ledger, namespace="elsewhere") == "elsewhere"
    assert names(ledger, kind="ReplicaSet") == ""
    assert names(ledger, queue="blue") == ""


# --- what they hold ---


def test_released_and_bound_ones_hold_and_gated_ones_do_not() -> None:
    """Ready or not: the ledger has what their controller cannot know."""
    bound = held("bound").on_node("h200-a")
    ledger = a_cluster(held("open"), bound, a_member("gated").gated())
    assert kept(ledger, a_member("new")) == (2, {})


def test_e2_its_own_at_the_gate_hold_nothing_and_are_not_counted_as_others_on_the_way() -> None:
    """Under policy Deny too: they are those that there is room to be found for."""
    others = a_member("other").owned_by("Job", name="other").gated()
    ledger = a_cluster(QUEUE.with_policy("Deny"), held("open"), a_member("gated").gated(), others)
    pods = own(ledger, a_member("new"))
    assert (pods.alike, pods.given_back) == (1, {})
    account, pod_class = ledger.account("red"), ledger.pods["gated"].class_key
    assert pods.waiting == {pod_class: 1}
    assert on_the_way(ledger, account) == {H200: 2}
    assert on_the_way(ledger, account, but=pods.waiting) == {H200: 1}
    assert on_the_way(ledger, account, but={pod_class: 2}) == {}


def test_a_pod_that_is_being_deleted_does_not_stay() -> None:
    ledger = a_cluster(held("a").terminating(), held("b"))
    alike, freed = kept(ledger, a_member("new"))
    assert (alike, freed[H200]) == (1, 1)


def test_cpu_that_was_set_on_the_way_makes_no_other_pod() -> None:
    """Defaults of a namespace, containers that somebody's webhook adds."""
    ledger = a_cluster(held("a").with_cpu("100m"))
    assert kept(ledger, a_member("new"))[0] == 1


def test_none_where_one_is_being_deleted() -> None:
    ledger = a_cluster(held("a"), held("b"), held("c").terminating())
    assert first(ledger, a_member("new")) == 0


def test_only_what_counts_of_them_makes_room() -> None:
    """Cpu that is not limited frees nothing; the card of another model neither."""
    ledger = a_cluster(*(held(name).with_cpu("1") for name in "abc"), held("d", 2, H800))
    assert first(ledger, a_member("new", 1, H800).asking_for(1, GPU)) == 4


# --- how many of them must go before a new one has room ---


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12),
    st.integers(0, 3),
    st.integers(1, 12),
)
def test_it_is_the_first_number_with_room_whatever_they_hold(
    amounts: list[tuple[int, int]], others: int, asked: int
) -> None:
    """As if they went one by one, and the question were asked each time."""
    pods = [held(f"p{n}", cards).with_cpu(f"{cpu}m") for n, (cards, cpu) in enumerate(amounts)]
    queue = QUEUE.with_quota({H200: 12}).limited_to(cpu="12m")
    ledger = a_cluster(queue, held("other", others).owned_by("Job", name="other"), *pods)
    new = a_member("new", asked).with_cpu(f"{asked}m")
    account, request = ledger.account("red"), ledger.request_of(new.facts(), "red")
    assert account is not None
    freed: dict[str, int] = {}
    expected = None
    for gone in range(len(pods) + 1):
        if QueueRoom(account, extra={d: -n for d, n in freed.items()}).take(request, 1):
            expected = gone
            break
        for dimension, amount in ledger.pods[f"p{gone}"].charge if gone < len(pods) else ():
            freed[dimension] = freed.get(dimension, 0) + amount
    with patch.object(own_pods, "APART", 4):
        assert first(ledger, new) == expected


def test_i5_of_very_many_a_few_questions_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Mapping[str, int]] = []

    take = QueueRoom.take

    def asking(room: QueueRoom, request: PodRequest, number: int) -> int:
        asked.append(dict(room.extra))
        return take(room, request, number)

    monkeypatch.setattr(QueueRoom, "take", asking)
    queue = QUEUE.with_quota({H200: 1_500})
    ledger = a_cluster(queue, *(held(f"p{n}") for n in range(1_500)))
    assert first(ledger, a_member("new", 1_100)) == 1_100
    assert len(asked) < 16
