"""L5: what a plan that is carried out may still do, and when it is over."""

import asyncio
from collections.abc import Iterator

import pytest

from builders import H200, H800, Body, a_group, a_queue
from builders.pod import PodBody
from cardquota.control.reclaim import reclaimer
from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, plan_text
from cardquota.quota.reclaim import PAUSE
from cardquota.settings import Settings

from ..fakes import TERM, Call, lost, refused
from .stage import BOTH, NOW, a_card, full, no_disruption, reclaiming, runs, unplaced

pytestmark = pytest.mark.fake_clock

LONG = 75.0
"""Seconds in which what waits long enough is served."""
ONE = {"evictionsPerQueue": 1}
YEAR = 365 * 86_400


def kept(name: str, at: int = 0) -> PodBody:
    """It may not end."""
    return runs(name, at=at).annotated(v.PREEMPTABLE, "false")


def a_gang_of_four() -> list[Body]:
    """Red's other pods may not end."""
    others = [kept(f"r{n}") for n in range(4)]
    members = [runs(f"g{n}", at=n).in_group("gang") for n in range(4)]
    return [a_group("gang").in_queue("red").of(4), *others, *members]


GANG = ["g0", "g1", "g2", "g3"]


def planned(name: str, plan: PlanRecord, pod: PodBody | None = None) -> PodBody:
    """A pod on which this stands, however it came there."""
    body = pod or unplaced(name)
    return body.annotated(v.RECLAIM_PLAN, plan_text(plan)).labelled(v.MANAGED, v.IS_MANAGED)


# --- its time -------------------------------------------------------------------------------------


async def test_a_plan_has_its_time_whatever_its_victims_do() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.grace = YEAR
        await asyncio.sleep(60 + 900 + 290)
        assert stage.kept == {H200}
        await asyncio.sleep(20)
        assert stage.ledger.kept_rooms == {}
        assert "within <1200> s" in stage.text("w", v.RECLAIM_GAVE_UP)
        await asyncio.sleep(PAUSE - 60)
        assert stage.evicted == ["r7"]


async def test_its_time_goes_on_in_another_term() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.grace = YEAR
        await asyncio.sleep(1000)
        await stage.fail_over()
        await asyncio.sleep(270)
        assert stage.ledger.kept_rooms == {}
        assert v.RECLAIM_GAVE_UP in stage.tells("w")


async def test_what_a_queue_gives_to_itself_closes_the_card_to_no_other() -> None:
    high = a_card("w").gated().with_priority(5)
    async with reclaiming(*full(3), high) as stage:
        stage.see(a_queue("red").with_quota({H200: 3}))
        assert stage.opens("red") == []
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r2"]
        stage.see(a_card("b", "blue").gated(), a_card("r").gated())
        assert stage.opens("blue") == ["b"]
        stage.goes("r2")
        assert stage.opens("red") == ["w"]


# --- who was refused ------------------------------------------------------------------------------


async def test_who_was_refused_does_not_return_to_the_plan() -> None:
    """Nobody else may end: so it is given up."""
    async with reclaiming(*full(5), runs("x", "blue", cards=3), unplaced("w")) as stage:
        stage.refuses = {f"r{n}": no_disruption for n in range(5)}
        stage.refuses_late = set(stage.refuses)
        await asyncio.sleep(60 + 330)
        assert sorted(stage.evicted) == sorted(stage.refuses)
        assert stage.ledger.kept_rooms == {}
        assert v.RECLAIM_GAVE_UP in stage.tells("w")


@pytest.mark.parametrize("answer", [lost, lambda: refused(429)])
async def test_three_of_a_pod_without_an_answer_are_a_refusal(answer: type[Exception]) -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.refuses, stage.refuses_late = {"r7": answer}, {"r7"}
        await asyncio.sleep(LONG + 30)
        assert stage.evicted == ["r7", "r7", "r7", "r6"]
        assert stage.victims("w") == ["r6"]
        assert stage.counted("refused", queue="red") == 1


async def test_who_does_not_answer_holds_up_no_other_plan() -> None:
    both = {H200: 8, H800: 8}
    other = a_card("o").naming(H800).stamped("red", {H800: 1}).on_node("h800-a")
    high = a_card("h").naming(H800).gated().with_priority(5)
    async with reclaiming(*full(), unplaced("w"), other) as stage:
        stage.see(a_queue("red").with_quota({**both, H800: 1}), a_queue("blue").with_quota(both))
        stage.refuses, stage.refuses_late = {"r7": lambda: refused(429)}, {"r7"}
        stage.see(high)
        stage.opens()
        await asyncio.sleep(63)
        assert set(stage.evicted) == {"r7", "o"}


# --- gangs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["evictionsPerQueue", "evictionsPerMinute"])
async def test_a_gang_that_is_larger_than_a_budget_ends_at_once_and_whole(budget: str) -> None:
    reclaim = {budget: 2}
    gang = a_gang_of_four()
    async with reclaiming(*gang, unplaced("w", cards=4), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        assert sorted(stage.evicted) == GANG


async def test_a_gang_waits_until_there_is_a_budget_for_all_of_it() -> None:
    things = [*a_gang_of_four(), unplaced("w"), unplaced("x", cards=3)]
    async with reclaiming(*things, reclaim={"evictionsPerQueue": 4}) as stage:
        stage.see(BOTH["red"].deserving_cards({H200: 0}), BOTH["blue"].deserving_cards({H200: 8}))
        stage.see(runs("r3", at=50))
        await asyncio.sleep(61)
        assert stage.evicted == ["r3"]
        stage.goes("r3")
        stage.see(runs("w", "blue"))
        await asyncio.sleep(50)
        assert stage.victims("x") == GANG
        assert stage.evicted == ["r3"]
        await asyncio.sleep(20)
        assert sorted(stage.evicted[1:]) == GANG


@pytest.mark.parametrize("gone", [True, False])
async def test_a_gang_that_has_begun_to_end_does_so_whoever_waits(*, gone: bool) -> None:
    async with reclaiming(*a_gang_of_four(), unplaced("w", cards=4)) as stage:

        def at_once(call: Call) -> None:
            if call.path.endswith("/eviction") and "w" in stage.bodies:
                if gone:
                    stage.goes("w")
                else:
                    stage.see(BOTH["blue"].reclaiming("off"))

        stage.script.on_call = at_once
        # The second is not heard at first, so that the rest is for another look.
        stage.refuses, stage.refuses_late = {"g1": lost}, {"g1"}
        await asyncio.sleep(61)
        assert set(stage.evicted) < set(GANG)
        stage.refuses = {}
        await asyncio.sleep(20)
        assert set(stage.evicted) == set(GANG)
        assert stage.ledger.kept_rooms == {}


async def test_a_gang_whose_first_one_is_refused_stays() -> None:
    async with reclaiming(*a_gang_of_four(), unplaced("w", cards=4)) as stage:
        stage.refuses = dict.fromkeys(GANG, no_disruption)
        stage.refuses_late = set(GANG)
        await asyncio.sleep(LONG + 300)
        assert len(stage.evicted) == 1


async def test_one_that_was_protected_meanwhile_is_spared() -> None:
    async with reclaiming(*a_gang_of_four(), unplaced("w", cards=4)) as stage:

        def protect(call: Call) -> None:
            last = max(set(GANG) - set(stage.evicted))
            if call.path.endswith("/eviction") and len(stage.evicted) == 1:
                stage.see(stage.bodies[last].annotated(v.PREEMPTABLE, "false"))

        stage.script.on_call = protect
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 3


async def test_who_is_needed_by_now_is_elastic_no_more() -> None:
    """Another member is gone since the plan was made."""
    members = [runs(f"g{n}", at=n).in_group("gang") for n in range(3)]
    group, others = a_group("gang").in_queue("red").of(2), [kept(f"r{n}") for n in range(5)]
    async with reclaiming(group, *others, *members, unplaced("w")) as stage:

        def one_goes(call: Call) -> None:
            if not call.path.endswith("/eviction") and "g0" in stage.bodies:
                assert call.body["metadata"]["uid"] == "uid-w"
                stage.goes("g0")

        stage.script.on_call = one_goes
        await asyncio.sleep(LONG)
        assert "g0" not in stage.bodies
        assert stage.evicted == []


async def test_every_card_that_a_gang_needs_is_kept() -> None:
    plan = PlanRecord(TERM, NOW, "reclaim", H200, ("uid-r7",))
    group = a_group("gang").in_queue("blue").of(2).annotated(v.RECLAIM_PLAN, plan_text(plan))
    other = unplaced("m1").naming(H800).stamped("blue", {H800: 1})
    members = [one.in_group("gang") for one in (unplaced("m0"), other)]
    blue = a_queue("blue").with_quota({H200: 8, H800: 8})
    async with reclaiming(blue, *full(), group, *members) as stage:
        await asyncio.sleep(1)
        assert stage.kept == {H200, H800}


async def test_no_plan_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the gang only a part would be in it."""
    monkeypatch.setattr(reclaimer, "MOST_VICTIMS", 4)
    gang = [runs(f"g{n}").in_group("gang").with_priority(1) for n in range(4)]
    alone = [runs(f"r{n}", at=n) for n in range(4)]
    group = a_group("gang").in_queue("red").of(4)
    async with reclaiming(group, *gang, *alone, unplaced("w", cards=4)) as stage:
        stage.see(a_queue("red").with_quota({H200: 8}).deserving_cards({H200: 0}))
        stage.see(a_queue("blue").with_quota({H200: 8}).deserving_cards({H200: 8}))
        stage.refuses, stage.refuses_late = {"r0": no_disruption}, {"r0"}
        await asyncio.sleep(LONG)
        assert sorted(stage.evicted) == ["r0", "r1", "r2", "r3"]
        # Who waits is told how many of the plan ended, once no others were found.
        assert stage.tells("w") == []
        for name in ("r1", "r2", "r3"):
            stage.goes(name)
        await asyncio.sleep(5)
        assert "by ending 3 pods of Queue <red>" in stage.text("w", v.ROOM_MADE)


# --- when it is over ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["off", "dryRun"])
async def test_a_queue_that_is_switched_off_ends_its_plans(mode: str) -> None:
    async with reclaiming(*full(), unplaced("w", cards=4), reclaim=ONE) as stage:
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 1
        stage.see(BOTH["blue"].reclaiming(mode))
        await asyncio.sleep(200)
        assert len(stage.evicted) == 1
        assert stage.ledger.kept_rooms == {}
        assert stage.plan_of("w") is None


async def test_a_leader_that_says_only_what_it_would_do_ends_what_stands() -> None:
    plan = PlanRecord("former", NOW, "reclaim", H200, ("uid-r7",))
    async with reclaiming(*full()) as stage:
        await stage.reclaimer.end()
        stage.see(planned("w", plan))
        stage.settings = Settings.model_validate({"reclaim": "dryRun"})
        await stage.fail_over()
        await asyncio.sleep(30)
        assert stage.evicted == []
        assert stage.plan_of("w") is None


async def test_who_is_not_owed_it_any_more_gets_nothing_by_a_plan() -> None:
    async with reclaiming(*full(), unplaced("w", cards=4), reclaim=ONE) as stage:
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 1
        stage.see(runs("b", "blue"))
        await asyncio.sleep(200)
        assert len(stage.evicted) == 1
        assert stage.plan_of("w") is None


LOW = a_card("w").gated().with_priority(-5)
OTHER = a_card("w", "blue").gated().with_priority(5)


@pytest.mark.parametrize(
    ("plan", "pod"),
    [
        (PlanRecord("former", NOW - 20 * 86_400, "reclaim", H200, ("uid-r7",)), None),
        (PlanRecord("former", NOW + 86_400, "reclaim", H200, ("uid-r7",)), None),
        (PlanRecord("former", NOW, "reclaim", H800, ("uid-r7",)), None),
        (PlanRecord("former", NOW, "preempt", H200, ("uid-r7",)), OTHER),
        (PlanRecord("former", NOW, "preempt", H200, ("uid-r7",)), LOW),
        (PlanRecord("former", NOW, "reclaim", H200, ("uid-r7",)), LOW),
    ],
    ids=["old", "to come", "other card", "other queue", "lower priority", "own queue"],
)
async def test_what_stands_on_a_pod_is_not_believed(plan: PlanRecord, pod: PodBody | None) -> None:
    async with reclaiming(*full()) as stage:
        await stage.reclaimer.end()
        stage.see(planned("w", plan, pod))
        await stage.fail_over()
        await asyncio.sleep(40)
        assert stage.evicted == []


async def test_for_who_goes_away_time_and_again_nobody_ends() -> None:
    async with reclaiming(*full()) as stage:
        for number in range(40):
            before = len(stage.evicted)
            stage.see(unplaced(f"w{number}"))
            await asyncio.sleep(66)
            stage.goes(f"w{number}")
            for name in stage.evicted[before:]:
                stage.goes(name)
                stage.see(runs(f"again{number}"))
            await asyncio.sleep(4)
        assert len(stage.evicted) == 1
        await asyncio.sleep(PAUSE - 40 * 70 + 70)
        stage.see(unplaced("last"))
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 2


async def test_who_has_started_and_goes_is_served_again() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        stage.goes("r7")
        stage.see(runs("w", "blue"))
        await asyncio.sleep(5)
        stage.goes("w")
        stage.see(runs("r8"), unplaced("x"))
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 2


# --- doubt, budgets, words ------------------------------------------------------------------------


async def test_nobody_is_asked_while_what_is_known_may_be_wrong() -> None:
    async with reclaiming(*full(), unplaced("w", cards=4), reclaim=ONE) as stage:
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 1
        stage.unsure = True
        await asyncio.sleep(300)
        assert len(stage.evicted) == 1
        stage.unsure = False
        await asyncio.sleep(5)
        assert len(stage.evicted) == 2


async def test_what_is_only_told_takes_nothing_from_the_budget() -> None:
    async with reclaiming(*full(), reclaim={"evictionsPerQueue": 4}) as stage:
        stage.see(BOTH["blue"].reclaiming("dryRun"))
        for number in range(5):
            stage.see(unplaced(f"d{number}", cards=4))
        await asyncio.sleep(65)
        assert stage.counted("would_evict", queue="red", way="reclaim") >= 4
        stage.see(a_card("h").gated().with_priority(5))
        assert stage.opens() == []
        await asyncio.sleep(10)
        assert len(stage.evicted) == 1


async def test_who_waits_anew_is_counted_anew() -> None:
    async with reclaiming(*full(), unplaced("w"), reclaim={"mode": "dryRun"}) as stage:
        await asyncio.sleep(LONG)
        stage.goes("w")
        await asyncio.sleep(5)
        stage.see(unplaced("w"))
        await asyncio.sleep(LONG)
        assert stage.counted("would_evict", queue="red", way="reclaim") == 2


async def test_who_ends_without_an_answer_is_told_and_counted_once() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        stage.lost, stage.grace = {"r7", "r6"}, 0
        await asyncio.sleep(LONG)
        stage.goes("r7")
        await asyncio.sleep(5)
        assert stage.tells("r7") == [v.RECLAIMED]
        assert stage.tells("r6") == [v.RECLAIMED]
        assert stage.counted("evictions", queue="red", way="reclaim") == 2


async def test_who_goes_later_of_itself_is_not_told() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.refuses, stage.refuses_late = {"r7": lost}, {"r7"}
        await asyncio.sleep(LONG + 90)
        stage.goes("r7")
        await asyncio.sleep(5)
        assert stage.tells("r7") == []


async def test_pods_that_are_being_deleted_are_read_once_for_a_plan() -> None:
    """However many end for it."""
    assert await reads_of_the_leaving(1) == await reads_of_the_leaving(4)


async def reads_of_the_leaving(cards: int) -> int:
    class CountedReads(dict[str, None]):
        reads = 0

        def __iter__(self) -> Iterator[str]:
            CountedReads.reads += 1
            return super().__iter__()

    async with reclaiming(*full(), unplaced("w", cards=cards)) as stage:
        stage.ledger.being_deleted = CountedReads()
        await asyncio.sleep(61)
        assert len(stage.evicted) == cards
    return CountedReads.reads
