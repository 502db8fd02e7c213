"""E11: the fence, over an API server that may know another term than the one that is stored.

What the real one does is in tests/integration/process/test_fence.py.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cardquota.cluster.api import ApiError, OutcomeUnknown
from cardquota.control import Fence, FenceFault
from cardquota.control import fence as module
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from cardquota.settings import InstallationMode, Settings

from .fakes import Told, until

pytestmark = pytest.mark.fake_clock

TERM, OTHER = "me_1", "other_1"
REFUSED = (
    "podgroups \"x\" is forbidden: ValidatingAdmissionPolicy 'cardquota-reservation-term' with "
    "binding 'cardquota-reservation-term' denied request: only in the current term"
)


class TermServer:
    """An API server with at most one Term."""

    def __init__(self) -> None:
        self.kind_there = True
        self.quota_full = False
        self.stored: dict[str, Any] | None = None
        self.follows = True
        self.knows: str | None = None
        """The term with which policies compare. None: with none."""
        self.holder = TERM
        self.lease_uid = "lease"
        self.dry_runs = 0
        self.before_write: Callable[[], None] = lambda: None

    def change(self, term: str, fault: str | None = None) -> None:
        revision = int(self.stored["metadata"]["resourceVersion"]) + 1 if self.stored else 1
        meta = {"uid": "term", "resourceVersion": str(revision)}
        self.stored = {"metadata": meta, "spec": {"term": term}, "status": {"fault": fault}}
        if self.follows:
            self.knows = term

    def delete(self) -> None:
        self.stored, self.knows = None, None

    @property
    def term(self) -> str | None:
        return self.stored["spec"]["term"] if self.stored else None

    @property
    def fault(self) -> str | None:
        return self.stored["status"]["fault"] if self.stored else None

    async def still_holds(self, term: str) -> bool:
        return self.holder == term

    async def get(self, _: str, **__: object) -> bytes:
        if self.stored is None:
            raise ApiError(404, "NotFound", "none")
        return json.dumps(self.stored).encode()

    async def patch(self, _: str, body: Any, **__: object) -> bytes:
        self.before_write()
        assert body["metadata"]["uid"] == "term"
        if self.stored is None or body["metadata"]["resourceVersion"] != str(
            self.stored["metadata"]["resourceVersion"]
        ):
            raise ApiError(409, "Conflict", "it has changed")
        self.change(body["spec"]["term"], body["status"]["fault"])
        return b"{}"

    async def post(self, path: str, body: Any, **options: Any) -> bytes:
        if path.endswith("/podgroups"):
            assert options["params"] == {"dryRun": "All"}
            self.dry_runs += 1
            if self.quota_full:
                raise ApiError(403, "Forbidden", "exceeded quota: podgroups")
            term = json.loads(body["metadata"]["annotations"][v.RESERVATION])["term"]
            if self.knows is not None and term != self.knows:
                raise ApiError(403, "Forbidden", REFUSED)
            return b"{}"
        self.before_write()
        if not self.kind_there:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        assert self.stored is None
        self.change(body["spec"]["term"], body["status"].get("fault"))
        return b"{}"


class KeptFence:
    """A fence that is kept."""

    def __init__(self, server: TermServer, settings: Settings | None = None) -> None:
        self.server = server
        self.told = Told()
        self.metrics = Metrics()
        clock = asyncio.get_running_loop().time
        self.fence = Fence(
            server,  # type: ignore[arg-type]
            server,  # type: ignore[arg-type]
            self.told,
            self.metrics,
            settings or Settings(),
            clock=clock,
        )

    def closed(self) -> bool:
        return self.fence.closed

    def shown(self) -> set[str]:
        value = self.metrics.registry.get_sample_value
        return {f for f in FenceFault if value("cardquota_fence_faults", {"fault": f})}

    @property
    def reasons(self) -> list[str]:
        return [reason for _, reason, _ in self.told.events]


@asynccontextmanager
async def kept(server: TermServer, settings: Settings | None = None) -> AsyncIterator[KeptFence]:
    found = KeptFence(server, settings)
    running = asyncio.create_task(found.fence.run(TERM))
    try:
        yield found
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def server() -> TermServer:
    return TermServer()


@pytest.fixture
async def one(server: TermServer) -> AsyncIterator[KeptFence]:
    """It holds."""
    async with kept(server) as one:
        await one.fence.held()
        yield one


def elapsed() -> Callable[[], float]:
    clock = asyncio.get_running_loop().time
    began = clock()
    return lambda: clock() - began


@pytest.mark.parametrize("before", [None, OTHER, TERM])
async def test_it_is_named_before_any_decision(server: TermServer, before: str | None) -> None:
    if before is not None:
        server.change(before)
    async with kept(server) as one:
        assert one.closed()
        await one.fence.held()
        assert server.term == TERM
        assert not one.closed()
        assert one.fence.problem == ""
        assert one.reasons == []
    assert one.closed()


@pytest.mark.parametrize("before", [None, OTHER])
async def test_to_follow_a_moment_later_is_fine(server: TermServer, before: str | None) -> None:
    if before is not None:
        server.change(before)
    server.follows = False
    async with kept(server) as one:
        await asyncio.sleep(0.2)
        assert one.closed()
        assert server.term == TERM
        server.knows = TERM
        asked = elapsed()
        await one.fence.held()
        assert asked() < 2
        await asyncio.sleep(60)
        assert one.reasons == []


async def test_who_has_lost_the_lease_writes_over_no_successors_term(server: TermServer) -> None:
    server.holder = OTHER
    server.change(OTHER)
    async with kept(server) as one:
        await asyncio.sleep(60)
        assert server.term == OTHER
        assert one.closed()


async def test_nor_if_he_loses_it_right_before_he_writes(server: TermServer) -> None:
    server.change("old")

    def taken() -> None:
        server.before_write = lambda: None
        server.holder = OTHER
        server.change(OTHER)

    server.before_write = taken
    async with kept(server) as one:
        await asyncio.sleep(60)
        assert server.term == OTHER
        assert one.closed()


async def test_a_term_that_somebody_deletes_or_writes_is_written_again(one: KeptFence) -> None:
    one.server.delete()
    await until(lambda: one.server.term == TERM)
    one.server.change("usurper")
    await until(lambda: one.server.term == TERM)
    await asyncio.sleep(60)
    assert not one.closed()


async def test_without_the_kind_nothing_is_decided_and_it_is_told(one: KeptFence) -> None:
    one.server.delete()
    one.server.kind_there = False
    gone = elapsed()
    await until(lambda: one.fence.problem)
    assert gone() < 30
    assert one.closed()
    assert one.shown() == {"unwritten"}
    assert one.reasons == [v.FENCE_FAULT]
    assert "terms.yaml" in one.fence.problem
    one.server.kind_there = True
    await until(lambda: not one.closed())
    await until(lambda: one.reasons == [v.FENCE_FAULT, v.FENCE_IN_FORCE])
    assert one.shown() == set()


async def test_who_stays_with_an_old_term_is_found_without_any_pod(server: TermServer) -> None:
    server.change(OTHER)
    server.follows = False
    async with kept(server) as one:
        begun = elapsed()
        await until(lambda: one.fence.problem)
        assert begun() < 30
        assert one.closed()
        assert one.shown() == {"refused"}
        assert "restart kube-apiserver" in one.fence.problem
        await until(lambda: server.fault == one.fence.problem)
        asked = server.dry_runs
        await asyncio.sleep(600)
        assert server.dry_runs - asked <= 2 * 600 / module.EVERY
        server.knows = TERM
        await until(lambda: not one.closed())
        await until(lambda: server.fault is None)


async def test_a_fence_that_lets_every_term_by_is_told_and_stops_nobody(one: KeptFence) -> None:
    one.server.follows, one.server.knows = False, None
    opened = elapsed()
    await until(lambda: one.fence.problem)
    assert opened() < 30
    assert one.shown() == {"open"}
    assert not one.closed()
    one.server.knows = TERM
    await until(lambda: one.fence.problem == "")


async def test_in_audit_mode_nothing_is_refused(server: TermServer) -> None:
    server.follows = False
    async with kept(server, Settings(mode=InstallationMode.AUDIT)) as one:
        await asyncio.sleep(100)
        assert one.fence.problem == ""
        assert not one.closed()


class Decisions:
    """A policy of which no other knows refuses what is decided."""

    def __init__(self) -> None:
        self.refused = True
        self.repeated = 0

    async def repeat(self) -> bytes:
        self.repeated += 1
        if self.refused:
            raise ApiError(403, "Forbidden", REFUSED.replace("reservation-term", "gate-term"))
        return b"{}"


async def test_what_is_refused_for_its_term_stops_all_and_is_tried_gently(one: KeptFence) -> None:
    decisions = Decisions()
    await asyncio.sleep(100)
    one.fence.refused(decisions.repeat)
    assert one.closed()
    told = elapsed()
    await until(lambda: one.fence.problem)
    assert told() < 30
    assert "gate-term" in one.fence.problem
    assert one.shown() == {"refused"}
    tried = decisions.repeated
    await asyncio.sleep(600)
    assert decisions.repeated - tried <= 2 * 600 / module.EVERY
    decisions.refused = False
    await until(lambda: not one.closed())
    await until(lambda: one.fence.problem == "")


async def test_what_was_refused_stays_so_while_the_api_server_is_silent(one: KeptFence) -> None:
    decisions = Decisions()
    one.server.get = _silent  # type: ignore[method-assign]
    one.fence.refused(decisions.repeat)
    await asyncio.sleep(100)
    assert one.closed()


async def test_a_refused_decision_without_an_answer_later_stops_nobody(server: TermServer) -> None:

    async def repeat() -> bytes:
        raise OutcomeUnknown("no webhook")

    async with kept(server) as one:
        await one.fence.held()
        one.fence.refused(repeat)
        assert one.closed()
        await until(lambda: not one.closed())
        await asyncio.sleep(100)
        assert not one.closed()


async def test_one_refusal_that_is_over_at_once_is_not_told() -> None:
    server, decisions = TermServer(), Decisions()
    decisions.refused = False
    async with kept(server) as one:
        await one.fence.held()
        one.fence.refused(decisions.repeat)
        refused = elapsed()
        await until(lambda: not one.closed())
        assert refused() < 1
        await asyncio.sleep(100)
        assert one.reasons == []


async def test_an_api_server_that_is_silent_changes_nothing(one: KeptFence) -> None:
    one.server.get = one.server.post = _silent  # type: ignore[method-assign]
    await asyncio.sleep(100)
    assert not one.closed()
    assert one.fence.problem == ""


@pytest.mark.parametrize("at_first", [True, False])
async def test_a_trial_refused_by_others_is_told(server: TermServer, *, at_first: bool) -> None:
    server.quota_full = at_first
    async with kept(server) as one:
        begun = elapsed()
        await one.fence.held()
        assert (begun() > 3) == at_first
        server.quota_full = True
        await until(lambda: one.fence.problem)
        assert begun() < 30
        assert "exceeded quota" in one.fence.problem
        assert one.shown() == {"untried"}
        assert not one.closed()
        server.quota_full = False
        await until(lambda: one.fence.problem == "")


async def _silent(*_: object, **__: object) -> bytes:
    raise OutcomeUnknown("late")
