"""A gang of hundreds: what is done for each member is done for some at a time."""

import asyncio

import pytest

from builders import H200, a_queue, see
from builders.pod import PodBody
from cardquota.control import gang_start
from cardquota.control import release as module
from cardquota.quota import vocabulary as v

from .leader import GANG, Leader, leading, reservations, waiting
from .stage import Answer, Call, charged, no_charge_is_left, refused, stored, until

NUMBER = 10
LARGE = a_queue().with_quota({H200: NUMBER})


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
        start = gang_start.GangStart._charge_the_others
        changed: list[str] = []

        async def meanwhile(self: gang_start.GangStart, pods: object) -> bool:
            if not changed:
                changed.append(change)
                _change(leader, last, change)
            return await start(self, pods)  # type: ignore[arg-type]

        monkeypatch.setattr(gang_start.GangStart, "_charge_the_others", meanwhile)
        await until(lambda: changed)
        if change == "gone":
            await until(lambda: no_charge_is_left(leader.ledger))
            assert leader.opened == []
            assert leader.script.asked == []
        else:
            await until(lambda: len(leader.opened) == NUMBER)
            assert len(leader.script.asked) == NUMBER


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
