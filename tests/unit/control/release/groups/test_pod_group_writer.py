"""The phase that people see and the end of a reservation (T2)."""

import pytest

from builders import GPU, H200, a_group, a_pod, a_queue
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.control.release import GroupConditions, PodGroupWriter
from cardquota.quota import Reservation, reservation_text
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import GroupFacts

from ...fakes import (
    TERM,
    Answer,
    Script,
    a_world,
    a_writer,
    charged,
    denied,
    lost,
    no_charge_is_left,
    refused,
    stored,
)

pytestmark = pytest.mark.fake_clock

KEY = "team/gang"
NOW = "2026-05-01T12:00:00Z"
GANG = a_group().in_queue("queue").of(2)


def member(name: str) -> PodBody:
    return a_pod(name).in_queue("queue").in_group("gang").naming(H200).asking_for(1, GPU)


def runs(name: str) -> PodBody:
    return member(name).stamped("queue", {H200: 1}).on_node("h200-a")


def world(group: GroupBody, *pods: PodBody) -> Ledger:
    return a_world(a_queue().with_quota({H200: 3}), group, *pods)


def a_writer_over(
    ledger: Ledger, *answers: Answer, left: float = 60.0, phases: bool = True
) -> tuple[PodGroupWriter, Script]:
    script = Script(*answers)
    writer = a_writer(script, lambda: left)
    conditions = GroupConditions(ledger, term=TERM, now=lambda: NOW)
    writes = PodGroupWriter(ledger, writer, writer, conditions=conditions if phases else None)
    return writes, script


@pytest.mark.parametrize(
    ("group", "pods", "phase", "running"),
    [
        (GANG, (), v.GroupPhase.INQUEUE, 0),
        (GANG, (member("a").gated(),), v.GroupPhase.INQUEUE, 0),
        (GANG, (member("a").gated(), member("b").gated()), v.GroupPhase.PENDING, 0),
        (GANG.asking({H200: 2}), (member("a").gated(),), v.GroupPhase.PENDING, 0),
        (GANG, (runs("a"), runs("b")), v.GroupPhase.RUNNING, 2),
        (GANG, (runs("a"), member("b").gated()), v.GroupPhase.PENDING, 1),
        (GANG.in_phase("Running"), (runs("a"), member("b").gated()), v.GroupPhase.UNKNOWN, 1),
        (GANG.in_phase("Running"), (), v.GroupPhase.INQUEUE, 0),
        (GANG.in_phase("Unknown"), (runs("a"),), v.GroupPhase.UNKNOWN, 1),
        (GANG.in_phase("Unknown"), (runs("a"), runs("b")), v.GroupPhase.RUNNING, 2),
        (GANG.in_phase("Unknown"), (member("b").gated(),), v.GroupPhase.INQUEUE, 0),
        (GANG.in_phase("Inqueue"), (runs("a"), member("b").gated()), v.GroupPhase.UNKNOWN, 1),
        (
            GANG.in_phase("Running").reserving("queue", {H200: 2}),
            (runs("a"), member("b").stamped("queue", {H200: 1})),
            v.GroupPhase.UNKNOWN,
            1,
        ),
        (GANG.of(1), (member("b").stamped("queue", {H200: 1}),), v.GroupPhase.INQUEUE, 0),
        (
            GANG.reserving("queue", {H200: 2}),
            (runs("a"), member("b").stamped("queue", {H200: 1})),
            v.GroupPhase.INQUEUE,
            1,
        ),
    ],
)
async def test_the_phase(
    group: GroupBody, pods: tuple[PodBody, ...], phase: str, running: int
) -> None:
    """Pending, Inqueue while a reservation stands or pods are to come, Running once the minimum is
    bound; Unknown if it ran, or the time of its start is over, and now a part of the minimum runs.
    """
    writer, script = a_writer_over(world(group, *pods))
    assert await writer.update(KEY)
    (call,) = script.calls
    status = call.body["status"]
    assert (status["phase"], status["running"]) == (phase, running)
    assert (status["succeeded"], status["failed"]) == (0, 0)
    assert call.body["metadata"]["resourceVersion"] == "1"


async def test_nothing_is_written_where_all_is_well() -> None:
    group = GANG.in_phase("Running").put(2, "status", "running")
    group = group.put({"cards": f"{H200} 2"}, "status", "columns")
    said = "Queue <queue> has let the group start"
    group = group.under_condition("Scheduled", "QuotaReleased", said)
    writer, script = a_writer_over(world(group, runs("a"), runs("b")))
    assert await writer.update(KEY)
    assert script.calls == []


@pytest.mark.parametrize("pods", [(), (runs("a"), runs("b")), (runs("a"), runs("b"), runs("c"))])
async def test_it_ends_when_the_minimum_runs_or_nobody_is_left(pods: tuple[PodBody, ...]) -> None:
    writer, script = a_writer_over(world(GANG.reserving("queue", {H200: 2}), *pods))
    assert await writer.update(KEY)
    assert script.calls[0].body["metadata"]["annotations"] == {v.RESERVATION: None}


async def test_where_volcano_runs_the_phase_is_volcanos() -> None:
    writer, script = a_writer_over(world(GANG, runs("a"), runs("b")), phases=False)
    assert await writer.update(KEY)
    assert script.calls == []
    writer, script = a_writer_over(
        world(GANG.reserving("queue", {H200: 2}), runs("a"), runs("b")), phases=False
    )
    assert await writer.update(KEY)
    assert "status" not in script.calls[0].body


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        (refused(409), True),
        (refused(404), True),
        (refused(403), False),
        (denied(409), False),
        (denied(404), False),
        (lost(), False),
    ],
)
async def test_what_is_tried_again(answer: Answer, done: bool) -> None:
    """A conflict brings its own news, unless a webhook made it up; anything else does not."""
    writer, _ = a_writer_over(world(GANG), answer)
    assert await writer.update(KEY) is done


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refused(403), [refused(403).message]),
        (denied(409), [denied(409).message]),
        (denied(404), [denied(404).message]),
        (refused(409), []),
        (refused(429), []),
        (lost(), []),
    ],
)
async def test_who_lets_none_be_taken_away_is_told_of(answer: Answer, said: list[str]) -> None:
    heard: list[str] = []
    writer, _ = a_writer_over(world(GANG.reserving("queue", {H200: 2})), answer)
    await writer.update(KEY, objected=heard.append)
    assert heard == said


def reserved(ledger: Ledger) -> tuple[GroupFacts, Reservation]:
    """The ledger has charged it, and it is to be written."""
    facts = ledger.groups[KEY].facts
    assert facts is not None
    return facts, ledger.decisions.reserve(KEY, "queue", TERM, ((H200, 2),))


def taken_back(ledger: Ledger, reservation: Reservation) -> bool:
    """Whether nothing is left once the charge is taken back, and it is there until then."""
    still = charged(ledger, H200) == 2
    ledger.decisions.retract_reservation(KEY, reservation)
    return still and charged(ledger, H200) == 0 and no_charge_is_left(ledger)


@pytest.mark.parametrize(
    "answers",
    [
        (lost(), refused(403), refused(429), refused(409), stored(9)),
        (lost(), refused(409), lost(), refused(409), stored(9)),
        (lost(), refused(409), stored(1), refused(409), stored(9)),
        (lost(), refused(422), stored(1), refused(422), stored(1, metadata={"uid": "another"})),
        (lost(), denied(404), stored(1), refused(404), refused(404)),
    ],
)
async def test_one_that_may_land_yet_keeps_its_charge(answers: tuple[Answer, ...]) -> None:
    """I1: it is taken back only once nothing of ours can land any more."""
    ledger = world(GANG)
    writer, script = a_writer_over(ledger, *answers)
    held: list[int] = []
    script.on_call = lambda _: held.append(charged(ledger, H200))
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation)
    assert held == [2] * len(answers)
    assert taken_back(ledger, reservation)


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        ((refused(403),), 60.0),
        ((refused(409), stored(9)), 60.0),
        ((refused(409), refused(404)), 60.0),
        ((), 1.0),
    ],
)
async def test_in_vain_it_leaves_the_charge(answers: tuple[Answer, ...], left: float) -> None:
    """No gate will open: its members' charges are taken back first."""
    ledger = world(GANG)
    writer, _ = a_writer_over(ledger, *answers, left=left)
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation)
    assert taken_back(ledger, reservation)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ((refused(409), stored(1)), ["as the test wants it"]),
        ((refused(403), stored(1)), ["as the test wants it"]),
        ((refused(422), stored(1)), ["as the test wants it"]),
        ((refused(409), stored(9)), []),
        ((refused(422), stored(9)), []),
        ((refused(403), lost()), []),
        ((refused(403), refused(404)), []),
        ((refused(404),), []),
        ((refused(429),), []),
        ((denied(404), stored(1)), [denied(404).message]),
        ((denied(409), stored(1)), [denied(409).message]),
        ((denied(404), refused(404)), []),
    ],
)
async def test_who_does_not_let_it_be_written_is_told_of_if_the_group_is_as_it_was(
    answers: tuple[Answer, ...], said: list[str]
) -> None:
    """And it is over at once, also with a conflict that somebody made up: nothing is on its way."""
    ledger = world(GANG)
    writer, script = a_writer_over(ledger, *answers)
    heard: list[str] = []
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation, objected=heard.append)
    assert heard == said
    assert len(script.calls) == len(answers)
    assert taken_back(ledger, reservation)


async def test_a_group_that_has_moved_on_ends_it_whatever_the_refusal() -> None:
    ledger = world(GANG)
    writer, script = a_writer_over(ledger, lost(), refused(403), stored(1), refused(403), stored(9))
    said: list[str] = []
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation, unsure=said.append)
    assert [call.method for call in script.calls] == ["PATCH", "PATCH", "GET", "PATCH", "GET"]
    assert said == ["as the test wants it"]
    assert taken_back(ledger, reservation)


async def test_and_if_it_was_moved_by_the_lost_one_it_stands() -> None:
    ledger = world(GANG)
    facts, reservation = reserved(ledger)
    notes = {"annotations": {v.RESERVATION: reservation_text(reservation)}}
    writer, _ = a_writer_over(ledger, lost(), refused(403), stored(9, metadata=notes))
    assert await writer.reserve(facts, reservation)
    assert charged(ledger, H200) == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lost(), "no answer"),
        (refused(403), "as the test wants it"),
        (denied(404), denied(404).message),
        (denied(409), denied(409).message),
        (denied(500), denied(500).message),
    ],
)
async def test_why_a_lost_one_stays_so_is_told_until_it_moved(answer: Answer, said: str) -> None:
    ledger = world(GANG)
    heard: list[str] = []
    first = lost(), refused(409), stored(1)
    later = answer, stored(1), answer, lost(), answer, stored(9)
    writer, _ = a_writer_over(ledger, *first, *later)
    assert not await writer.reserve(*reserved(ledger), unsure=heard.append)
    assert heard == [said, said]
