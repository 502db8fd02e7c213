"""T2: a gang is written ahead, opened whole and told as a whole; groups are kept up to date."""

import asyncio

import pytest

from builders import H200, a_queue
from cardquota.quota import vocabulary as v

from ...fakes import Answer, Call, account, charged, lost, no_charge_is_left, refused, stored, until
from ...leader import GANG, THREE, leading, reservations, waiting

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]


@pytest.mark.parametrize("answer", [refused(403), refused(404), refused(422)])
async def test_one_that_was_refused_opens_nothing_and_leaks_nothing(answer: Exception) -> None:
    gang = [waiting(name).in_group("gang") for name in ("a", "b")]
    async with leading(THREE, GANG, *gang, answers=(answer,)) as leader:
        await until(lambda: len(reservations(leader)) == 1)
        await until(lambda: charged(leader.ledger, H200) == 0)
        assert leader.opened == []
        assert account(leader.ledger).row(H200).inqueue == 0
        await until(lambda: sorted(leader.opened) == ["a", "b"])


async def test_a_reservation_that_may_land_yet_and_cannot_be_written_is_told_on_the_group() -> None:
    gang = [waiting(name).in_group("gang") for name in ("a", "b")]
    answers = [lost()]
    revision = [1]

    def answer(call: Call) -> Answer:
        if "/podgroups/" not in call.path or call.method == "GET":
            return stored(revision[0])
        return answers.pop() if answers else refused(403)

    async with leading(THREE, GANG, *gang) as leader:
        leader.script.answer_to = answer
        await until(lambda: leader.tells("gang") == [v.GATE_REFUSED])
        (text,) = [text for who, _, text in leader.told.events if who == "gang"]
        assert "Queue <queue> holds for the group: <NVIDIA-H200> <2>" in text
        assert charged(leader.ledger, H200) == 2
        revision[0] = 7
        await until(lambda: no_charge_is_left(leader.ledger))
        assert leader.opened == []


async def test_what_is_held_is_told_though_the_group_heard_that_nothing_was() -> None:
    gang = [waiting(name).in_group("gang") for name in ("a", "b")]
    tries: list[Answer] = [refused(403), lost()]

    def answer(call: Call) -> Answer:
        if "/podgroups/" not in call.path or call.method == "GET":
            return stored(1)
        return tries.pop(0) if tries else refused(403)

    async with leading(THREE, GANG, *gang) as leader:
        leader.script.answer_to = answer
        await until(lambda: len(leader.tells("gang")) == 2)
        first, second = (text for who, _, text in leader.told.events if who == "gang")
        assert "the group holds nothing" in first
        assert "Queue <queue> holds for the group: <NVIDIA-H200> <2>" in second


async def test_a_member_whose_gate_could_not_be_opened_keeps_its_place() -> None:
    """The reservation stands: nobody else gets the card, and the member is tried again."""
    gang = [waiting(name).in_group("gang") for name in ("a", "b")]
    queue = a_queue().with_quota({H200: 2})
    written = stored(5)
    async with leading(queue, GANG, *gang, answers=(written, refused(409))) as leader:
        await until(lambda: len(leader.opened) == 2)
        assert charged(leader.ledger, H200) == 2
        leader.see(waiting("other"))
        await until(lambda: len(leader.opened) == 3)
        assert "other" not in leader.opened
        assert charged(leader.ledger, H200) == 2


async def test_a_group_that_cannot_be_written_is_tried_by_one_timer() -> None:
    async with leading(THREE, GANG.reserving("queue", {H200: 2})) as leader:
        leader.script.answer_to = lambda _: refused(403)
        for number in range(50):
            leader.see(waiting("w").in_group("gang").at_revision(number + 2).with_cpu(f"{number}m"))
            await asyncio.sleep(0)
        before = len(leader.script.calls)
        await asyncio.sleep(0.3)
        assert len(leader.script.calls) - before < 8
