"""T4: who would fit once the pods that are being deleted are gone is told so, and nobody else."""

import pytest

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Outcome, Verdict
from cardquota.quota.decisions import judge_create, judge_gang, judge_resize
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift

RED = a_queue("red").with_quota({H200: 3, H800: 2}).limited_to(cpu="8")
WAIT = "wait until some of it is free, or ask the queue's owner for a higher quota"


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, RED, *things)


def asking(cards: int = 1, card: str = H200, name: str = "new") -> PodBody:
    return a_pod(name).in_queue("red").naming(card).asking_for(cards)


def running(name: str, cards: int = 1, card: str = H200) -> PodBody:
    node = "h200-a" if card == H200 else "h800-a"
    return asking(cards, card, name).stamped("red", {card: cards}).on_node(node)


def create(ledger: Ledger, pod: PodBody) -> Verdict:
    assert drift(ledger) == {}
    return judge_create(ledger, pod.facts())


def leaving(ledger: Ledger, dimension: str = H200, queue: str = "red") -> int:
    assert drift(ledger) == {}
    account = ledger.account(queue)
    assert account is not None
    return account.row(dimension).leaving


def test_t4_what_pods_hold_that_are_being_deleted_is_told_behind_the_numbers() -> None:
    ledger = a_cluster(running("a", 2).terminating(), running("b"))
    verdict = create(ledger, asking(2))
    assert verdict.outcome is Outcome.WAITS
    assert verdict.text == (
        "Queue <red> has insufficient <NVIDIA-H200> quota: requested <2>, total would be <5>, "
        "but capability is <3>; pods that are being deleted hold <2> of it; " + WAIT
    )


@pytest.mark.parametrize(
    "things",
    [
        [running("a", 3)],
        [running("a", 1).terminating(), running("b", 2)],
        [running("a", 3), asking(1, name="b").gated().terminating()],
        [running("a", 3), running("b", 2, H800).terminating()],
    ],
    ids=["nobody", "too few", "who holds nothing", "another card"],
)
def test_t4_nothing_is_said_where_it_would_not_fit_all_the_same(things: list[Body]) -> None:
    assert "being deleted" not in create(a_cluster(*things), asking(2)).text


def test_t4_cards_and_cpu_must_both_fit_then() -> None:
    ledger = a_cluster(running("a", 3).terminating(), running("b", 0).with_cpu("7"))
    text = create(ledger, asking(1).with_cpu("2")).text
    assert "insufficient <cpu>" in text
    assert "being deleted" not in text
    ledger = a_cluster(running("a", 3).with_cpu("7").terminating())
    text = create(ledger, asking(1).with_cpu("2")).text
    assert "but capability is <3>; pods that are being deleted hold <3> of it; Queue" in text
    assert "but capability is <8>; pods that are being deleted hold <7> of it; wait" in text


def test_t4_of_several_cards_one_is_enough_and_only_that_one_is_named() -> None:
    ledger = a_cluster(running("a", 3).terminating(), running("b", 2, H800))
    text = create(ledger, asking(1, f"{H800}|{H200}")).text
    assert "total would be <4>, but capability is <3>; pods that are being deleted hold" in text
    assert "total would be <3>, but capability is <2>; Queue" in text


def test_t4_what_a_gang_has_reserved_is_not_free_when_a_member_goes() -> None:
    gang = a_group("gang").in_queue("red").of(2)
    member = running("a").in_group("gang").terminating()
    ledger = a_cluster(gang.reserving("red", {H200: 2}), member, running("b"))
    assert leaving(ledger) == 0
    assert "being deleted" not in create(ledger, asking(1)).text
    see(ledger, gang.at_revision(9))
    assert leaving(ledger) == 1
    see(ledger, gang.reserving("red", {H200: 2}).at_revision(10))
    assert leaving(ledger) == 0
    ledger.pod_gone(member.uid)
    assert leaving(ledger) == 0


def test_t4_a_gang_of_equal_members_is_told_the_same() -> None:
    members = [asking(1, name=f"m-{n}").in_group("gang").gated() for n in range(3)]
    gang = a_group("gang").in_queue("red").of(3)
    ledger = a_cluster(gang, *members, running("a", 2).terminating())
    text = judge_gang(ledger, [ledger.pods[one.uid] for one in members])[0].text
    assert "requested <3>, total would be <5>, but capability is <3>; pods that" in text
    assert "hold <2> of it; wait until" in text


def test_t4_a_gang_that_loses_members_itself_will_ask_for_more() -> None:
    members = [asking(1, name=f"m-{n}").in_group("gang").gated() for n in range(2)]
    lost = running("m-2").in_group("gang").terminating()
    gang = a_group("gang").in_queue("red").of(3)
    ledger = a_cluster(gang, *members, lost, running("a", 1))
    text = judge_gang(ledger, [ledger.pods[one.uid] for one in members])[0].text
    assert "total would be <4>" in text
    assert "being deleted" not in text


def test_t4_of_unlike_members_nothing_is_said() -> None:
    """The cards of one of them may be all that is told, and not all that is lacking."""
    members = [asking(n, name=f"m-{n}").in_group("gang").gated() for n in (1, 2)]
    gang = a_group("gang").in_queue("red").of(2)
    ledger = a_cluster(gang, *members, running("a", 2).terminating())
    text = judge_gang(ledger, [ledger.pods[one.uid] for one in members])[0].text
    assert "total would be <5>" in text
    assert "being deleted" not in text


def test_t4_a_pod_that_grows_is_told_of_the_others_and_not_of_itself() -> None:
    pod = running("a").with_cpu("1")
    ledger = a_cluster(pod, running("b").with_cpu("6").terminating())
    text = judge_resize(ledger, pod.facts(), pod.with_cpu("4").facts()).text
    assert "capability is <8>; pods that are being deleted hold <6> of it; ask for less" in text
    ending = pod.terminating().at_revision(9)
    see(ledger, ending)
    text = judge_resize(ledger, ending.facts(), ending.with_cpu("4").facts()).text
    assert "being deleted" not in text
