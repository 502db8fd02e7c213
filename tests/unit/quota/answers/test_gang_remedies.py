"""F6: what would let in a gang whose members ask for different things."""

import pytest

from builders import (
    CARDS,
    H200,
    H800,
    Body,
    a_group,
    a_ledger,
    a_pod,
    a_queue,
    see,
)
from builders.pod import PodBody
from cardquota.quota import GANG_KINDS, Steps, to_its_end
from cardquota.quota.answers import (
    MOST_ALTERNATIVES,
    MOST_TRIED,
    AskedWorkload,
    Explanation,
    Explanations,
    WaitsFor,
    gang_remedies,
)
from cardquota.quota.ledger import Ledger

from .asked_cluster import NOON, holding

GANG = a_group("gang").in_queue("queue")
QUEUE = a_queue("queue").with_quota({H200: 3, H800: 1})


def member(name: str, cards: int, card: str = H200) -> PodBody:
    pod = a_pod(name).with_uid(name).in_group("gang").gated().owned_by("Job", name="train")
    return pod.naming(card).asking_for(cards) if cards else pod


def a_cluster(*things: Body, **settings: bool) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things, **settings)


def steps_of(ledger: Ledger) -> Steps[Explanation | None]:
    return Explanations(ledger).answer(AskedWorkload("PodGroup", "team", "gang"), NOON)


def explained(ledger: Ledger) -> Explanation:
    found = to_its_end(steps_of(ledger))
    assert found is not None
    return found


def numbers(found: Explanation) -> tuple[int, int, dict[str, int]]:
    lacking = {one.name: one.amount for one in found.cards_lacking}
    return found.fitting, found.starting, lacking


MIXED = GANG.of(3), member("a", 2), member("b", 1), member("c", 1)


def test_for_how_many_of_its_pods_there_is_room_and_what_they_lack() -> None:
    found = explained(a_cluster(*MIXED, holding("h", 1)))
    assert found.waits_for == WaitsFor.QUOTA
    assert numbers(found) == (2, 3, {H200: 2})
    assert (found.fewer, found.other_cards) == ((), ())
    assert [one.name for one in found.holders] == ["h"]


def test_where_there_is_room_for_none_only_what_they_lack_is_told() -> None:
    assert numbers(explained(a_cluster(*MIXED, holding("h", 3)))) == (0, 0, {H200: 4})


def test_a_launcher_without_cards_is_one_of_them() -> None:
    found = explained(a_cluster(GANG.of(3), member("l", 0), member("b", 2), member("c", 2)))
    assert numbers(found) == (2, 3, {H200: 1})


def test_only_those_count_that_start_together() -> None:
    later = member("z", 1).put("2029-01-01T00:00:00Z", "metadata", "creationTimestamp")
    found = explained(a_cluster(GANG.of(2), member("a", 3), member("b", 1), later))
    assert numbers(found) == (1, 2, {H200: 1})


def test_each_card_is_told_that_is_lacking() -> None:
    things = GANG.of(3), member("a", 2), member("b", 2), member("c", 2, H800)
    assert numbers(explained(a_cluster(*things))) == (1, 3, {H200: 1, H800: 1})


def test_t3_of_those_with_a_choice_it_is_not_known_what_they_lack() -> None:
    either = member("c", 2, f"{H200}|{H800}")
    found = explained(a_cluster(GANG.of(2), member("a", 3), either))
    assert numbers(found) == (1, 2, {})
    both = member("d", 1, f"{H800}|{H200}")
    found = explained(a_cluster(GANG.of(3), member("a", 3), either, both))
    assert numbers(found)[:2] == (2, 3)


def test_p6_cpu_may_be_what_is_lacking() -> None:
    things = GANG.of(2), member("a", 1).with_cpu("3"), member("b", 2).with_cpu("3")
    ledger = a_cluster(*things)
    see(ledger, QUEUE.limited_to(cpu="4"))
    assert numbers(explained(ledger)) == (1, 2, {})


def test_of_a_gang_that_asks_for_no_cards_nothing_is_told() -> None:
    ledger = a_cluster(GANG.of(2), member("a", 0).with_cpu("3"), member("b", 0).with_cpu("2"))
    see(ledger, QUEUE.limited_to(cpu="4"))
    found = explained(ledger)
    assert (found.waits_for, numbers(found)) == (WaitsFor.QUOTA, (0, 0, {}))


def test_what_is_reserved_for_it_is_its_own() -> None:
    group = GANG.of(2).asking({H200: 2}).enqueued("queue", {H200: 2})
    found = explained(a_cluster(group, member("a", 1), member("b", 3)))
    assert numbers(found) == (1, 2, {H200: 1})


def test_in_a_fifo_queue_nobody_is_told_of_room_that_others_have_before() -> None:
    first = a_pod("first").with_uid("first").in_queue("queue").naming(H200).asking_for(3).gated()
    first = first.owned_by("Job").with_spec(priority=9)
    ledger = a_cluster(*MIXED, holding("h", 1), first)
    assert numbers(explained(ledger)) == (2, 3, {H200: 2})
    see(ledger, QUEUE.fifo())
    assert numbers(explained(ledger)) == (0, 0, {})


def test_in_a_queue_that_takes_nothing_there_is_no_room() -> None:
    ledger = a_cluster(*MIXED, a_queue("spare").with_quota({H200: 4}))
    for shut in (QUEUE.closed(), QUEUE.open_to("others")):
        see(ledger, shut)
        found = explained(ledger)
        assert found.waits_for == WaitsFor.QUEUE
        assert numbers(found) == (0, 0, {})
        assert [one.queue for one in found.other_queues] == ["spare"]


# --- other queues -----------------------------------------------------------------------------


def others(*queues: Body, things: tuple[Body, ...] = MIXED) -> list[tuple[str, str, int]]:
    found = explained(a_cluster(*things, *queues))
    return [(one.queue, one.card, one.left) for one in found.other_queues]


def test_another_queue_with_room_for_all_of_it_is_told() -> None:
    spare = a_queue("spare").with_quota({H200: 5})
    assert others(spare) == [("spare", H200, 5)]
    assert others(a_queue("small").with_quota({H200: 3})) == []
    assert others(spare.closed()) == []
    assert others(spare.open_to("else")) == []
    assert others(spare, holding("x", 2).in_queue("spare").stamped("spare", {H200: 2})) == []
    waits = a_pod("w").with_uid("w").in_queue("spare").naming(H200).asking_for(9).gated()
    assert others(spare, waits.owned_by("Job")) != []
    assert others(spare.fifo(), waits.owned_by("Job")) == []
    assert others(spare.limited_to(cpu="1"), things=(*MIXED[:3], MIXED[3].with_cpu("2"))) == []


def test_those_with_most_left_come_first_and_three_are_told() -> None:
    queues = [a_queue(f"q{n}").with_quota({H200: 4 + n}) for n in range(5)]
    assert [name for name, _, _ in others(*queues)] == ["q4", "q3", "q2"]


def test_t3_all_of_it_has_to_be_assigned_together() -> None:
    either = f"{H200}|{H800}"
    things = GANG.of(3), member("a", 3), member("b", 2, either), member("c", 1, either)
    spare = a_queue("spare")
    assert others(spare.with_quota({H200: 3, H800: 3}), things=things) == [("spare", H200, 3)]
    assert others(spare.with_quota({H200: 4, H800: 1}), things=things) == []
    assert others(spare.with_quota({H200: 5, H800: 2}), things=things) == [("spare", H200, 5)]
    pairs = GANG.of(3), member("a", 1), member("b", 2, either), member("c", 2, either)
    assert others(spare.with_quota({H200: 2, H800: 1}), things=pairs) == []
    assert others(spare.with_quota({H200: 3, H800: 2}), things=pairs) == [("spare", H200, 3)]


def test_where_nodes_have_too_few_free_no_other_queue_helps() -> None:
    spare = a_queue("spare").with_quota({H200: 99, H800: 99})
    things = GANG.of(2), member("a", 9), member("b", 1)
    assert others(spare, things=things) == []
    either = f"{H200}|{H800}"
    assert others(spare, things=(GANG.of(2), member("a", 9, either), member("b", 1))) == []
    wide = QUEUE.with_quota({H200: 1})
    many = [member(f"m{n}", 1 + n % 2) for n in range(12)]
    assert others(spare, wide, things=(GANG.of(12), *many)) == []


# --- groups whose pods are to come ------------------------------------------------------------


def test_e1_a_group_that_asks_for_several_cards_is_told_of_other_queues() -> None:
    asks = GANG.of(2).asking({H200: 4, H800: 1}, cpu="2")
    spare = a_queue("spare").with_quota({H200: 4, H800: 1})
    assert others(spare, things=(asks,)) == [("spare", H200, 4)]
    assert others(spare.limited_to(cpu="1"), things=(asks,)) == []
    assert numbers(explained(a_cluster(asks))) == (0, 0, {})
    free = a_cluster(asks, spare.limited_to(cpu="1"), free_cpu_memory=True)
    assert [one.queue for one in explained(free).other_queues] == ["spare"]


def test_e1_a_group_that_asks_for_cpu_alone_is_told_of_no_cards() -> None:
    ledger = a_cluster(GANG.of(2).asking({}, cpu="9"))
    see(ledger, QUEUE.limited_to(cpu="4"))
    assert numbers(explained(ledger)) == (0, 0, {})


# --- bounds -----------------------------------------------------------------------------------


def test_of_a_gang_of_too_many_different_pods_nothing_is_told() -> None:
    many = [member(f"m{n}", 1).with_memory(f"{n + 1}Mi") for n in range(GANG_KINDS.most + 1)]
    found = explained(a_cluster(GANG.of(len(many)), *many))
    assert numbers(found) == (0, 0, {})


def test_of_a_gang_with_too_many_alternatives_nothing_is_told() -> None:
    """They are assigned together without a pause."""
    wide = "|".join([H200, *(f"{H200}-{n}" for n in range(MOST_ALTERNATIVES // 2))])
    quota = dict.fromkeys(wide.split("|"), 1)
    things = GANG.of(2), member("a", 2, wide), member("b", 3, wide)
    ledger = a_cluster(*things, a_queue("spare").with_quota(dict.fromkeys(quota, 9)))
    see(ledger, QUEUE.with_quota(quota))
    assert numbers(explained(ledger)) == (0, 0, {})
    assert explained(ledger).other_queues == ()


def test_of_a_gang_that_is_too_large_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gang_remedies, "MOST_STARTING", 2)
    assert numbers(explained(a_cluster(*MIXED, holding("h", 1)))) == (0, 0, {})


def test_i5_of_very_many_queues_some_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    queues = [a_queue(f"q{n:03}").with_quota({H200: 4 + n}) for n in range(MOST_TRIED + 3)]
    assert others(*queues)[0][0] == f"q{MOST_TRIED - 1:03}"
    monkeypatch.setattr(gang_remedies, "MOST_LOOKED", 1)
    assert len(others(*queues)) == 1


def test_i5_between_two_steps_few_queues_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    full = [a_queue(f"q{n:03}").with_quota({H200: 1}) for n in range(200)]
    before = sum(1 for _ in steps_of(a_cluster(*MIXED, *full)))
    monkeypatch.setattr(gang_remedies, "LOOKED_AT_A_TIME", 16)
    assert sum(1 for _ in steps_of(a_cluster(*MIXED, *full))) >= before + 40


def test_f2_between_any_two_steps_everything_may_go() -> None:
    spare = a_queue("spare").with_quota({H200: 5})

    def the_cluster() -> Ledger:
        return a_cluster(*MIXED, spare, holding("h", 1))

    for number in range(sum(1 for _ in steps_of(the_cluster()))):
        ledger = the_cluster()
        steps = steps_of(ledger)
        for _ in range(number + 1):
            next(steps)
        for uid in list(ledger.pods):
            ledger.pod_gone(uid)
        ledger.group_gone("team/gang")
        ledger.queue_gone("queue")
        ledger.queue_gone("spare")
        to_its_end(steps)
