"""Opening one gate: what is sent, and what every possible answer means for the charge."""

import asyncio
import json
from collections.abc import Callable
from itertools import count

import msgspec
import pytest

from builders import GPU, H200, a_pod, a_queue
from cardquota.cluster.api import ApiError
from cardquota.control.release import GateOpener, Opened, gate_patch
from cardquota.quota import Stamp
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings

from ..fakes import (
    TERM,
    Answer,
    Script,
    a_world,
    a_writer,
    assumed,
    charged,
    denied,
    lost,
    refused,
    stored,
)

pytestmark = pytest.mark.fake_clock

POD = a_pod().in_queue("queue").naming(H200).asking_for(2).gated().managed().at_revision(7)
QUEUE = a_queue().with_quota({H200: 3})
PATH = "/api/v1/namespaces/team/pods/pod"


def opener(ledger: Ledger, script: Script, left: Callable[[], float] = lambda: 60.0) -> GateOpener:
    fresh = map("fresh-{}".format, count())
    one, other = a_writer(script, left), a_writer(script, left)
    return GateOpener(ledger, one, other, fresh=lambda: next(fresh))


async def open_and_settle(
    gate: GateOpener, facts: PodFacts, stamp: Stamp, resource: str = GPU
) -> Opened:
    """As the releaser does."""
    how = await gate.open(facts, stamp, resource)
    return await gate.settle(facts, stamp) if how is Opened.UNKNOWN else how


async def opened(*answers: Answer) -> tuple[Opened, Ledger, Script]:
    """Open the gate of POD against these answers."""
    ledger, script = a_world(QUEUE, POD), Script(*answers)
    facts, stamp = assumed(ledger, POD, {H200: 2})
    script.on_call = lambda _: None
    how = await asyncio.wait_for(open_and_settle(opener(ledger, script), facts, stamp), 600)
    return how, ledger, script


def waits(ledger: Ledger) -> bool:
    """Whether the pod would be released now."""
    return any(isinstance(found, Opening) for found in openings(ledger, "queue"))


def ours(revision: int = 9) -> bytes:
    """The pod as it stands once our patch has landed."""
    return stored(revision, metadata={"annotations": {v.TERM: TERM}}, spec={})


def theirs(revision: int = 9) -> bytes:
    """The pod, still gated: somebody changed something else."""
    return stored(revision, spec={"schedulingGates": [{"name": v.GATE}]})


async def test_one_patch_with_its_preconditions_and_its_time_out() -> None:
    how, ledger, script = await opened(ours())
    assert how is Opened.YES
    (call,) = script.calls
    assert call.path == PATH
    assert call.params == {"timeout": "2s", "fieldManager": "cardquota"}
    assert call.timeout == 2.5
    assert call.body["metadata"]["uid"] == POD.uid
    assert call.body["metadata"]["resourceVersion"] == "7"
    assert charged(ledger, H200) == 2


@pytest.mark.parametrize("labelled", [True, False])
def test_i3_stamps_are_whole_and_with_the_label_nothing_of_others_stays(*, labelled: bool) -> None:
    """It would count beside it."""
    pod = POD if labelled else POD.put(None, "metadata", "labels")
    ledger = a_world(QUEUE, pod)
    found = gate_patch(ledger, pod.facts(), Stamp("queue", ((H200, 2),), TERM), GPU)
    patch = json.loads(msgspec.json.encode(found))["metadata"]
    assert labelled or patch["labels"] == {v.MANAGED: v.IS_MANAGED}
    cards = json.dumps({H200: 2})
    assert patch["annotations"] == {v.ALLOCATED: cards, v.CHARGED_QUEUE: "queue", v.TERM: TERM}


def test_a_pod_without_cards_gets_no_affinity() -> None:
    ledger = a_world(QUEUE, a_pod().in_queue("queue").with_cpu("1").gated())
    facts = ledger.pods["uid-pod"].facts
    patch = gate_patch(ledger, facts, Stamp("queue", (), TERM), "")
    assert "affinity" not in patch["spec"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (refused(403), True),
        (refused(422), True),
        (refused(404), False),
        (refused(409), False),
        (refused(429), False),
        (denied(404), True),
        (denied(409), True),
        (denied(429), True),
        (denied(500), True),
    ],
)
async def test_who_is_not_released_by_others_is_told(answer: ApiError, *, told: bool) -> None:
    """Not where the pod moved on, or the API server is busy."""
    ledger, script, heard = a_world(QUEUE, POD), Script(answer), list[tuple[str, str]]()
    script.would_answer = lambda _: answer
    facts, stamp = assumed(ledger, POD, {H200: 2})
    writer = a_writer(script)
    gate = GateOpener(
        ledger, writer, writer, refused=lambda pod, text: heard.append((pod.name, text))
    )
    asked, _ = await gate.would_open(facts, stamp, GPU)
    how = await gate.open(facts, stamp, GPU)
    assert asked is how is (Opened.NO if answer.moved else Opened.REFUSED)
    assert heard == [("pod", answer.message)] * (2 * told)


async def test_a_refusal_for_the_term_is_no_fault_of_the_pod() -> None:
    policy = "cardquota-gate-term"
    text = f"ValidatingAdmissionPolicy '{policy}' with binding '{policy}' denied request: no"
    ledger, heard = a_world(QUEUE, POD), list[str]()
    script = Script(ApiError(403, "Forbidden", text))
    script.would_answer = lambda _: ApiError(403, "Forbidden", text)
    facts, stamp = assumed(ledger, POD, {H200: 2})
    guard = ClosingGuard()
    deciding = a_writer(script, guard=guard)
    gate = GateOpener(ledger, deciding, a_writer(script), refused=lambda *_: heard.append("pod"))
    assert await gate.would_open(facts, stamp, GPU) == (Opened.TOO_LATE, "")
    guard.closed = False
    assert await gate.open(facts, stamp, GPU) is Opened.TOO_LATE
    assert heard == []
    assert charged(ledger, H200) == 0
    assert waits(ledger)


class ClosingGuard:
    closed = False

    def refused(self, _: object) -> None:
        self.closed = True


@pytest.mark.parametrize("status", [403, 404, 409, 422, 429])
async def test_refused_means_that_it_is_shut(status: int) -> None:
    """The charge is taken back, and the pod is not tried again before it changes."""
    how, ledger, script = await opened(refused(status))
    assert how is (Opened.NO if status in (404, 409) else Opened.REFUSED)
    assert charged(ledger, H200) == 0
    assert len(script.calls) == 1
    assert not waits(ledger)
    ledger.decisions.put_back(POD.uid)
    assert waits(ledger)


async def test_a_lost_patch_is_settled_by_a_write_that_wins() -> None:
    how, ledger, script = await opened(lost(), theirs())
    assert how is Opened.NO
    first, settling = script.patches
    assert not first.settles
    assert settling.settles
    assert settling.body == {
        "metadata": {"uid": POD.uid, "resourceVersion": "7", "annotations": {v.SETTLE: "fresh-0"}}
    }
    assert charged(ledger, H200) == 0


@pytest.mark.parametrize(
    "answers",
    [
        (refused(409), theirs()),
        (refused(409), stored(9, metadata={"annotations": {v.TERM: "somebody-else"}}, spec={})),
        (
            refused(409),
            stored(
                9,
                metadata={"annotations": {v.TERM: TERM}},
                spec={"schedulingGates": [{"name": v.GATE}]},
            ),
        ),
        (refused(409), refused(404)),
        (refused(404), refused(404)),
        # Another one of its name, though we have released it, is not that pod.
        (refused(422), stored(9, metadata={"uid": "b", "annotations": {v.TERM: TERM}}, spec={})),
    ],
)
async def test_who_loses_against_others_takes_the_charge_back(answers: tuple[Answer, ...]) -> None:
    how, ledger, _ = await opened(lost(), *answers)
    assert how is Opened.NO
    assert charged(ledger, H200) == 0


async def test_settling_goes_on_until_somebody_knows() -> None:
    """With a fresh value each time: a write that changes nothing moves nothing."""
    how, ledger, script = await opened(
        lost(),
        *(lost(), refused(429)),
        *(refused(403), theirs(7)),
        *(lost(), lost()),
        *(refused(409), lost()),
        theirs(),
    )
    assert how is Opened.NO
    settling = [call for call in script.patches if call.settles]
    values = [call.body["metadata"]["annotations"][v.SETTLE] for call in settling]
    assert len(values) == len(set(values)) == 6
    assert charged(ledger, H200) == 0


@pytest.mark.parametrize("status", [404, 409, 422])
async def test_a_refusal_that_is_somebody_elses_settles_nothing(status: int) -> None:
    """The pod is at the version of the lost patch: a webhook answered so, not the store."""
    how, _, script = await opened(lost(), denied(status), theirs(7), denied(status), theirs(9))
    assert how is Opened.NO
    assert len([call for call in script.patches if call.settles]) == 2


@pytest.mark.parametrize(
    "answer", [refused(409), refused(403), denied(403), denied(409), denied(500), lost()]
)
async def test_a_pod_that_moved_on_settles_it_whatever_the_answer(answer: Answer) -> None:
    how, ledger, script = await opened(lost(), lost(), answer, ours())
    assert how is Opened.YES
    assert [call.method for call in script.calls] == ["PATCH"] * 3 + ["GET"]
    assert charged(ledger, H200) == 2


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ((denied(403), theirs(7)) * 3, [denied(403).message]),
        ((denied(404), theirs(7), denied(429), lost()), [denied(404).message]),
        (
            (refused(422), lost(), denied(403), lost()),
            ["as the test wants it", denied(403).message],
        ),
        ((lost(), lost(), theirs(7), lost(), theirs(7)), ["no answer"]),
        ((lost(),), []),
        ((refused(429),), []),
        ((refused(409), lost()), []),
    ],
)
async def test_who_does_not_let_it_be_settled_is_told_once(
    caplog: pytest.LogCaptureFixture, answers: tuple[Answer, ...], said: list[str]
) -> None:
    """The pod holds its room meanwhile. Not where it may be a moment's trouble."""
    ledger, script = a_world(QUEUE, POD), Script(*answers)
    heard: list[tuple[int, str]] = []
    gate = GateOpener(
        ledger,
        a_writer(script),
        a_writer(script),
        unsure=lambda _, __, text: heard.append((charged(ledger, H200), text)),
    )
    assert await asyncio.wait_for(gate.settle(*assumed(ledger, POD, {H200: 2})), 2) is Opened.NO
    assert heard == [(2, text) for text in said]
    assert [text for text in caplog.messages if text.startswith("settling")] == [
        f"settling a write of pod team/pod: {text}" for text in said
    ]
    assert script.answers == []


async def test_while_nobody_knows_the_charge_stays() -> None:
    """Cancelled, it leaves the charge to whoever ends the term."""
    ledger, script = a_world(QUEUE, POD), Script(lost(), *[lost()] * 10_000)
    facts, stamp = assumed(ledger, POD, {H200: 2})
    task = asyncio.create_task(open_and_settle(opener(ledger, script), facts, stamp))
    done, _ = await asyncio.wait([task], timeout=0.05)
    assert not done
    assert charged(ledger, H200) == 2
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert charged(ledger, H200) == 2
    list(ledger.decisions.end_term_in_steps())
    assert charged(ledger, H200) == 0


@pytest.mark.parametrize(("left", "sent"), [(2.4, False), (2.5, True), (0.0, False), (-1.0, False)])
async def test_nothing_is_sent_that_would_be_answered_too_late(left: float, sent: bool) -> None:
    """After the renew deadline somebody else may decide."""
    ledger, script = a_world(QUEUE, POD), Script(ours())
    facts, stamp = assumed(ledger, POD, {H200: 2})
    how = await opener(ledger, script, lambda: left).open(facts, stamp, GPU)
    assert how is (Opened.YES if sent else Opened.TOO_LATE)
    assert len(script.calls) == sent
    assert charged(ledger, H200) == (2 if sent else 0)
