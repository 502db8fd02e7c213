"""T2: a gang is written ahead, opened whole and told as a whole; groups are kept up to date."""

import asyncio

import pytest

from builders import H200
from cardquota.quota import vocabulary as v

from ...fakes import Answer, Call, account, charged, lost, no_charge_is_left, refused, stored, until
from ...leader import GANG, THREE, leading, reservations, waiting

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]

PAIR = [waiting(name).in_group("gang") for name in "ab"]


@pytest.mark.parametrize("answer", [refused(403), refused(404), refused(422)])
async def test_one_that_was_refused_opens_nothing_and_leaks_nothing(answer: Exception) -> None:
    async with leading(THREE, GANG, *PAIR, answers=(answer,)) as leader:
        await until(lambda: len(reservations(leader)) == 1)
        await until(lambda: charged(leader.ledger, H200) == 0)
        assert leader.opened == []
        assert account(leader.ledger).row(H200).inqueue == 0
        await until(lambda: sorted(leader.opened) == ["a", "b"])


@pytest.mark.parametrize("refusals", [0, 1], ids=["at first", "though it heard of none"])
async def test_a_reservation_that_may_land_yet_and_cannot_be_written_is_told(refusals: int) -> None:
    answers: list[Answer] = [*[refused(403)] * refusals, lost()]
    revision = [1]

    def answer(call: Call) -> Answer:
        if "/podgroups/" not in call.path or call.method == "GET":
            return stored(revision[0])
        return answers.pop(0) if answers else refused(403)

    async with leading(THREE, GANG, *PAIR) as leader:
        leader.script.answer_to = answer
        await until(lambda: leader.tells("gang") == [v.GATE_REFUSED] * (1 + refusals))
        *before, last = (text for who, _, text in leader.told.events if who == "gang")
        assert ["the group holds nothing" in text for text in before] == [True] * refusals
        assert "Queue <queue> holds for the group: <NVIDIA-H200> <2>" in last
        assert charged(leader.ledger, H200) == 2
        revision[0] = 7
        await until(lambda: no_charge_is_left(leader.ledger))
        assert leader.opened == []


async def test_a_member_whose_gate_could_not_be_opened_keeps_its_place() -> None:
    """The reservation stands: nobody else gets the card, and the member is tried again."""
    answers = (stored(5), refused(409))
    async with leading(THREE.with_quota({H200: 2}), GANG, *PAIR, answers=answers) as leader:
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
