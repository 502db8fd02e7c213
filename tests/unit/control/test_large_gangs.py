"""A gang of hundreds: what is done for each member is done for some at a time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from builders import H200, a_queue, see
from builders.pod import PodBody
from cardquota.control import gang_start
from cardquota.control import release as module
from cardquota.quota import vocabulary as v
from cardquota.quota.stamp import Stamp

from .leader import GANG, Leader, leading, reservations, waiting
from .stage import TERM, Answer, Call, charged, no_charge_is_left, refused, stored, until

NUMBER = 10
LARGE = a_queue().with_quota({H200: NUMBER})

STAMP = Stamp("queue", ((H200, 1),), TERM)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a time; and what failed is tried again soon."""
    monkeypatch.setattr(gang_start, "AT_A_TIME", 3)
    monkeypatch.setattr(module, "AT_A_TIME", 3)
    monkeypatch.setattr(module, "_TRY_AGAIN", 0.05)


def members(number: int = NUMBER) -> list[PodBody]:
    return [waiting(f"p{n}").in_group("gang") for n in range(number)]


async def test_it_starts_whole_and_no_more_are_asked_at_a_time_than_allowed() -> None:
    most = [0]

    def look(_: Call) -> Answer:
        most[0] = max(most[0], leader.door._sending)
        return stored(100)

    async with leading(LARGE, GANG.of(NUMBER), *members()) as leader:
        leader.script.would_answer = look
        await until(lambda: len(leader.opened) == NUMBER)
        assert len(leader.script.asked) == NUMBER
        assert len(reservations(leader)) == 1
        assert charged(leader.ledger, H200) == NUMBER
        assert most == [3]


async def test_nobody_else_gets_what_is_not_charged_yet() -> None:
    """I1: the reservation holds it, from the moment at which it was judged."""
    held: list[int] = []
    async with leading(LARGE, GANG.of(NUMBER), *members(), waiting("z")) as leader:

        def look(_: Call) -> Answer:
            held.append(charged(leader.ledger, H200))
            return stored(100)

        leader.script.would_answer = look
        await until(lambda: len(leader.opened) == NUMBER)
        assert set(held) == {NUMBER}
        assert "z" not in leader.opened


@pytest.mark.parametrize("name", ["p2", "p5", "p9"])
async def test_if_one_may_not_start_none_does_and_all_is_taken_back(name: str) -> None:
    async with leading(LARGE, GANG.of(NUMBER), *members()) as leader:
        leader.script.would_answer = lambda call: (
            refused(403) if call.path.endswith(name) else stored(100)
        )
        await until(lambda: v.GATE_REFUSED in leader.tells("gang"))
        await until(lambda: no_charge_is_left(leader.ledger))
        assert leader.opened == []
        assert reservations(leader) == []


@pytest.mark.parametrize("change", ["edited", "gone", "its queue"])
async def test_one_that_changes_before_it_is_charged_may_ask_for_something_else(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of the gang is started by what was judged; then all is judged anew."""
    last = waiting("p9").in_group("gang")
    async with leading(LARGE, GANG.of(NUMBER), *members()) as leader:
        changed = _while_it_is_charged(monkeypatch, lambda: _change(leader, last, change))
        await until(lambda: changed)
        if change == "gone":
            await until(lambda: no_charge_is_left(leader.ledger))
            assert leader.opened == []
            assert leader.script.asked == []
        else:
            await until(lambda: len(leader.opened) == NUMBER)
            assert len(leader.script.asked) == NUMBER


def _while_it_is_charged(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> list[Any]:
    """Something happens, once, when some of a gang are charged and the others are not."""
    start = gang_start.GangStart._charge_the_others
    happened: list[Any] = []

    async def meanwhile(self: gang_start.GangStart, *started: Any) -> bool:
        if not happened:
            happened.append(started)
            happens()
        return await start(self, *started)

    monkeypatch.setattr(gang_start.GangStart, "_charge_the_others", meanwhile)
    return happened


async def test_of_a_group_that_is_gone_no_more_are_charged_for_others_have_the_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I1: its reservation is gone with it."""
    most = [0]
    others = [waiting(f"z{n}") for n in range(NUMBER)]
    async with leading(LARGE, GANG.of(NUMBER), *members(), *others) as leader:

        def gone() -> None:
            leader.ledger.group_gone("team/gang")
            for record in list(leader.ledger.pods.values()):
                if record.facts.name in ("z0", "z1", "z2", "z3", "z4", "z5", "z6"):
                    leader.ledger.assume(record.facts.uid, STAMP)

        assume = leader.ledger.assume

        def look(uid: str, stamp: Stamp) -> None:
            assume(uid, stamp)
            most[0] = max(most[0], charged(leader.ledger, H200))

        leader.ledger.assume = look  # type: ignore[method-assign]
        happened = _while_it_is_charged(monkeypatch, gone)
        await until(lambda: happened)
        await until(lambda: sum("z" in name for name in leader.opened) == 3)
        assert most == [NUMBER]
        assert leader.script.asked == []


async def test_a_group_made_again_under_its_name_starts_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the first start takes back is its own alone."""
    async with leading(LARGE, GANG.of(NUMBER), *members()) as leader:

        def again() -> None:
            leader.ledger.group_gone("team/gang")
            leader.see(GANG.of(NUMBER).put("uid-new", "metadata", "uid").at_revision(50))

        answered: dict[str, int] = {}

        def once(call: Call) -> Answer:
            """As an API server: nothing is written twice under one version."""
            if "/pods/" in call.path and not call.settles:
                answered[call.path] = answered.get(call.path, 0) + 1
                return stored(100) if answered[call.path] == 1 else refused(409)
            return stored(100)

        leader.script.answer_to = once
        happened = _while_it_is_charged(monkeypatch, again)
        await until(lambda: happened and len(answered) == NUMBER)
        for _ in range(50):
            await asyncio.sleep(0)
        open_ = {path.rpartition("/")[2] for path in answered}
        charges = [r for r in leader.ledger.pods.values() if r.facts.name in open_ and r.assumed]
        assert len(charges) == NUMBER
        assert set(answered.values()) == {1}


def _change(leader: Leader, pod: PodBody, how: str) -> None:
    if how == "gone":
        leader.ledger.pod_gone(pod.uid)
    elif how == "edited":
        see(leader.ledger, pod.with_cpu("1").at_revision(2))
    else:
        leader.ledger._overdue.add(pod.uid)
    leader.door.wake()


async def test_where_the_reservation_is_not_written_all_are_taken_back() -> None:
    async with leading(LARGE, GANG.of(NUMBER), *members(), answers=(refused(403),)) as leader:
        await until(lambda: len(reservations(leader)) == 1)
        await until(lambda: charged(leader.ledger, H200) == 0)
        await asyncio.sleep(0)
        assert leader.opened == []
        await until(lambda: len(leader.opened) == NUMBER)
