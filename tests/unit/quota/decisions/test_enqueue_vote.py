"""V3: what Volcano's scheduler is told about a group without looking at what is free."""

import pytest

from builders import H200, H800, R4090, a_group, a_namespace, a_pod, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota.decisions import EnqueueRequest, Vote, enqueue_request, vote_without_judgement
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import AskedCards, PodGroupState, Stage

from ..releasing import QUEUE, a_cluster, waiting

GROUP = a_group("train").in_queue("red").of(2)
KEY = "team/train"
GPU = "nvidia.com/gpu"


def vote(*things: GroupBody | PodBody) -> Vote | None:
    ledger = a_cluster(*things, enqueues=False)
    return vote_without_judgement(ledger, ledger.groups[KEY])


def asked(group: GroupBody, **quota: int) -> EnqueueRequest | None:
    ledger = a_cluster(group, enqueues=False)
    see(ledger, QUEUE.with_quota(quota))
    return enqueue_request(ledger, group.facts())


# --- what it asks for -----------------------------------------------------------------------------


def test_the_annotation_counts_whatever_the_resources_say() -> None:
    found = asked(GROUP.asking({H200: 2}, **{GPU: "7"}), **{H200: 3, H800: 2})
    assert found is not None
    assert found.exact
    assert found.request.cards == (AskedCards((H200,), 2),)


def test_with_several_any_of_them_may_be_meant_most_quota_first() -> None:
    found = asked(GROUP.needing({GPU: 2}), **{H800: 2, H200: 3})
    assert found is not None
    assert not found.exact
    assert found.request.cards == (AskedCards((H200, H800), 2),)


def test_a_card_that_the_queue_has_no_quota_for_is_asked_for_all_the_same() -> None:
    """So that it is told that the card is not in the quota."""
    found = asked(GROUP.needing({GPU: 2}))
    assert found is not None
    assert {H200, H800, R4090} <= set(found.request.cards[0].cards)


@pytest.mark.parametrize(
    "resources",
    [
        None,
        {"cpu": "2", "memory": "1Gi"},
        {"example.com/licence": "1"},
        {GPU: "0"},
        {GPU: "-1"},
        {GPU: "many"},
        {"nvidia.com/hostdev": "2"},
        {f"{'x' * 300}.com/{'gpu' * 30}": "1"},
        {GPU: "1", "huawei.com/Ascend910": "1"},
        {"nvidia.com/gpu.shared": "1"},
    ],
)
def test_else_it_holds_no_cards_as_far_as_is_known(resources: dict[str, str] | None) -> None:
    """Of two kinds of cards at once only the annotation could say which; and of one that no node
    has shown nobody knows any.
    """
    assert asked(GROUP.needing(resources), **{H200: 3}) is None


def test_a_group_that_volcano_makes_for_pods_asks_for_none_unless_it_says_so() -> None:
    """Its pods are there, and each has its gate."""
    made = a_group("podgroup-0123abcd-0000-1111-2222-0123456789ab").in_queue("red").of(1)
    ledger = a_cluster(enqueues=False)
    see(ledger, QUEUE.with_quota({H200: 3}))
    assert enqueue_request(ledger, made.needing({GPU: 2}).facts()) is None
    assert enqueue_request(ledger, made.asking({H200: 2}).facts()) is not None
    for other in ("podgroup-train", "x-podgroup-0123abcd-0000-1111-2222-0123456789ab"):
        named = a_group(other).in_queue("red").needing({GPU: 2})
        assert enqueue_request(ledger, named.facts()) is not None


# --- votes ----------------------------------------------------------------------------------------


def test_who_asks_for_cards_depends_on_what_is_free() -> None:
    assert vote(GROUP.asking({H200: 2})) is None
    assert vote(GROUP.requesting("no json")) is None


@pytest.mark.parametrize("group", [GROUP, GROUP.asking({H200: 1}).in_queue(None)])
def test_who_asks_for_none_or_has_no_queue_is_none_of_ours(group: GroupBody) -> None:
    assert vote(group) is Vote.ABSTAIN


@pytest.mark.parametrize("name", ["train", "podgroup-0123abcd-0000-1111-2222-0123456789ab"])
def test_nor_is_one_without_cards_whose_pods_are_there(name: str) -> None:
    """Where we permit, Volcano asks none of its plugins of later tiers any more."""
    pods = [a_pod(n).in_group(name).with_cpu("1") for n in ("a", "b")]
    ledger = a_cluster(a_group(name).in_queue("red").of(2), *pods, enqueues=False)
    group = ledger.groups[f"team/{name}"]
    assert group.stage is not Stage.WAITING
    assert vote_without_judgement(ledger, group) is Vote.ABSTAIN


def test_a_group_that_is_not_there_is_none_of_ours() -> None:
    assert vote_without_judgement(Ledger(a_cluster().vendors), PodGroupState(KEY)) is Vote.ABSTAIN


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_where_nothing_is_enforced_it_is_none_of_ours(mode: str) -> None:
    ledger = a_cluster(GROUP.asking({H200: 1}), enqueues=False)
    see(ledger, a_namespace("team").in_mode(mode))
    assert vote_without_judgement(ledger, ledger.groups[KEY]) is Vote.ABSTAIN


def test_whose_pods_are_all_there_is_permitted_and_their_gates_decide() -> None:
    one, two = waiting("a").in_group("train"), waiting("b").in_group("train")
    assert vote(GROUP.asking({H200: 2}), one, two) is Vote.PERMIT
    assert vote(GROUP.asking({H200: 2}), one) is None


def test_of_which_something_holds_or_has_ended_is_permitted() -> None:
    bound = waiting("a").in_group("train").ungated().stamped("red", {H200: 1}).on_node("h200-a")
    assert vote(GROUP.asking({H200: 2}), bound) is Vote.PERMIT
    assert vote(GROUP.asking({H200: 2}).in_phase("Completed")) is Vote.PERMIT


def test_what_is_reserved_counts_once_it_is_written() -> None:
    ledger = a_cluster(GROUP.asking({H200: 2}), enqueues=False)
    state = ledger.groups[KEY]
    reservation = ledger.decisions.enqueue(KEY, "red", "term", ((H200, 2),))
    assert vote_without_judgement(ledger, state) is Vote.REJECT
    ledger.decisions.confirm_reservation(KEY, reservation, 200)
    assert vote_without_judgement(ledger, state) is Vote.PERMIT


def test_what_is_reserved_in_another_queue_is_of_no_use() -> None:
    group = GROUP.asking({H200: 2}).enqueued("red", {H200: 2})
    assert vote(group) is Vote.PERMIT
    assert vote(group.in_queue("blue")) is Vote.REJECT
