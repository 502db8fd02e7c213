"""What is remembered is bounded by what exists: after thousands of lives nothing is left of them.

What may grow is said where it is measured: the kinds of cards, and caches with a bound.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import count
from typing import cast

import pytest

from builders import CARDS, H200, a_ledger, a_pod, a_queue
from cardquota.cluster.api import Client
from cardquota.cluster.events import EventRecorder, ObjectReference
from cardquota.control import term_writers
from cardquota.control.queues import QueueReconciler
from cardquota.control.release import GateReleaser
from cardquota.control.release import pacing as release
from cardquota.metrics import Metrics
from cardquota.quota.reports import report
from cardquota.quota.reports.drift import drift
from cardquota.settings import Settings
from harness.open_fence import OpenFence
from harness.releasing import is_busy, remembers_nothing

from .containers import assert_nothing_grew, containers
from .control.fakes import Call, Script, lost, refused, stored, until
from .lives import Feed, a_life_of_everything, a_team_at_the_gate, through_the_gate

LIVES = 250
"""Each of eleven objects of six kinds, five pods among them."""


@pytest.mark.slow
def test_nothing_is_left_of_thousands_of_lives_in_ledger_and_watches() -> None:
    ledger = a_ledger(*CARDS, default_queue="shared")
    feed = Feed(ledger)
    a_life_of_everything(feed, 0, through_the_gate(ledger, 0))
    ledger.decisions.rest()
    ledger.catalog.counts("")  # cards by resource are made at the first question
    before = containers(ledger, feed)
    for number in range(1, LIVES):
        a_life_of_everything(feed, number, through_the_gate(ledger, number))
    ledger.decisions.rest()
    assert_nothing_grew(before, containers(ledger, feed))
    assert not list(ledger.accounts())
    assert not [kind for kind, delivery in feed.deliveries.items() if len(delivery.objects)]
    assert not [kind for kind, delivery in feed.deliveries.items() if delivery.unreadable]
    assert drift(ledger) == {}


def test_the_measure_finds_what_is_left_behind_anywhere() -> None:
    ledger = a_ledger(*CARDS)
    before = containers(ledger)
    assert {"Ledger.pods", "Ledger.nodes._facts", "Ledger.made_pods._found"} <= before.keys()
    places: list[Callable[[], object]] = [
        lambda: ledger.nodes.wait_for("gone", "uid"),
        lambda: ledger.dirty.unadmitted.add("uid"),
        lambda: ledger.account_for("red").pending.classes.setdefault("class", None),  # type: ignore[arg-type]
        lambda: ledger.group_for("team/gang").succeeded.setdefault("uid", ""),
    ]
    for leave_behind in places:
        leave_behind()
        with pytest.raises(AssertionError):
            assert_nothing_grew(before, containers(ledger))
        before = containers(ledger)


class Silent:
    """A client that takes everything: what is measured is what we keep, not what was sent."""

    async def post(self, *_: object, **__: object) -> bytes:
        return b"{}"

    async def patch(self, *_: object, **__: object) -> bytes:
        return b"{}"


@pytest.fixture
async def recorder() -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(
        cast("Client", Silent()), instance="replica-0", queue_size=50, remembered=100
    )
    task = asyncio.create_task(recorder.run())
    yield recorder
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_the_recorder_keeps_no_more_than_it_may(recorder: EventRecorder) -> None:
    for number in range(LIVES):
        pod = ObjectReference("Pod", "v1", "team", f"p{number}", f"uid-{number}")
        for reason in ("Full", "Released"):
            recorder.record(pod, type="Normal", reason=reason, message="m")
        if number == LIVES // 2:
            half = containers(recorder)
    sizes = containers(recorder)
    assert (recorder.waiting, sizes["EventRecorder._reasons"]) == (50, 100)
    assert_nothing_grew(half, sizes)
    await until(lambda: not recorder.waiting)
    assert containers(recorder)["EventRecorder._queue._waiting"] == 0


async def test_nothing_is_left_of_a_queue_in_the_reconciler() -> None:
    client = cast("Client", Silent())
    writer = QueueReconciler(client, lambda: "2026-01-01T00:00:00Z", standalone=True)
    before = containers(writer)
    for number in range(LIVES):
        queue = a_queue(f"queue-{number}").with_quota({H200: 1})
        found = report(a_ledger(*CARDS, queue), queue.name)
        assert found is not None
        meta = {"name": queue.name, "uid": found.uid, "resourceVersion": "1"}
        writer.seen({"metadata": meta})
        writer.want(found.uid, found)
        await until(lambda n=number: writer.writes > n)
        writer.want(found.uid, None)
        writer.gone(found.uid)
    await until(lambda: not writer.working, 5)
    assert_nothing_grew(before, containers(writer))


@pytest.mark.slow
async def test_nothing_is_left_of_a_pod_in_the_release_door(
    recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting, released, refused by the API server, deleted in the middle of it."""
    monkeypatch.setattr(release, "TRY_AGAIN", 0.01)
    monkeypatch.setattr(release, "AT_MOST", 0.05)
    ledger = a_ledger(*CARDS)
    feed = Feed(ledger)
    script = Script()
    writers = term_writers(cast("Client", script), lambda: 60.0, OpenFence(), Settings())
    clock, needs = asyncio.get_running_loop().time, (Metrics(), Settings())
    releaser = GateReleaser(ledger, writers, recorder, *needs, term="term", clock=clock)
    feed.notifier.listen(releaser.wake)
    deciding = asyncio.create_task(releaser.run())

    async def lives(numbers: Iterable[int]) -> None:
        for number in numbers:
            things = a_team_at_the_gate(number)
            for kind, body in things:
                feed.changed(kind, body.body)
            await until(lambda: not is_busy(releaser), 30)
            for kind, body in things[:: 1 if number % 2 else -1]:
                feed.deleted(kind, body.body)
        await until(lambda: remembers_nothing(releaser), 30)
        ledger.dirty.take_changed()  # as the hand-over to the status writer does
        ledger.dirty.unadmitted.take()
        ledger.nodes.problems.forget_untold()

    calls = count()

    def answer(_: Call) -> bytes | Exception:
        number = next(calls)
        if number % 7 == 3:
            return refused(409, "Conflict")
        return lost() if number % 11 == 5 else stored(100, spec={})

    script.answer_to = answer
    await lives(range(1, 3))
    before = containers(ledger, releaser, feed)
    await lives(range(3, 40))
    assert len(script.patches) > 40 * 2
    # The recorder's memory is bounded, and measured above.
    bounded = {path for path in containers(releaser) if ".events." in path or "._events." in path}
    # Namespaces are not forgotten with their pods, but some at a time once they are gone.
    bounded.add("GateReleaser._attempts.breaker._failures")
    assert_nothing_grew(before, containers(ledger, releaser, feed), but=bounded)
    assert containers(releaser)["GateReleaser._attempts.breaker._failures"] <= 64
    deciding.cancel()
    await asyncio.gather(deciding, return_exceptions=True)


def test_every_cache_of_a_module_has_a_bound() -> None:
    bounds = {
        f"{module}.{name}": thing.cache_parameters()["maxsize"]
        for module, found in list(sys.modules.items())
        if module.startswith("cardquota")
        for name, thing in vars(found).items()
        if hasattr(thing, "cache_parameters")
    }
    assert len(bounds) >= 3
    assert None not in bounds.values()


def test_nothing_is_left_of_succeeded_pods_that_changed_their_group() -> None:
    ledger = a_ledger(*CARDS)
    before = containers(ledger)
    for number in range(100):
        ended = a_pod("p").with_uid(f"pod-{number}").in_phase("Succeeded").on_node("h200-a")
        for revision, group in enumerate((f"first-{number}", f"second-{number}"), 2):
            ledger.pod_seen(ended.in_group(group).at_revision(revision).facts())
        ledger.pod_gone(ended.uid)
    ledger.decisions.rest()
    assert_nothing_grew(before, containers(ledger))
