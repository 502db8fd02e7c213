"""A template that changes: what the old pods give back, and how many new ones then fit."""

from builders import CARDS, H200, H800, Body, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.account import Account
from cardquota.quota.pod_request import PodRequest
from cardquota.quota.replaced_pods import given_back, room_after

EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 3, H800: 2})


def a_request(name: str = "new", cards: int = 1, names: str = H200) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards)


def running(name: str, card: str = H200) -> PodBody:
    return a_request(name, 1, card).stamped("red", {card: 1}).on_node("h200-a")


def asked(pod: PodBody, *things: Body) -> tuple[PodRequest, Account]:
    ledger = a_ledger(*CARDS, QUEUE, *things)
    account = ledger.account("red")
    assert account is not None
    return ledger.request_of(pod.facts(), "red"), account


def test_old_pods_give_back_what_they_hold() -> None:
    request, account = asked(a_request(), running("a"), running("b"))
    assert given_back(request, 2, account)[H200] == 2
    assert given_back(request, 5, account)[H200] == 2


def test_of_several_cards_as_many_as_are_charged_of_each() -> None:
    both = running("a"), running("b", H800).on_node("h800-a")
    request, account = asked(a_request(names=EITHER), *both)
    assert {card: given_back(request, 3, account)[card] for card in (H200, H800)} == {
        H200: 1,
        H800: 1,
    }


def test_new_pods_fit_once_the_old_are_gone() -> None:
    old, account = asked(a_request(), *(running(name) for name in "abc"))
    new, _ = asked(a_request(cards=2))
    freed = given_back(old, 3, account)
    fits, charged = room_after(new, account, freed)
    assert fits == 1
    assert charged[H200] == -1


def test_pods_without_cards_fit_by_cpu_and_memory() -> None:
    limited = QUEUE.limited_to(cpu="2")
    plain = a_pod("new").in_queue("red").with_cpu("1500m")
    request, account = asked(plain, limited)
    assert room_after(request, account, {})[0] == 1
    assert room_after(request, account, {"cpu": 1_000})[0] == 2
