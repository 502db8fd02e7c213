"""A gang of hundreds: what is done for each member is done for some at a time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from builders import H200, a_group, a_queue, see
from builders.pod import PodBody
from cardquota.control.release import gang_start, pacing
from cardquota.control.release import gate_releaser as module
from cardquota.quota import Stamp
from cardquota.quota import vocabulary as v
from cardquota.quota.pending import Candidate
from cardquota.quota.release import Opening, ReleaseJudge, Wait

from ...fakes import TERM, Answer, Call, charged, lost, no_charge_is_left, refused, stored, until
from ...leader import GANG, Leader, leading, reservations, trip, waiting

pytestmark = pytest.mark.fake_clock

NUMBER = 10
LARGE = a_queue().with_quota({H200: NUMBER})

STAMP = Stamp("queue", ((H200, 1),), TERM)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a time; and what failed is tried again soon."""
    monkeypatch.setattr(gang_start, "AT_A_TIME", 3)
    monkeypatch.setattr(module, "AT_A_TIME", 3)
    for one in (module, pacing):
        monkeypatch.setattr(one, "TRY_AGAIN", 0.05)


def members(number: int = NUMBER) -> list[PodBody]:
    return [waiting(f"p{n}").in_group("gang") for n in range(number)]


async def test_it_starts_whole_and_no_more_are_asked_at_a_time_than_allowed() -> None:
    most = [0]

    def look(_: Call) -> Answer:
        most[0] = max(most[0], leader.in_flight)
        return stored(100)

    async with leading(LARGE, GANG.of(NUMBER), *members(), in_flight=4) as leader:
        leader.script.would_answer = look
        await until(lambda: len(leader.opened) == NUMBER)
        assert len(leader.script.asked) == NUMBER
        assert len(reservations(leader)) == 1
        assert charged(leader.ledger, H200) == NUMBER
        assert 1 < most[0] <= 4


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
async def test_one_that_changes_before_it_is_charged_may_ask_for_other_things(change: str) -> None:
    """None of the gang is started by what was judged; then all is judged anew."""
    last = waiting("p9").in_group("gang")
    async with leading(LARGE, GANG.of(NUMBER), *members()) as leader:
        await _some_are_charged(leader)
        _change(leader, last, change)
        if change == "gone":
            await until(lambda: no_charge_is_left(leader.ledger))
            assert leader.opened == []
            assert leader.script.asked == []
        else:
            await until(lambda: len(leader.opened) == NUMBER)
            assert len(leader.script.asked) == NUMBER


async def _some_are_charged(leader: Leader) -> None:
    """Return when some of a gang are charged and the others are not."""
    for _ in range(100):
        await asyncio.sleep(0)
        members = leader.ledger.groups["team/gang"].members.values()
        if any(one.assumed for one in members):
            assert not all(one.assumed for one in members)
            return
    raise AssertionError("nobody is charged")


async def test_of_a_group_that_is_gone_no_more_are_charged_for_others_have_the_room() -> None:
    most = [0]
    others = [waiting(f"z{n}") for n in range(NUMBER)]
    async with leading(LARGE, GANG.of(NUMBER), *members(), *others) as leader:
        assume = leader.ledger.decisions.assume

        def look(uid: str, stamp: Stamp) -> None:
            assume(uid, stamp)
            most[0] = max(most[0], charged(leader.ledger, H200))

        leader.ledger.decisions.assume = look  # type: ignore[method-assign]
        await _some_are_charged(leader)
        leader.ledger.group_gone("team/gang")
        for record in list(leader.ledger.pods.values()):
            if record.facts.name in ("z0", "z1", "z2", "z3", "z4", "z5", "z6"):
                leader.ledger.decisions.assume(record.facts.uid, STAMP)
        await until(lambda: sum("z" in name for name in leader.opened) == 3)
        assert most == [NUMBER]
        assert leader.script.asked == []


def _change(leader: Leader, pod: PodBody, how: str) -> None:
    if how == "gone":
        leader.ledger.pod_gone(pod.uid)
    elif how == "edited":
        see(leader.ledger, pod.with_cpu("1").at_revision(2))
    else:
        leader.ledger.reassessment.postpone([pod.uid])
    leader.releaser.wake()


class Held:
    """Nobody answers a dry run before it is told to."""

    def __init__(self, leader: Leader) -> None:
        self.under_way: list[tuple[str, asyncio.Future[None]]] = []
        answer = leader.script.patch

        async def patch(path: str, body: object, **more: Any) -> bytes:
            if "dryRun" in (more.get("params") or {}):
                future = asyncio.get_running_loop().create_future()
                self.under_way.append((path, future))
                await future
            return await answer(path, body, **more)

        leader.script.patch = patch  # type: ignore[method-assign]

    def answer(self, number: int, error: Exception | None = None) -> None:
        for _, future in self.under_way[:number]:
            future.set_exception(error) if error else future.set_result(None)
        del self.under_way[:number]

    async def answer_until(self, condition: Callable[[], bool]) -> None:
        """Answer one after the other, with a moment between them."""
        for _ in range(200):
            if condition():
                return
            self.answer(1)
            await asyncio.sleep(0.005)
        pytest.fail("not after 200 answers")


async def _turns() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


async def test_another_gang_of_the_same_queue_waits_until_the_first_is_asked_about() -> None:
    """Charged it would hold what it cannot use yet."""
    world = (a_queue().with_quota({H200: NUMBER + 2}), GANG.of(NUMBER), *members())
    more = [waiting(n).in_group("more").created("2026-03-01T00:00:00Z") for n in "xy"]
    pair = a_group("more").in_queue("queue").of(2)
    async with leading(*world, pair, *more, in_flight=4) as leader:
        held = Held(leader)
        await until(lambda: len(held.under_way) == 4)
        await _turns()
        assert charged(leader.ledger, H200) == NUMBER
        await held.answer_until(lambda: len(leader.opened) == NUMBER + 2)


async def test_one_put_off_is_not_judged_at_all_news_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TRY_AGAIN", 60.0)
    judged: list[str] = []
    judge = ReleaseJudge.judge

    def counted(self: ReleaseJudge, candidate: Candidate) -> Opening | Wait:
        if candidate.gang is not None:
            judged.append(candidate.gang.key)
        return judge(self, candidate)

    monkeypatch.setattr(ReleaseJudge, "judge", counted)
    world = (a_queue().with_quota({H200: NUMBER + 5}), GANG.of(NUMBER), *members())
    more = [waiting(n).in_group("more").created("2026-03-01T00:00:00Z") for n in "xy"]
    async with leading(
        *world,
        a_group("more").in_queue("queue").of(2).created("2026-03-01T00:00:00Z"),
        *more,
        in_flight=4,
    ) as leader:
        held = Held(leader)
        await until(lambda: len(held.under_way) == 4)
        held.answer(1)  # so that there is a slot at times
        for number in range(3):
            name = f"early-{number}"
            leader.see(waiting(name).created("2025-01-01T00:00:00Z"))
            held.answer(1)
            await until(lambda name=name: name in leader.opened)
        assert judged.count("team/more") == 1
        await held.answer_until(lambda: len(leader.opened) == NUMBER + 5)


async def test_a_gang_that_is_put_off_and_does_not_fit_any_more_lets_others_by() -> None:
    queue = a_queue().with_quota({H200: 42})
    more = [waiting(n).in_group("more").created("2026-03-01T00:00:00Z") for n in "xy"]
    pair = a_group("more").in_queue("queue").of(2)
    async with leading(queue, GANG.of(40), *members(40), pair, *more, in_flight=4) as leader:
        held = Held(leader)
        await until(lambda: len(held.under_way) == 4)
        held.answer(1)
        await _turns()
        leader.see(queue.with_quota({H200: 41}).at_revision(9))
        leader.see(waiting("late").created("2026-04-01T00:00:00Z"))
        await held.answer_until(lambda: "late" in leader.opened)
        assert len(leader.script.asked) < 30


@pytest.mark.parametrize("stuck", ["its gates", "its group"])
async def test_one_without_answers_holds_up_no_other_of_its_tripped_namespace(stuck: str) -> None:
    pair = [waiting(n).in_group("pair").created("2026-03-01T00:00:00Z") for n in "xy"]
    path = "/pods/p" if stuck == "its gates" else "/podgroups/gang"
    world = (a_queue().with_quota({H200: NUMBER + 2}), GANG.of(NUMBER), *members())
    async with leading(*world, in_flight=8) as leader:
        leader.script.answer_to = lambda call: lost() if path in call.path else stored(100)
        tried = leader.script.calls
        await until(lambda: sum(path in call.path for call in tried) > 2 * (path == "/pods/p"))
        await until(lambda: not leader.in_flight)
        await trip(leader)
        leader.see(a_group("pair").in_queue("queue").of(2), *pair)
        await until(lambda: {"x", "y"} <= {*leader.opened}, seconds=5.0)
        assert charged(leader.ledger, H200) == NUMBER + 2


async def test_a_gang_that_is_held_back_and_deleted_is_forgotten() -> None:
    async with leading(LARGE.with_quota({H200: NUMBER + 2}), in_flight=8) as leader:
        await trip(leader)
        leader.script.hold = asyncio.Event()
        leader.see(waiting("a"), waiting("b"))
        await until(lambda: leader.script.in_flight == 2)  # all that a tripped one may have
        leader.see(GANG.of(NUMBER), *members())
        await until(lambda: leader.ledger.groups["team/gang"].backed_off)
        for pod in members():
            leader.ledger.pod_gone(pod.uid)
        leader.ledger.group_gone("team/gang")
        leader.script.hold.set()
        await until(lambda: leader.idle)
        assert leader.script.asked == []


@pytest.mark.parametrize("asked", [4, NUMBER])
async def test_a_gang_that_has_written_nothing_does_not_start_while_we_drain(asked: int) -> None:
    async with leading(LARGE, GANG.of(NUMBER), *members(), in_flight=asked) as leader:
        held = Held(leader)
        await until(lambda: len(held.under_way) == asked)
        draining = asyncio.create_task(leader.releaser.drain(5.0))
        await _turns()
        held.answer(asked)
        assert await draining
        assert (len(leader.script.asked), leader.opened) == (asked, [])
        assert reservations(leader) == []
        assert no_charge_is_left(leader.ledger)


async def test_a_gang_that_is_written_ahead_goes_on_while_we_drain() -> None:
    async with leading(LARGE, GANG.of(NUMBER), *members(), in_flight=4) as leader:
        await until(lambda: reservations(leader))
        assert await leader.releaser.drain(5.0)
        assert len(leader.opened) == NUMBER


async def test_after_a_no_nobody_else_is_asked() -> None:
    async with leading(LARGE, GANG.of(NUMBER), *members(), in_flight=4) as leader:
        held = Held(leader)
        await until(lambda: len(held.under_way) == 4)
        held.answer(1, refused(403))
        await _turns()
        assert len(held.under_way) == 3
        held.answer(3)
        await until(lambda: v.GATE_REFUSED in leader.tells("gang"))
        assert len(leader.script.asked) == 3


def _members_charged(leader: Leader, queue: str) -> int:
    pods = leader.ledger.pods.values()
    return sum(pod.assumed is not None and pod.assumed.queue == queue for pod in pods)


async def test_nothing_more_of_a_gang_is_charged_while_we_drain() -> None:
    async with leading(LARGE, GANG.of(NUMBER), *members(), in_flight=4) as leader:
        for _ in range(100):
            await asyncio.sleep(0)
            if _members_charged(leader, "queue"):
                break
        most = _members_charged(leader, "queue")
        draining = asyncio.create_task(leader.releaser.drain(5.0))
        while not draining.done():
            await asyncio.sleep(0)
            most = max(most, _members_charged(leader, "queue"))
        assert (0 < most < NUMBER, charged(leader.ledger, H200)) == (True, 0)


async def test_members_of_gangs_are_charged_one_gang_after_the_other() -> None:
    queues = [a_queue(name).with_quota({H200: NUMBER}) for name in ("one", "two")]
    gangs = [a_group(queue.name).in_queue(queue.name).of(NUMBER) for queue in queues]
    made = ((queue.name, n) for queue in queues for n in range(NUMBER))
    pods = [waiting(f"{queue}-{n}").in_queue(queue).in_group(queue) for queue, n in made]
    async with leading(*queues, *gangs, *pods, in_flight=4) as leader:
        more = dict.fromkeys(("one", "two"), 0)
        most = 0
        while sum(more.values()) < 2 * NUMBER:
            await asyncio.sleep(0)
            now = {queue: _members_charged(leader, queue) for queue in more}
            # The first of each are charged with its reservation.
            grew = [queue for queue in more if 0 < more[queue] < now[queue]]
            most = max(most, len(grew))
            more = now
        assert most == 1
