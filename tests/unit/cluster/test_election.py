"""Terms, renewals and hand-overs; a machine that sleeps while a renewal is under way."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.election import Elector, Renewals, handover_text, read_handover

pytestmark = pytest.mark.fake_clock


DEADLINE = 8.0


class Leases:
    """One Lease, with answers that can be held; a fake, for nobody can put a machine to sleep."""

    def __init__(self) -> None:
        self.lease: Any = None
        self.renewals = 0
        self.answer = asyncio.Event()
        self.answer.set()

    async def get(self, path: str, **_: Any) -> bytes:
        if self.lease is None:
            raise ApiError(404, "NotFound", "no Lease")
        return json.dumps(self.lease).encode()

    def watch(self, path: str, **_: Any) -> Any:
        raise OutcomeUnknown("nothing is to be seen here")

    async def post(self, path: str, body: Any, **_: Any) -> bytes:
        return self._store(body["spec"])

    async def patch(self, path: str, body: Any, **_: Any) -> bytes:
        self.renewals += "holderIdentity" not in body["spec"]
        stored = self._store(body["spec"])
        await self.answer.wait()
        return stored

    def _store(self, spec: dict[str, Any]) -> bytes:
        before = self.lease or {"metadata": {"uid": "u", "resourceVersion": "0"}, "spec": {}}
        revision = str(int(before["metadata"]["resourceVersion"]) + 1)
        metadata = {"uid": "u", "resourceVersion": revision}
        self.lease = {"metadata": metadata, "spec": {**before["spec"], **spec}}
        return json.dumps(self.lease).encode()


class Sleeper:
    """A replica on a machine that can be put to sleep, and what it was told."""

    def __init__(self) -> None:
        self.slept = 0.0
        self.leases = Leases()
        self.told: list[tuple[str, str]] = []
        self.elector = Elector(
            cast("Client", self.leases),
            namespace="n",
            name="l",
            identity="me",
            renew_deadline=DEADLINE,
            retry_period=0.05,
            clock=lambda: asyncio.get_running_loop().time() + self.slept,
        )
        self.task = asyncio.create_task(
            self.elector.run(
                lambda term: self.told.append(("acquired", term)),
                lambda term: self.told.append(("lost", term)),
            )
        )

    async def until(self, condition: Callable[[], object]) -> None:
        deadline = asyncio.get_running_loop().time() + 2 * DEADLINE
        while not condition():
            assert asyncio.get_running_loop().time() < deadline, "not in time"
            await asyncio.sleep(0.001)


@pytest.fixture
async def sleeper() -> AsyncIterator[Sleeper]:
    sleeper = Sleeper()
    yield sleeper
    sleeper.task.cancel()
    await asyncio.gather(sleeper.task, return_exceptions=True)


async def asleep_during_a_renewal(sleeper: Sleeper, seconds: float) -> str:
    """The term; the next renewal is stored, and its answer comes when the test lets it."""
    await sleeper.until(lambda: sleeper.leases.renewals)
    term = sleeper.elector.term
    assert term is not None
    sleeper.leases.answer.clear()
    renewals = sleeper.leases.renewals
    await sleeper.until(lambda: sleeper.leases.renewals > renewals)
    sleeper.slept += seconds
    return term


async def test_an_answer_after_the_deadline_revives_no_term(sleeper: Sleeper) -> None:
    """Who looked in between has given up deciding; it would be renewed with nobody in it."""
    # Later than the deadline of the last renewal, earlier than what this one's would be.
    term = await asleep_during_a_renewal(sleeper, DEADLINE - 0.01)
    await sleeper.until(lambda: sleeper.elector.term is None)
    sleeper.leases.answer.set()
    await sleeper.until(lambda: len(sleeper.told) >= 3 or sleeper.elector.term == term)
    assert [what for what, _ in sleeper.told] == ["acquired", "lost", "acquired"]
    assert sleeper.told[1][1] == term
    assert sleeper.told[2][1] == sleeper.elector.term != term
    assert "after the deadline" in sleeper.elector.last_loss


async def test_the_next_term_counts_the_late_renewal_as_its_predecessors(sleeper: Sleeper) -> None:
    await asleep_during_a_renewal(sleeper, DEADLINE - 0.01)
    counted = sleeper.elector._renewals.sent  # noqa: SLF001
    await sleeper.until(lambda: sleeper.elector.term is None)
    sleeper.leases.answer.set()
    await sleeper.until(lambda: len(sleeper.told) >= 3)
    assert sleeper.elector.previous_renewal_seen is not None
    assert sleeper.elector.previous_renewal_seen > counted


async def test_an_answer_before_the_deadline_is_a_renewal(sleeper: Sleeper) -> None:
    term = await asleep_during_a_renewal(sleeper, DEADLINE / 2)
    sleeper.leases.answer.set()
    await sleeper.until(lambda: sleeper.elector.time_left() > DEADLINE - 0.5)
    assert sleeper.told == [("acquired", term)]


def begun() -> Renewals:
    """With a renewal every second; acquired at 10, answered at once."""
    renewals = Renewals(1.0)
    renewals.begin(10.0, 10.1)
    return renewals


def test_before_the_first_term_nothing_was_healthy() -> None:
    assert Renewals(1.0).healthy_since(5.0) == 5.0


@pytest.mark.parametrize(
    ("renewals", "at", "since"),
    [
        ([(11.0, 11.9), (12.0, 12.1)], 12.5, 10.1),
        ([(11.0, 12.5)], 12.6, 12.5),
        ([(12.5, 12.6)], 12.7, 12.6),
        ([], 12.9, 10.1),
        ([], 13.1, 13.1),
    ],
    ids=["in time", "answered late", "sent late", "not due yet", "unanswered, and not over"],
)
def test_since_when_they_are_well(
    renewals: list[tuple[float, float]], at: float, since: float
) -> None:
    found = begun()
    for sent, answered in renewals:
        found.succeeded(sent, answered)
    assert found.sent == (renewals[-1][0] if renewals else 10.0)
    assert found.healthy_since(at) == since


def test_a_renewal_that_failed_begins_anew() -> None:
    renewals = begun()
    renewals.failed(11.2)
    assert renewals.healthy_since(11.5) == 11.2


def test_what_is_written_is_read() -> None:
    revisions = {"pods": 12, "nodes": 7}
    assert handover_text(revisions) == '{"nodes":7,"pods":12}'
    assert read_handover(handover_text(revisions)) == revisions


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", '{"pods": "7"}', '{"pods": 1.5}', "[" * 9999]
)
def test_what_we_did_not_write_is_none(text: str | None) -> None:
    assert read_handover(text) is None
