"""The releaser over a real ledger: charge, write ahead, send; tell those who wait (section 9)."""

import asyncio
from datetime import UTC, datetime

import pytest

from builders import H200, a_namespace, a_pod, a_queue
from cardquota.cluster.api import ApiError
from cardquota.quota import vocabulary as v

from ..fakes import Answer, Call, charged, denied, lost, no_charge_is_left, refused, stored, until
from ..leader import GANG, THREE, Leader, leading, waiting

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]


async def test_told_once_per_reason_and_when_it_is_released() -> None:
    """Section 9: `QuotaReleased` only for those who were told to wait."""
    first, other = waiting("first", 3), a_pod("other").in_queue("queue").naming(H200)
    async with leading(THREE, first, waiting("second")) as leader:
        await until(lambda: leader.tells("second"))
        for revision, cards in enumerate((2, 1, 3), 2):
            bound = other.asking_for(cards).stamped("queue", {H200: cards})
            leader.see(bound.at_revision(revision))
            await asyncio.sleep(0.01)
        assert leader.tells("second") == [v.Reason.INSUFFICIENT_CARD]
        leader.ledger.pod_gone(other.uid)
        leader.see(THREE.with_quota({H200: 4}))
        await until(lambda: leader.tells("second")[1:] == [v.RELEASED])
        assert leader.tells("first") == []
        seconds = leader.metrics.registry.get_sample_value("cardquota_release_seconds_sum")
        assert seconds is not None
        assert seconds < 1


async def test_who_was_there_before_the_term_may_have_been_told_to_wait() -> None:
    old, new = (f"2026-01-01T00:00:{second}Z" for second in ("09", "10"))
    pods = waiting("old").created(old), waiting("new").created(new)
    began = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC).timestamp()
    async with leading(THREE, *pods, began=began + 0.9) as leader:
        await until(lambda: leader.tells("old") == [v.RELEASED] and len(leader.opened) == 2)
        assert leader.tells("new") == []


@pytest.mark.parametrize("mode", ["off", "audit"])
async def test_where_nothing_waits_a_gate_opens_without_a_claim_of_room(mode: str) -> None:
    async with leading(THREE.with_quota({H200: 0}), waiting("pod")) as leader:
        await until(lambda: leader.tells("pod"))
        leader.see(a_namespace().in_mode(mode))
        await until(lambda: leader.tells("pod")[1:] == [v.RELEASED])
        _, _, text = leader.told.events[-1]
    assert text.startswith(
        f"gate opened without looking at the quota: no pod waits in namespace <team> (mode {mode})"
    )


async def test_no_more_in_flight_than_allowed() -> None:
    queue = a_queue().with_quota({H200: 200})
    pods = [waiting(f"p{n}") for n in range(100)]
    async with leading(queue, *pods, in_flight=8) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight == 8)
        await asyncio.sleep(0.01)
        assert leader.script.in_flight == 8
        assert charged(leader.ledger, H200) == 8
        leader.script.hold.set()
        await until(lambda: len(leader.opened) == 100)
        assert leader.script.most_in_flight == 8


async def test_charged_before_it_is_sent() -> None:
    """I1: whatever the API server does in between."""
    most: list[int] = []
    async with leading(THREE) as leader:
        leader.script.on_call = lambda _: most.append(charged(leader.ledger, H200))
        leader.see(*[waiting(f"p{n}") for n in range(6)])
        await until(lambda: len(most) == 3)
        assert most == [3, 3, 3]


async def test_what_was_refused_is_held_back_and_tried_again() -> None:
    async with leading(THREE, waiting("a", 3), answers=(refused(409),)) as leader:
        await until(lambda: len(leader.opened) == 1)
        await until(lambda: charged(leader.ledger, H200) == 0)
        await until(lambda: leader.opened == ["a", "a"])
        await until(lambda: charged(leader.ledger, H200) == 3)


async def test_a_patch_of_unknown_outcome_keeps_its_quota() -> None:
    """I1: nobody else gets it until it is settled."""
    answers = (lost(), lost(), stored(9, spec={"schedulingGates": [{"name": v.GATE}]}))
    async with leading(THREE, waiting("a", 3), waiting("b", 3), answers=answers) as leader:
        await until(lambda: len(leader.script.calls) == 2)
        assert charged(leader.ledger, H200) == 3
        assert leader.opened in (["a"], ["b"])
        await until(lambda: len(leader.opened) == 2, 4.0)


async def test_nothing_is_sent_while_renewals_are_not_answered() -> None:
    async with leading(THREE, waiting("a"), left=2.0) as leader:
        await asyncio.sleep(0.02)
        assert leader.script.calls == []
        leader.left = 60.0
        await until(lambda: leader.opened == ["a"])


async def test_a_term_that_ends_leaves_no_charge() -> None:
    async with leading(THREE, GANG, waiting("a"), waiting("b").in_group("gang")) as leader:
        leader.script.hold = asyncio.Event()
        leader.see(waiting("c").in_group("gang"))
        await until(lambda: leader.script.in_flight >= 2)
        assert charged(leader.ledger, H200) == 3


async def test_draining_decides_no_more_and_waits_for_what_is_in_flight() -> None:
    async with leading(THREE, waiting("a")) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight == 1)
        draining = asyncio.create_task(leader.releaser.drain(1.0))
        await asyncio.sleep(0)
        leader.see(waiting("b"))
        await asyncio.sleep(0.01)
        assert leader.opened == ["a"]
        assert not draining.done()
        leader.script.hold.set()
        assert await asyncio.wait_for(draining, 0.5)
        assert charged(leader.ledger, H200) == 1


async def test_draining_says_what_it_could_not_settle() -> None:
    answers = tuple(lost() for _ in range(100))
    async with leading(THREE, waiting("a"), answers=answers) as leader:
        await until(lambda: leader.opened == ["a"])
        assert not await leader.releaser.drain(0.05)
        assert charged(leader.ledger, H200) == 1


async def test_pods_that_cannot_be_settled_hold_up_no_other() -> None:
    """Somebody's webhook lets every patch of one namespace run into its time-out."""
    stuck = [waiting(f"stuck-{n}").in_namespace("stuck") for n in range(4)]
    async with leading(a_queue().with_quota({H200: 9}), *stuck, in_flight=2) as leader:
        answer = leader.script.answer_to

        def time_out(call: Call) -> Answer:
            return lost() if "/stuck/" in call.path else answer(call)

        leader.script.answer_to = time_out
        await until(lambda: len(leader.opened) == 4)
        leader.see(waiting("other"))
        await until(lambda: "other" in leader.opened)
        assert charged(leader.ledger, H200) == 5


async def test_an_error_nobody_has_thought_of_ends_the_term() -> None:
    """A leader that decides nothing, or leaves a charge for ever, is worse than none."""
    leader = Leader(THREE, waiting("a"))
    leader.script.answers = [KeyError("a bug")]
    with pytest.raises(KeyError):
        await asyncio.wait_for(leader.releaser.run(), 2)
    assert no_charge_is_left(leader.ledger)
    assert not await leader.releaser.drain(0.0)


async def test_a_namespace_that_refuses_every_patch_slowly_holds_up_no_other() -> None:
    """Somebody's webhook answers late and badly there: others keep most of the slots."""
    queues = [a_queue(name).with_quota({H200: 500}) for name in ("bad", "good")]
    pods = [waiting(f"bad-{n:02}").in_namespace("bad").in_queue("bad") for n in range(60)]
    async with leading(*queues, *pods, in_flight=4) as leader:
        shut = asyncio.Event()
        sent: list[str] = []

        async def patch(path: str, body: object, **_: object) -> bytes:
            sent.append(path)
            if "/bad/" in path:
                await asyncio.wait_for(shut.wait(), 0.05) if not shut.is_set() else None
            return stored(100, spec={})

        async def slowly(path: str, body: object, **options: object) -> bytes:
            try:
                return await patch(path, body, **options)
            except TimeoutError:
                raise refused(500) from None

        leader.script.patch = slowly  # type: ignore[method-assign]
        await until(lambda: len(sent) > 12)
        leader.see(*(waiting(f"good-{n}").in_queue("good") for n in range(8)))
        before = len(sent)
        await until(lambda: sum("/good-" in path for path in sent) == 8)
        assert len(sent) - before < 30
        shut.set()
        await until(lambda: len({path for path in sent if "/bad/" in path}) == 60, 10)


async def test_events_give_way_while_gates_are_on_their_way() -> None:
    """Each event is a request to the API server, as an opened gate is."""
    async with leading(a_queue().with_quota({H200: 500}), in_flight=2) as leader:
        leader.script.hold = asyncio.Event()
        leader.see(*(waiting(f"p{n}") for n in range(4)))
        await until(lambda: leader.script.in_flight == 2)
        assert leader.told.gives_way
        leader.script.hold.set()
        await until(lambda: len(leader.opened) == 4 and not leader.told.gives_way)


async def test_e11_nothing_is_opened_while_decisions_of_the_term_are_refused() -> None:
    async with leading(THREE) as leader:
        leader.fence.closed = True
        leader.see(waiting("a"), GANG, *(waiting(name).in_group("gang") for name in "bc"))
        await asyncio.sleep(5)
        assert leader.script.patches == []
        leader.fence.closed = False
        await until(lambda: sorted(leader.opened) == ["a", "b", "c"])


async def test_e11_who_is_refused_for_the_term_is_neither_blamed_nor_held_back() -> None:
    by = "ValidatingAdmissionPolicy 'cardquota-gate-term' with binding 'x' denied request: no"
    answers: list[Answer] = [ApiError(403, "Forbidden", by)]
    async with leading(THREE, waiting("a"), answers=tuple(answers)) as leader:
        await until(lambda: leader.fence.closed)
        await asyncio.sleep(5)
        assert len(leader.script.patches) == 1
        assert charged(leader.ledger, H200) == 0
        leader.fence.closed = False
        await until(lambda: len(leader.script.patches) == 2)
        await until(lambda: charged(leader.ledger, H200) == 1)
        assert leader.tells("a") == []


async def test_a_pod_that_holds_room_though_nobody_knows_whether_it_starts_is_told() -> None:
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


@pytest.mark.parametrize(
    ("found", "reason", "cards"),
    [(denied(409), v.GATE_REFUSED, 0), (stored(9, spec={}), v.RELEASED, 1)],
    ids=["that it is refused", "that it runs after all"],
)
async def test_it_hears_once_that_is_known(found: Answer, reason: str, cards: int) -> None:
    """If it is refused the group holds nothing any more, and that is news."""
    answers: list[Answer] = [lost(), denied(403), stored(1), stored(5)]
    async with leading(THREE, waiting("a")) as leader:
        leader.script.answer_to = lambda _: answers.pop(0) if answers else found
        await until(lambda: leader.tells("a") == [v.GATE_REFUSED, reason])
        assert "holds for the pod" in leader.told.events[0][2]
        refused = leader.told.events[1][2].startswith("the gate cannot be opened: admission web")
        assert refused is (reason == v.GATE_REFUSED)
        await until(lambda: charged(leader.ledger, H200) == cards)


async def test_who_waits_again_after_a_refusal_is_told_why() -> None:
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


TEAM = a_namespace("team").with_default_queue("red")
RED, BLUE = (a_queue(name).with_quota({H200: 3}) for name in ("red", "blue"))
PODS = [a_pod(f"p{n}").naming(H200).asking_for(1).gated() for n in range(4)]


async def test_a_pod_is_charged_to_the_queue_that_its_namespace_has_now() -> None:
    async with leading(RED, BLUE, TEAM, *PODS) as leader:
        leader.ledger.reassessment.at_once = 0
        leader.see(TEAM.with_default_queue("blue"))
        assert leader.ledger.overdue
        assert {record.queue for record in leader.ledger.pods.values()} == {"red"}
        leader.ledger.reassessment.at_once = 1
        await until(lambda: len(leader.opened) == 3)
        stamps = [call.body["metadata"]["annotations"] for call in leader.script.patches]
        assert [stamp[v.CHARGED_QUEUE] for stamp in stamps] == ["blue"] * 3


async def test_a_queue_that_was_closed_to_the_namespace_takes_nothing() -> None:
    async with leading(RED, TEAM, *PODS) as leader:
        leader.ledger.reassessment.at_once = 0
        leader.see(RED.open_to("other").at_revision(2))
        leader.ledger.reassessment.at_once = 1
        assert leader.ledger.overdue
        await until(lambda: not leader.ledger.dirty.pending)
        leader.ledger.reassessment.read_overdue()
        leader.releaser.wake()
        await until(lambda: leader.tells("p3"))
        assert leader.opened == []
