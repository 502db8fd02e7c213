"""What is told of one gate (section 9)."""

import pytest

from builders import H200
from cardquota.quota import vocabulary as v

from ..fakes import Answer, Call, charged, denied, lost, stored, until
from ..leader import THREE, leading, waiting

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]


async def test_a_pod_that_holds_room_though_nobody_knows_whether_it_starts_is_told() -> None:
    """With what is held for it, and by whom it is held up; any change of the pod ends it."""
    answers: list[Answer] = [lost()]
    revision = [1]

    def answer(call: Call) -> Answer:
        if call.method == "GET":
            return stored(revision[0], spec={"schedulingGates": [{"name": v.GATE}]})
        return answers.pop() if answers else denied(403)

    async with leading(THREE, waiting("a", 2).with_cpu("4")) as leader:
        leader.script.answer_to = answer
        await until(lambda: leader.tells("a"))
        ((_, reason, text),) = leader.told.events
        assert reason == v.GATE_REFUSED
        assert denied(403).message in text
        assert "Queue <queue> holds for the pod: <NVIDIA-H200> <2>, <cpu> <4>;" in text
        assert charged(leader.ledger, H200) == 2
        calls = len(leader.script.calls)
        await until(lambda: len(leader.script.calls) > calls + 10)
        assert leader.tells("a") == [v.GATE_REFUSED]
        revision[0] = 7
        await until(lambda: charged(leader.ledger, H200) == 0)


async def test_it_hears_that_it_is_refused_once_that_is_known() -> None:
    """Then the group holds nothing any more, and that is news."""
    answers: list[Answer] = [lost(), denied(403), stored(1), stored(5)]
    async with leading(THREE, waiting("a")) as leader:
        leader.script.answer_to = lambda _: answers.pop(0) if answers else denied(409)
        await until(lambda: len(leader.told.events) == 2)
        assert "holds for the pod" in leader.told.events[0][2]
        assert leader.told.events[1][2].startswith("the gate cannot be opened: admission webhook")
        await until(lambda: charged(leader.ledger, H200) == 0)


async def test_and_that_it_runs_after_all() -> None:
    answers: list[Answer] = [lost(), denied(403), stored(1), stored(5)]
    async with leading(THREE, waiting("a")) as leader:
        leader.script.answer_to = lambda _: answers.pop(0) if answers else stored(9, spec={})
        await until(lambda: leader.tells("a") == [v.GATE_REFUSED, v.RELEASED])


async def test_who_waits_again_after_a_refusal_is_told_why() -> None:
    """Somebody else got the room meanwhile."""
    async with leading(THREE, waiting("a", 3)) as leader:
        leader.script.answer_to = lambda _: denied(403)
        await until(lambda: leader.tells("a") == [v.GATE_REFUSED])
        leader.see(waiting("z", 1).stamped("queue", {H200: 1}).on_node("h200-a"))
        await until(lambda: len(leader.tells("a")) == 2)
        assert leader.tells("a")[1] == "InsufficientCardQuota"


async def test_refused_gates_are_counted() -> None:
    async with leading(THREE, waiting("a")) as leader:
        leader.script.answer_to = lambda _: denied(403)
        await until(lambda: leader.tells("a") == [v.GATE_REFUSED])
        value = leader.metrics.registry.get_sample_value
        assert value("cardquota_refused_gates_total", {"why": "object"}) == 1
        assert value("cardquota_refused_gates_total", {"why": "term"}) == 0
