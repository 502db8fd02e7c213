"""E6 on traces: a big gang is not starved by small jobs behind it, and little is lost by that.

By a recount of the records: nobody takes what is set aside, and nobody waits for anything else.
"""

import random
from collections import Counter
from collections.abc import Iterable

import pytest

from cardquota.cli.simulate.timeline.job_record import JobRecord, JobState
from cardquota.settings import Release, Settings

from .timelines import FinishedTimeline, Run, node, queue

H200, A100 = "NVIDIA-H200", "NVIDIA-A100"
HOUR = 3_600
OFF, TEN_MINUTES = 0, 600
LARGE = node("h", 64) + node("a", 64, A100)
CLUSTER = LARGE + queue("red", f'{{"{H200}": 16, "{A100}": 4}}')
STREAM = [f"small-{n},{n * 400},red,{H200},1,1,{2 * HOUR}," for n in range(400)]
"""Small jobs for more than there is: 18 of them would run at a time."""
GANG = f"gang,{3 * HOUR},red,{H200},2,8,{HOUR},"
OTHERS = [f"other-{n},{n * 900},red,{A100},1,1,{HOUR // 2}," for n in range(170)]


def with_wait(seconds: float) -> Settings:
    release = Release.model_construct(starvation_wait=seconds)
    return Settings.model_construct(release=release)


def held(found: FinishedTimeline, until: int, card: str = H200) -> float:
    """The part of the quota that was held on average, up to a moment."""
    seconds = sum(
        place.cards * (min(until, record.ended or until) - place.at)
        for record in found.report.records
        for place in record.placements
        if place.card == card and place.at < until
    )
    return seconds / (16 if card == H200 else 4) / until


def test_a_big_gang_waits_for_a_bounded_time_and_little_is_lost_meanwhile(run: Run) -> None:
    without, bounded = (
        run(CLUSTER, *sorted((*STREAM, GANG, *OTHERS), key=arrival), settings=with_wait(wait))
        for wait in (OFF, TEN_MINUTES)
    )
    end = 400 * 400
    starved = without.waits()["gang"]
    waited = bounded.waits()["gang"]
    assert starved is not None
    assert waited is not None
    assert starved > end - 3 * HOUR
    # Those before it go first. Then the wait that is too long, and the time that small ones run.
    before = [n for n, one in bounded.records.items() if one.job.arrival < 3 * HOUR]
    first = max(bounded.waits()[name] or 0 for name in before)
    assert first < HOUR
    assert waited <= first + TEN_MINUTES + 2 * HOUR
    assert held(without, end) > 0.9
    assert held(bounded, end) > held(without, end) - 0.03
    # Who wants the other card does not notice.
    others = [name for name in without.waits() if name.startswith("other")]
    assert all(bounded.waits()[name] == without.waits()[name] for name in others)


def arrival(line: str) -> int:
    return int(line.split(",")[1])


def some_jobs(dice: random.Random) -> list[str]:
    found = []
    for number in range(80):
        card, most = dice.choice(((H200, 16), (H200, 16), (A100, 4)))
        pods = dice.choice((1, 1, 1, 2, 4))
        cards = dice.randint(1, max(1, most // pods // dice.choice((1, 2, 4))))
        at, duration = dice.randint(0, 20 * HOUR), dice.randint(60, 2 * HOUR)
        found.append(f"j{number},{at},red,{card},{cards},{pods},{duration},")
    return sorted(found, key=arrival)


@pytest.mark.parametrize("seed", range(6))
def test_nobody_takes_what_is_set_aside_and_nobody_waits_for_anything_else(
    seed: int, run: Run
) -> None:
    wait = random.Random(seed).choice((60, 600, HOUR))
    found = run(CLUSTER, *some_jobs(random.Random(seed)), settings=with_wait(wait))
    records = found.report.records
    assert all(record.state is JobState.ENDED for record in records)
    assert wrong(records, wait) == []


def test_the_recount_finds_who_passes(run: Run) -> None:
    """The same jobs without the setting."""
    found = run(CLUSTER, *some_jobs(random.Random(1)), settings=with_wait(OFF))
    assert any("passes" in text for text in wrong(found.report.records, 600))


def wrong(records: Iterable[JobRecord], wait: int) -> list[str]:
    """At every moment, in the order of arrival: who went though one before him, who wants the same
    card, had waited too long and still waits; and who waits though nobody like that is before him
    and there is room.
    """
    jobs, found = list(records), []
    quota = {H200: 16, A100: 4}
    moments = {moment for one in jobs for moment in (one.job.arrival, one.ended) if moment}
    for now in sorted(moments):
        free, too_long = Counter(quota), set[str]()
        for one in jobs:
            if one.let_through is not None and one.let_through <= now < (one.ended or 0):
                free[one.job.card] -= one.job.all_cards
        assert min(free.values()) >= 0
        for one in jobs:
            card, name = one.job.card, one.job.name
            waits = one.job.arrival <= now and (one.let_through or 0) > now
            if one.let_through == now and card in too_long:
                found.append(f"{name} passes at {now}")
            if waits and card not in too_long and one.job.all_cards <= free[card]:
                found.append(f"{name} waits at {now}")
            if waits and one.job.arrival <= now - wait:
                too_long.add(card)
    return found
