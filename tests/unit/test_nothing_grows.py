"""What is remembered is bounded by what exists: after thousands of lives nothing is left of them.

Every container that can be reached from the objects is measured, so that one added later is too.
What may grow is said where it is measured: the kinds of cards, and caches with a bound.
"""

import asyncio
import json
import sys
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from itertools import count
from types import FunctionType, ModuleType
from typing import Any

import msgspec
import pytest

from builders import CARDS, H200, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue
from builders.body import Body
from cardquota.cluster.delivery import Delivery
from cardquota.cluster.events import EventRecorder, ObjectReference
from cardquota.cluster.feed import watched
from cardquota.cluster.pulse import Pulse
from cardquota.control import release
from cardquota.control.fenced_writer import FencedWriter
from cardquota.control.gate import GateOpener
from cardquota.control.groups import GroupKeeper
from cardquota.control.release import ReleaseDoor
from cardquota.control.status_writer import StatusWriter
from cardquota.metrics import Metrics
from cardquota.quota.drift import drift
from cardquota.quota.ledger import Ledger
from cardquota.quota.queue_report import report
from cardquota.quota.stamp import Stamp
from cardquota_webhooks.unseen import Unseen

from .control.stage import Call, Script, lost, refused, stored, until

LIVES = 250
"""Each of eleven objects of six kinds, five pods among them."""

_CONTAINERS = (dict, set, list, deque, OrderedDict, Counter)


def containers(*roots: object) -> dict[str, int]:
    """Path and size of every container that can be reached from the roots.

    Keys and elements are not followed by name but all together, as `[]`: their sizes add up, so a
    thing left behind inside a thing shows too.
    """
    found: dict[str, int] = {}
    seen: set[int] = set()
    for root in roots:
        _measure(root, type(root).__name__, found, seen)
    return found


def _measure(thing: object, path: str, found: dict[str, int], seen: set[int]) -> None:
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | type | ModuleType | None):
        return
    seen.add(id(thing))
    if isinstance(thing, _CONTAINERS):
        found[path] = found.get(path, 0) + len(thing)
        for inner in _elements(thing):
            _measure(inner, f"{path}[]", found, seen)
    elif isinstance(thing, tuple):
        for inner in thing:
            _measure(inner, path, found, seen)
    elif isinstance(thing, FunctionType):
        for cell in thing.__closure__ or ():
            _measure(cell.cell_contents, f"{path}()", found, seen)
    elif _is_ours(thing):
        for name, value in _fields(thing):
            _measure(value, f"{path}.{name}", found, seen)


def _elements(container: Any) -> Iterator[object]:
    yield from list(container)
    if isinstance(container, dict):
        yield from list(container.values())


def _is_ours(thing: object) -> bool:
    return type(thing).__module__.startswith(("cardquota.", "cardquota_webhooks."))


def _fields(thing: object) -> Iterator[tuple[str, object]]:
    """Of `__dict__` and of the `__slots__` of all its classes."""
    yield from vars(thing).items() if hasattr(thing, "__dict__") else ()
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                yield name, getattr(thing, name)


def assert_nothing_grew(
    before: Mapping[str, int], after: Mapping[str, int], *, but: Iterable[str] = ()
) -> None:
    grown = {path: (before.get(path, 0), n) for path, n in after.items() if n > before.get(path, 0)}
    for path in but:
        grown.pop(path, None)
    assert grown == {}


# --- a small cluster whose things live and die ----------------------------------------------


class Feed:
    """The product's own watches, without the API server: raw objects into `Delivery`."""

    def __init__(self, ledger: Ledger) -> None:
        self.pulse = Pulse()
        self.undecodable: Counter[str] = Counter()
        self.kinds = {w.kind: w for w in watched(ledger, self.pulse, self._count)}
        self.deliveries: dict[str, Delivery[Any]] = {
            kind: Delivery(kind, w.struct, w.sink) for kind, w in self.kinds.items()
        }
        self._revision = 10

    def _count(self, kind: str) -> None:
        self.undecodable[kind] += 1

    def changed(self, kind: str, body: Mapping[str, Any]) -> None:
        self.deliveries[kind].changed(self._raw(body))

    def deleted(self, kind: str, body: Mapping[str, Any]) -> None:
        self.deliveries[kind].deleted(self._raw(body))

    def _raw(self, body: Mapping[str, Any]) -> msgspec.Raw:
        self._revision += 1
        metadata = {**body["metadata"], "resourceVersion": str(self._revision)}
        return msgspec.Raw(json.dumps({**body, "metadata": metadata}).encode())


def a_class(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "value": 100}


def a_life_of_everything(feed: Feed, number: int, release: Callable[[str], None]) -> None:
    """A team comes with all it has, works, and goes; the order of the ends changes."""
    team, queue, node, urgent = (f"{what}-{number}" for what in ("team", "queue", "node", "class"))
    things: list[tuple[str, Body]] = [
        ("namespaces", a_namespace(team).with_default_queue(queue).in_mode("enforced")),
        ("queues", a_queue(queue).with_quota({H200: 4}).with_uid(f"{queue}-uid")),
        ("nodes", a_node(node).with_cards(H200, 8)),
        (
            "podgroups",
            a_group("gang")
            .in_namespace(team)
            .with_uid(f"gang-{number}")
            .in_queue(queue)
            .of(2)
            .put(urgent, "spec", "priorityClassName"),
        ),
    ]
    feed.changed("priorityclasses", a_class(urgent))
    for kind, body in things:
        feed.changed(kind, body.body)
    feed.changed("nodes", things[2][1].labelled("nvidia.com/gpu.memory", "odd").body)
    pods = [
        a_pod(f"p{index}")
        .in_namespace(team)
        .with_uid(f"pod-{number}-{index}")
        .in_group("gang" if index < 3 else None)
        .asking_for(1)
        .with_cpu("1")
        .gated()
        for index in range(5)
    ]
    for pod in pods:
        feed.changed("pods", pod.body)
    for pod in pods[:3]:
        release(pod.uid)
        stamped = pod.stamped(queue, {H200: 1})
        feed.changed("pods", stamped.body)
        feed.changed("pods", stamped.on_node(node).body)
    feed.changed("pods", pods[3].on_node(node).body)
    feed.changed("pods", pods[4].on_node(f"{node}-that-never-comes").body)
    feed.changed("pods", pods[0].on_node(node).in_phase("Succeeded").body)
    feed.changed("pods", pods[1].on_node(node).in_phase("Failed").body)
    if number % 100 == 0:
        feed.changed("pods", {"metadata": a_pod("bad").body["metadata"], "spec": 7})
        feed.deleted("pods", a_pod("bad").body)
    ends = [("pods", pod.body) for pod in pods] + [(kind, body.body) for kind, body in things]
    ends.append(("priorityclasses", a_class(urgent)))
    turn = number % len(ends)
    for kind, end in (*ends[turn:], *ends[:turn]):
        feed.deleted(kind, end)


def through_the_gate(ledger: Ledger, number: int) -> Callable[[str], None]:
    """Charged as the release door does, and then confirmed, refused, or never heard of."""

    def release(uid: str) -> None:
        account = ledger.pods[uid].queue
        ledger.assume(uid, Stamp(account, ((H200, 1),), "term"))
        if number % 3 == 0:
            ledger.confirm(uid, 10**9)
        elif number % 3 == 1:
            ledger.retract(uid, hold_back=True)

    return release


@pytest.mark.slow
def test_nothing_is_left_of_thousands_of_lives_in_ledger_and_watches() -> None:
    ledger = a_ledger(*CARDS, default_queue="shared")
    feed = Feed(ledger)
    a_life_of_everything(feed, 0, through_the_gate(ledger, 0))
    ledger.rest()
    before = containers(ledger, feed)
    for number in range(1, LIVES):
        a_life_of_everything(feed, number, through_the_gate(ledger, number))
    ledger.rest()
    assert_nothing_grew(before, containers(ledger, feed))
    assert feed.undecodable == {"pods": 3}
    assert not list(ledger.accounts())
    assert not [kind for kind, delivery in feed.deliveries.items() if len(delivery.known)]
    assert drift(ledger) == {}


def test_the_measure_finds_what_is_left_behind_anywhere() -> None:
    """A measure that sees nothing would never complain."""
    ledger = a_ledger(*CARDS)
    before = containers(ledger)
    assert {"Ledger.pods", "Ledger.nodes._facts", "Ledger._loose._by_device"} <= before.keys()
    places: list[Callable[[], object]] = [
        lambda: ledger.nodes._unresolved.setdefault("gone", {"uid"}),
        lambda: ledger.news._strangers.add("uid"),
        lambda: ledger._account("red").waiting.lanes.setdefault("lane", None),  # type: ignore[arg-type]
        lambda: ledger._group("team/gang").succeeded.add("uid"),
    ]
    for leave_behind in places:
        leave_behind()
        with pytest.raises(AssertionError):
            assert_nothing_grew(before, containers(ledger))
        before = containers(ledger)


def test_a_replica_that_never_leads_forgets_its_news_at_every_beat() -> None:
    """As `Leadership` does while there is no term."""
    ledger = a_ledger(*CARDS)
    feed = Feed(ledger)
    feed.pulse.listen(ledger.rest)
    before = containers(ledger.news, ledger.nodes)
    a_life_of_everything(feed, 1, through_the_gate(ledger, 1))
    assert_nothing_grew(before, containers(ledger.news, ledger.nodes))


# --- what the leader has beside the ledger --------------------------------------------------


class Silent:
    """A client that takes everything: what is measured is what we keep, not what was sent."""

    async def post(self, *_: object, **__: object) -> bytes:
        return b"{}"

    async def apply(self, *_: object) -> None:
        return


@pytest.fixture
async def recorder() -> AsyncIterator[EventRecorder]:
    silent: Any = Silent()
    recorder = EventRecorder(silent, instance="replica-0", queue_size=50, remembered=100)
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
    assert (sizes["EventRecorder._queue"], sizes["EventRecorder._reasons"]) == (50, 100)
    assert_nothing_grew(half, sizes)
    await until(lambda: not recorder._queue)
    assert containers(recorder)["EventRecorder._queue"] == 0


async def test_nothing_is_left_of_a_queue_in_the_status_writer() -> None:
    writer = StatusWriter(Silent(), lambda: "2026-01-01T00:00:00Z", standalone=True)
    before = containers(writer)
    for number in range(LIVES):
        queue = a_queue(f"queue-{number}").with_quota({H200: 1})
        found = report(a_ledger(*CARDS, queue), queue.name)
        assert found is not None
        writer.see(queue.name, {})
        writer.want(found)
        await until(lambda n=number: writer.writes > n)  # type: ignore[misc]
        writer.drop(queue.name)
    await until(lambda: not writer._tasks, 5)
    assert_nothing_grew(before, containers(writer))


def a_team_at_the_gate(number: int) -> list[tuple[str, Body]]:
    """A gang that fits, pods that fit beside it, and pods that do not."""
    team, queue = f"team-{number}", f"queue-{number}"
    pods = [
        a_pod(f"p{index}")
        .in_namespace(team)
        .with_uid(f"pod-{number}-{index}")
        .in_group("gang" if index < 2 else None)
        .in_queue(queue)
        .asking_for(1)
        .gated()
        for index in range(6)
    ]
    return [
        ("queues", a_queue(queue).with_quota({H200: 4}).with_policy("Gate")),
        ("podgroups", a_group("gang").in_namespace(team).with_uid(team).in_queue(queue).of(2)),
        *(("pods", pod) for pod in pods),
    ]


@pytest.mark.slow
async def test_nothing_is_left_of_a_pod_in_the_release_door(
    recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting, let through, refused by the API server, deleted in the middle of it."""
    monkeypatch.setattr(release, "_TRY_AGAIN", 0.01)
    monkeypatch.setattr(release, "_AT_MOST", 0.05)
    ledger = a_ledger(*CARDS)
    feed = Feed(ledger)
    script = Script()
    writer = FencedWriter(script, lambda: 60.0, timeout=2.0, at_a_time=32)
    door = ReleaseDoor(
        ledger,
        GateOpener(ledger, writer, writer),
        GroupKeeper(ledger, writer, writer, phases=True),
        recorder,
        Metrics(),
        term="term",
        in_flight=32,
        clock=asyncio.get_running_loop().time,
    )
    feed.pulse.listen(door.wake)
    deciding = asyncio.create_task(door.run())

    async def lives(numbers: Iterable[int]) -> None:
        for number in numbers:
            things = a_team_at_the_gate(number)
            for kind, body in things:
                feed.changed(kind, body.body)
            await until(lambda: not door._tasks and not door._wake.is_set(), 30)
            for kind, body in things[:: 1 if number % 2 else -1]:
                feed.deleted(kind, body.body)
        await until(lambda: not door._tasks and not door._wake.is_set() and not door._pods, 30)
        ledger.news.take_changed()  # as the hand-over to the status writer does
        ledger.news.take_strangers()
        ledger.nodes.take_reports()

    calls = count()

    def answer(_: Call) -> bytes | Exception:
        number = next(calls)
        if number % 7 == 3:
            return refused(409, "Conflict")
        return lost() if number % 11 == 5 else stored(100, spec={})

    script.answer_to = answer
    await lives(range(1, 3))
    before = containers(ledger, door, feed)
    await lives(range(3, 40))
    assert len(script.patches) > 40 * 2
    # The recorder's memory is bounded, and measured above.
    recorder_s = {path for path in containers(door) if "._events." in path}
    assert_nothing_grew(before, containers(ledger, door, feed), but=recorder_s)
    deciding.cancel()
    await asyncio.gather(deciding, return_exceptions=True)


def test_pods_let_by_are_forgotten_once_seen_or_old() -> None:
    now, seen = [0.0], set[str]()
    unseen = Unseen(seen.__contains__, lifetime=2.0, clock=lambda: now[0])
    for number in range(LIVES):
        unseen.add(f"uid-{number}", "red", ((H200, 1),))
        if number % 2 == 0:
            seen.add(f"uid-{number}")
    assert containers(unseen)["Unseen._passed"] == LIVES // 2
    now[0] = 2.0
    unseen.of("red", "")
    assert containers(unseen)["Unseen._passed"] == 0


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
    ledger.rest()
    assert_nothing_grew(before, containers(ledger))
