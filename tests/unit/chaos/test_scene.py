"""What a fault did is noted, and what one did not do is not."""

import asyncio
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, plan_text
from chaos.api import Object, Reply
from chaos.clients.lending import BORROWER, OWNER
from chaos.faults import faults, schedule
from chaos.judging.leeway import BEHIND
from chaos.lengths import SHORT, STANDS_STILL, Lengths, full
from chaos.scene import LEASE, NothingDoneError, Scene
from chaos.way import Way

NO = Reply(404, {})


class CannedApi:
    """Answers no to everything, but for what is given."""

    def __init__(self, **answers: Reply) -> None:
        self._answers = answers

    async def get(self, path: str) -> Reply:
        return self._answers.get("get", NO)

    async def create(self, path: str, body: Object) -> Reply:
        return self._answers.get("create", NO)

    async def delete(self, path: str) -> Reply:
        return self._answers.get("delete", NO)


def scene_with(api: CannedApi) -> Scene:
    nothing: Any = None
    answers: Any = api
    return Scene(nothing, answers, [], [], nothing, Random(1), Counter())


@pytest.mark.parametrize(
    "fault", [faults.hold_patches, faults.delete_the_lease, faults.refuse_after_us]
)
async def test_one_that_did_nothing_counts_apart_and_excuses_nothing(fault: faults.Fault) -> None:
    scene = scene_with(CannedApi())
    with scene.noted("fault: x"):
        await fault(scene, SHORT)
    assert +scene.tally == {"fault: x, nothing done": 1}
    assert scene.happened == []
    assert scene.troubles == []


def test_what_makes_views_old_and_what_makes_answers_late_is_told_apart() -> None:
    scene = scene_with(CannedApi())
    with scene.noted("fault: x"), scene.views_are_old(BEHIND):
        pass
    with scene.noted("fault: y"), scene.answers_are_late():
        pass
    with scene.noted("fault: neither"):
        pass
    assert [(one.old, one.behind) for one in scene.troubles] == [(True, BEHIND), (False, 0.0)]
    assert [what for _, _, what in scene.happened] == ["fault: x", "fault: y", "fault: neither"]


_REFUSED = (
    'apiserver_validating_admission_policy_check_total{{enforcement_action="deny",'
    'policy="cardquota-eviction-term"}} {}'
)


class LentApi(CannedApi):
    """A pod that is owed a card, and one that is to end for it."""

    def __init__(self, way: Way, *, lands: bool = False, refused: bool = False) -> None:
        super().__init__()
        plan = plan_text(PlanRecord("cardquota-0_x", 1, "reclaim", "D", ("b",)))
        self.owners = [
            {"metadata": {"name": "o", "annotations": {v.RECLAIM_PLAN: plan}}, "spec": {}}
        ]
        self._way, self._lands, self._refused = way, lands, refused
        self.held = False

    async def get(self, path: str) -> Reply:
        self.held = self.held or is_held(self._way)
        came = self.held and not is_held(self._way)
        if path == "/metrics":
            return Reply(200, {}, _REFUSED.format(int(self._refused and came)))
        if path == LEASE:
            return Reply(200, {"spec": {"holderIdentity": "cardquota-0_x"}})
        if path.endswith(f"client={OWNER}"):
            return Reply(200, {"items": self.owners})
        if path.endswith(f"client={BORROWER}"):
            borrower = {"metadata": {"uid": "b", "name": "b"}}
            return Reply(200, {"items": [] if self._lands and came else [borrower]})
        return NO

    async def delete(self, path: str, *, now: bool = False) -> Reply:
        self.owners.clear()
        return Reply(200, {})


def is_held(way: Way) -> bool:
    return way.holding is not None and not way.holding.is_set()


@pytest.mark.fake_clock
@pytest.mark.parametrize(
    ("lands", "refused", "name", "found"),
    [
        (False, True, "fault: x", []),
        (True, False, "fault: x", ["1 pods were ended by who led no more"]),
        (False, False, "fault: x, nothing done", []),
    ],
)
async def test_l5_what_is_sent_before_it_stands_still_ends_nobody(
    monkeypatch: pytest.MonkeyPatch, *, lands: bool, refused: bool, name: str, found: list[str]
) -> None:
    way = Way()
    api = LentApi(way, lands=lands, refused=refused)
    scene = scene_with(api)
    scene.ways = [way]
    signals: list[str] = []
    monkeypatch.setattr(Scene, "signal", lambda _, name, number: signals.append(number.name))

    async def another(*_: object, **more: object) -> int:
        assert is_held(way)
        assert not api.owners
        return 1

    monkeypatch.setattr(Scene, "until_deciding", another)
    with scene.noted("fault: x"):
        await faults.stand_still_before_it_evicts(scene, SHORT)
    assert (scene.tally["fault: x"], scene.tally[name]) == (name == "fault: x", 1)
    assert signals == ["SIGSTOP", "SIGCONT"]
    assert scene.found == found
    assert not scene.needs_a_term


RUNS: Object = {"metadata": {}, "spec": {}, "status": {}}
WAITS: Object = {**RUNS, "spec": {"schedulingGates": [{"name": v.GATE}]}}
ENDS: Object = {**RUNS, "metadata": {"deletionTimestamp": "now"}}
EVICTED: Object = {**RUNS, "status": {"conditions": [{"type": "DisruptionTarget"}]}}


@pytest.mark.fake_clock
@pytest.mark.parametrize(
    ("pods", "needs_a_term", "comes"),
    [
        ([EVICTED, WAITS], False, True),
        ([ENDS, WAITS], False, True),
        ([RUNS, WAITS], False, False),
        ([ENDS, RUNS], False, False),
        ([ENDS, WAITS], True, False),
    ],
)
async def test_l5_the_moment_between_an_eviction_and_the_release(
    pods: list[Object], *, needs_a_term: bool, comes: bool
) -> None:
    scene = scene_with(CannedApi(get=Reply(200, {"items": pods})))
    scene.needs_a_term = needs_a_term
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(60, over.set)
    with nullcontext() if comes else pytest.raises(NothingDoneError):
        await faults.until_somebody_ends(scene, over)


@pytest.mark.fake_clock
async def test_l5_without_a_plan_it_has_done_nothing() -> None:
    way = Way()
    api = LentApi(way, lands=True)
    api.owners[0]["metadata"]["annotations"] = {v.QUEUE_RECLAIM: "on"}
    scene = scene_with(api)
    scene.ways = [way]
    with scene.noted("fault: x"):
        await faults.stand_still_before_it_evicts(scene, SHORT)
    assert +scene.tally == {"fault: x, nothing done": 1}


_MOST = 5
"""Faults."""


class NoKills(schedule.Kills):
    async def another(self) -> None:
        pass


@pytest.mark.fake_clock
@pytest.mark.parametrize("seed", ["1", "2", "3"])
async def test_each_kind_comes_once_in_a_round_and_before_that_one_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch, seed: str
) -> None:
    scene, over, came = scene_with(CannedApi()), asyncio.Event(), list[str]()
    names = sorted(schedule.known_faults(volcano=False))

    def coming(name: str) -> faults.Fault:
        async def fault(scene: Scene, lengths: Lengths) -> None:
            came.append(name)
            if len(came) > len(names):
                over.set()

        return fault

    known = {name: coming(name) for name in names}
    monkeypatch.setattr(schedule, "known_faults", lambda *, volcano: known)
    lengths = full(60)
    await schedule.everything_else(scene, lengths, seed, NoKills(scene, lengths, seed), over)
    assert came[0] == STANDS_STILL
    assert sorted(came[1:]) == names


@pytest.mark.fake_clock
async def test_in_a_short_run_that_one_comes_until_it_was_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene, over, came = scene_with(CannedApi()), asyncio.Event(), list[str]()

    async def still(scene: Scene, lengths: Lengths) -> None:
        came.append("still")
        if len(came) == 1:
            raise NothingDoneError

    async def other(scene: Scene, lengths: Lengths) -> None:
        came.append("other")
        if len(came) >= _MOST:
            over.set()

    known = {STANDS_STILL: still, "x": other}
    monkeypatch.setattr(schedule, "known_faults", lambda *, volcano: known)
    wanted = (f"fault: {STANDS_STILL}",)
    lengths = replace(SHORT, faults=(STANDS_STILL, "x"), wanted=wanted)
    await schedule.everything_else(scene, lengths, "1", NoKills(scene, lengths, "1"), over)
    assert came == ["still", "still", "other", "other", "other"]
