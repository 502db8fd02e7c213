"""How many equal pods there is room for: what those who write workloads are told."""

from builders import CARDS, H200, H800, Body, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.accounts import Account
from cardquota.quota.decisions import UNLIMITED, on_the_way, room_for
from cardquota.quota.pods import PodRequest

EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 3, H800: 2})


def a_request(name: str = "new", cards: int = 1, names: str = EITHER) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards)


def room(pod: PodBody, *things: Body, asked: int = 100) -> tuple[int, dict[str, int]]:
    ledger = a_ledger(*CARDS, QUEUE, *things)
    account = ledger.account("red")
    assert account is not None
    request, way = ledger.request_of(pod.facts(), "red"), on_the_way(ledger, account)
    found, charged = room_for(account, request, asked, on_the_way=way)
    return found, {dimension: amount for dimension, amount in charged.items() if amount}


def test_each_takes_the_first_card_with_room() -> None:
    assert room(a_request()) == (5, {H200: 3, H800: 2})
    assert room(a_request(), asked=4) == (4, {H200: 3, H800: 1})
    assert room(a_request(cards=2)) == (2, {H200: 2, H800: 2})


def test_those_on_their_way_count() -> None:
    gated = a_request("gated", 1, H200).gated()
    assert room(a_request(), gated) == (4, {H200: 2, H800: 2})


def test_cpu_and_memory_count_too() -> None:
    limited = QUEUE.limited_to(cpu="2", memory="8Gi")
    asking = a_request().with_cpu("800m").with_memory("1Gi")
    assert room(asking, limited) == (2, {H200: 2, "cpu": 1_600, "memory": 2 * 2**30})


def test_where_nothing_is_limited_all_have_room() -> None:
    plain = a_pod("new").in_queue("red")
    assert room(plain, asked=UNLIMITED) == (UNLIMITED, {})


def test_t3_those_who_may_choose_move_on() -> None:
    """`gated` may use either, and is held to H800 when three others want H200."""
    gated = a_request("gated").gated()
    assert room(a_request(names=H200), gated) == (3, {H200: 2, H800: 1})
    assert room(a_request(), gated) == (4, {H200: 2, H800: 2})


def test_t3_nothing_is_left_behind() -> None:
    ledger = a_ledger(*CARDS, QUEUE, a_request("gated").gated())
    account = ledger.account("red")
    assert account is not None
    request = ledger.request_of(a_request(names=H200).facts(), "red")
    for _ in range(3):
        way = on_the_way(ledger, account)
        assert room_for(account, request, 100, on_the_way=way)[0] == 3


def test_where_something_is_given_back_those_on_the_way_go_where_they_come_first() -> None:
    ledger = a_ledger(*CARDS, QUEUE, a_request("gated").gated())
    account = ledger.account("red")
    assert account is not None
    request, way = (
        ledger.request_of(a_request(names=H200).facts(), "red"),
        on_the_way(ledger, account),
    )
    assert room_for(account, request, 100, {"cpu": 1}, on_the_way=way)[0] == 2


# --- what is given back before: by pods that go ---


def asked(pod: PodBody, *things: Body) -> tuple[PodRequest, Account]:
    ledger = a_ledger(*CARDS, QUEUE, *things)
    account = ledger.account("red")
    assert account is not None
    return ledger.request_of(pod.facts(), "red"), account


def test_new_pods_fit_once_the_old_are_gone() -> None:
    old = [a_request(n, 1, H200).with_uid(n).stamped("red", {H200: 1}) for n in "abc"]
    new, account = asked(a_request(cards=2, names=H200), *old)
    fits, charged = room_for(account, new, 100, {H200: 3})
    assert fits == 1
    assert charged[H200] == -1


def test_pods_without_cards_fit_by_cpu_and_memory() -> None:
    limited = QUEUE.limited_to(cpu="2")
    plain = a_pod("new").in_queue("red").with_cpu("1500m")
    request, account = asked(plain, limited)
    assert room_for(account, request, 100)[0] == 1
    assert room_for(account, request, 100, {"cpu": 1_000})[0] == 2
