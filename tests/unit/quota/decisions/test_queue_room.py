"""How many equal pods there is room for: what those who write workloads are told."""

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.decisions import QueueRoom, on_the_way

EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 3, H800: 2})


def a_request(name: str = "new", cards: int = 1, names: str = EITHER) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards)


def room(
    pod: PodBody, *things: Body, asked: int = 100, freed: dict[str, int] | None = None
) -> tuple[int, dict[str, int]]:
    ledger = a_ledger(*CARDS, QUEUE, *things)
    account = ledger.account("red")
    assert account is not None
    facts = pod.facts()
    extra = dict(on_the_way(ledger, account))
    for dimension, amount in (freed or {}).items():
        extra[dimension] = extra.get(dimension, 0) - amount
    found = QueueRoom(account, ledger.groups.get(facts.group), extra)
    request = ledger.request_of(facts, "red")
    before = dict(found.extra)
    number = found.take(request, asked)
    taken = {dimension: n - before.get(dimension, 0) for dimension, n in found.extra.items()}
    assert found.take(request, asked) == (0 if number < asked else number)
    return number, {dimension: amount for dimension, amount in taken.items() if amount}


def test_each_takes_the_first_card_that_is_left() -> None:
    assert room(a_request()) == (5, {H200: 3, H800: 2})
    assert room(a_request(cards=2)) == (2, {H200: 2, H800: 2})


def test_those_on_their_way_count() -> None:
    gated = a_request("gated", 1, H200).gated()
    assert room(a_request(), gated) == (4, {H200: 2, H800: 2})


def test_e2_who_is_on_the_way_with_a_choice_counts_with_the_first_that_is_left() -> None:
    gated = a_request("gated").gated()
    assert room(a_request(names=H200), gated) == (2, {H200: 2})
    full = a_request("full", 3, H200).stamped("red", {H200: 3})
    assert room(a_request(names=H800), gated, full) == (1, {H800: 1})


def test_cpu_and_memory_count_too() -> None:
    limited = QUEUE.limited_to(cpu="2", memory="8Gi")
    asking = a_request().with_cpu("800m").with_memory("1Gi")
    assert room(asking, limited) == (2, {H200: 2, "cpu": 1_600, "memory": 2 * 2**30})


def test_where_nothing_is_limited_all_have_room() -> None:
    assert room(a_pod("new").in_queue("red"), asked=99_999) == (99_999, {})


def test_e2_what_is_reserved_for_its_group_is_there_for_it() -> None:
    group = a_group("gang").in_queue("red").of(2).reserving("red", {H200: 2})
    begun = a_request("begun", 1, H200).in_group("gang").stamped("red", {H200: 1})
    member = a_request(names=H200).in_group("gang")
    assert room(member, group, begun) == (2, {H200: 2})
    assert room(a_request(names=H200), group, begun) == (1, {H200: 1})
    # None of it was let through: what it asks for now replaces the reservation.
    assert room(member, group) == (3, {H200: 3})
    assert room(a_request(names=H200), group) == (1, {H200: 1})


def test_new_pods_fit_once_the_old_are_gone() -> None:
    old = [a_request(n, 1, H200).with_uid(n).stamped("red", {H200: 1}) for n in "abc"]
    new = a_request(cards=2, names=H200)
    assert room(new, *old, freed={H200: 3}) == (1, {H200: 2})


def test_pods_without_cards_fit_by_cpu_and_memory() -> None:
    limited = QUEUE.limited_to(cpu="2")
    plain = a_pod("new").in_queue("red").with_cpu("1500m")
    assert room(plain, limited)[0] == 1
    assert room(plain, limited, freed={"cpu": 1_000})[0] == 2
