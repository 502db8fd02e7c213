"""P8: what is kept of all objects of a kind has a bound in bytes; what is charged stays exact."""

import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import Limit, Outcome, Reason, Stamp
from cardquota.quota.decisions import judge_create, judge_group_write
from cardquota.quota.ledger import Ledger, ledger_reader
from cardquota.quota.release import Opening, Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports.drift import drift

RED = a_queue("red").with_quota({H200: 400})
POD = a_pod("p").in_queue("red").asking_for(1).gated()
GROUP = a_group("train").in_queue("red").of(2)
SUM_OF_PODS, SUM_OF_GROUPS = 9_000, 8_000

Lower = Callable[..., None]


@pytest.fixture
def lower(monkeypatch: pytest.MonkeyPatch) -> Lower:
    """Lower some limits of what all together may take."""

    def to(**bytes_: int) -> None:
        for name, most in bytes_.items():
            limit: Limit = getattr(ledger_reader, name)
            monkeypatch.setattr(ledger_reader, name, limit._replace(most=most))

    return to


def waits(n: int, namespace: str = "team") -> PodBody:
    return POD.put(f"p{n}", "metadata", "name").in_namespace(namespace).with_uid(f"{namespace}-{n}")


def read_again(ledger: Ledger, *bodies: PodBody | GroupBody | QueueBody) -> list[str]:
    """As `LeftOutReads` does. Returns the names of those that were read."""
    there = {body.uid: body for body in bodies}
    found = [one for kept in ledger.kept.values() for _, one in kept.to_read(99)]
    for one in found:
        see(ledger, there[one.uid])
    return [one.name for one in found]


# --- pods ------------------------------------------------------------------------------------


def test_beyond_the_sum_of_its_namespace_only_the_name_of_a_waiting_pod_is_kept(
    lower: Lower,
) -> None:
    lower(WAITING_PODS_OF_ONE=5_600)
    ledger = a_ledger(*CARDS, RED, *map(waits, range(4)), waits(0, "other"))
    assert {*ledger.pods} == {"team-0", "team-1", "other-0"}
    assert [one.name for one in ledger.kept_pods.left_out_of("team")] == ["p2", "p3"]
    assert ledger.kept_pods.number_left_out == 2
    assert read_again(ledger) == []
    ledger.pod_gone("team-0")
    assert read_again(ledger, *map(waits, range(4))) == ["p2"]
    assert {*ledger.pods} == {"team-1", "team-2", "other-0"}
    ledger.pod_gone("team-3")
    for uid in [*ledger.pods]:
        ledger.pod_gone(uid)
    assert (ledger.kept_pods.total, ledger.kept_pods.sizes) == (0, {})
    assert ledger.kept_pods.number_left_out == 0


def test_room_is_shared_by_the_namespaces_whose_pods_are_left_out(lower: Lower) -> None:
    """One with very many does not get all of it before the others have their turn."""
    lower(WAITING_PODS=9_000)
    ledger = a_ledger(*CARDS, RED, *map(waits, range(12)))
    for n, namespace in enumerate(["one", "two"]):
        see(ledger, waits(n, namespace))
    for uid in [*ledger.pods]:
        ledger.pod_gone(uid)
    found = {one.namespace for _, one in ledger.kept_pods.to_read(3)}
    assert found == {"team", "one", "two"}


@pytest.mark.parametrize("namespaces", [["team"] * 3, ["team", "one", "two"]])
def test_those_that_were_not_read_when_it_was_their_turn_go_behind_the_others(
    lower: Lower, namespaces: list[str]
) -> None:
    """They may be gone, or the API server may not give them."""
    lower(WAITING_PODS=3_000)
    pods = [waits(n, namespace) for n, namespace in enumerate(namespaces)]
    ledger = a_ledger(*CARDS, RED, waits(9), *pods)
    ledger.pod_gone("team-9")
    turns = [[one.name for _, one in ledger.kept_pods.to_read(1)] for _ in range(6)]
    assert turns == [["p0"], ["p1"], ["p2"]] * 2


def test_a_large_one_without_room_does_not_hold_up_the_small_ones_behind_it(lower: Lower) -> None:
    lower(WAITING_PODS_OF_ONE=9_000)
    large = waits(1).on_nodes_labelled({"k": "v" * 6_000})
    ledger = a_ledger(*CARDS, RED, *map(waits, range(10, 13)), large, waits(2))
    ledger.pod_gone("team-10")
    assert read_again(ledger, large, waits(2)) == ["p2"]


def test_a_pod_that_would_be_left_out_is_refused_at_create_with_the_numbers(lower: Lower) -> None:
    lower(WAITING_PODS_OF_ONE=3_000)
    ledger = a_ledger(*CARDS, RED, waits(0))
    verdict = judge_create(ledger, waits(1).facts())
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, Reason.TOO_MUCH_KEPT)
    assert "with the pod, the pods of its namespace that wait would take <5" in verdict.text
    assert "at most <3000> are kept" in verdict.text
    assert judge_create(ledger, waits(0, "other").facts()).fits


def test_one_that_came_past_us_is_charged_by_what_it_asks_for(lower: Lower) -> None:
    """Where it may run is not kept, and nor is more than a few of very many devices."""
    lower(WAITING_PODS=1)
    amounts = {f"a.io/hca-{n:02}": "1" for n in range(20)} | {"nvidia.com/gpu": "2"}
    pod = POD.with_spec(containers=[{"name": "main", "resources": {"limits": amounts}}])
    ledger = a_ledger(*CARDS, RED, pod.ungated())
    facts = ledger.pods["uid-p"].facts
    assert facts.oversized
    assert len(facts.devices) == 4
    assert ledger.accounts_by_queue["red"].row(H200).inqueue == 2
    few = a_ledger(*CARDS, RED, waits(1).ungated()).pods["team-1"].facts
    assert (few.oversized, few.devices) == (True, (("nvidia.com/gpu", 1),))


def test_each_is_told_once_in_a_term(lower: Lower) -> None:
    lower(WAITING_PODS=1)
    ledger = a_ledger(*CARDS, RED, waits(0))
    kept = ledger.kept_pods
    assert kept.take_news(9) == []
    kept.ask(asked=True)
    see(ledger, waits(1))
    assert [one.name for one in kept.take_news(1)] == ["p0"]
    see(ledger, waits(0).at_revision(7))
    assert [one.name for one in kept.take_news(9)] == ["p1"]
    see(ledger, waits(2))
    ledger.pod_gone("team-2")
    assert kept.take_news(9) == []
    kept.ask(asked=False)


# --- groups ----------------------------------------------------------------------------------


def test_the_members_of_a_group_that_is_not_read_wait_and_are_told(lower: Lower) -> None:
    lower(IDLE_GROUPS_OF_ONE=5_000)
    ledger = a_ledger(*CARDS, RED, a_group("first").in_queue("red").of(2))
    members = [waits(n).in_group("train") for n in range(2)]
    for member in members:
        see(ledger, member)
    see(ledger, GROUP)
    (refusal,) = openings(ledger, "red")
    assert isinstance(refusal, Refusal)
    assert refusal.verdict.reason is Reason.TOO_MUCH_KEPT
    assert (
        "pod group <team/train> is not read, and its pods wait: with it, the pod groups of its "
        in (refusal.verdict.text)
    )
    created = judge_create(ledger, waits(7).in_group("train").facts())
    assert (created.outcome, created.reason) == (Outcome.UNSEEN, Reason.TOO_MUCH_KEPT)
    ledger.group_gone("team/first")
    unread = judge_create(ledger, waits(7).in_group("train").facts())
    assert "there is room for it again" in unread.text
    assert read_again(ledger, GROUP) == ["train"]
    assert [type(one) for one in openings(ledger, "red")] == [Opening]


def test_a_group_that_would_be_left_out_is_refused_when_it_is_written(lower: Lower) -> None:
    lower(IDLE_GROUPS_OF_ONE=1)
    ledger = a_ledger(*CARDS, RED)
    found = judge_group_write(ledger, GROUP.written())
    assert (found.outcome, found.reason) == (Outcome.NEVER, Reason.TOO_MUCH_KEPT)
    assert "with the group, the pod groups of its namespace" in found.text
    found = judge_group_write(ledger, GROUP.written(), by_controller=True)
    assert found.outcome is Outcome.WAITS


# --- queues ----------------------------------------------------------------------------------


def test_a_queue_with_more_rows_than_are_kept_has_the_quota_that_it_had(lower: Lower) -> None:
    lower(QUEUES=20_000)
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H200: 3}))
    many = a_queue("red").with_quota({f"C{n}": 1 for n in range(100)}).at_revision(2)
    see(ledger, many)
    account = ledger.accounts_by_queue["red"]
    assert account.quota == {H200: 3}
    assert account.facts is not None
    assert "the queues would take <126" in account.facts.quota_problem
    assert not account.facts.admits("team")
    see(ledger, a_queue("red").with_quota({H200: 4}).at_revision(3))
    assert account.quota == {H200: 4}
    see(ledger, a_queue("blue").with_quota({f"C{n}": 1 for n in range(9)}))
    assert [one.name for _, one in ledger.kept_queues.to_read(9)] == []
    ledger.queue_gone("red")
    assert [one.name for _, one in ledger.kept_queues.to_read(9)] == ["blue"]


# --- any history -----------------------------------------------------------------------------


class CrowdedWorld:
    """Random events, told to a ledger with low sums and to one without any."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        start = [*CARDS, RED, a_queue("blue").with_quota({H200: 5}), a_namespace("team")]
        self.ledger, self.plain = a_ledger(*start), a_ledger(*start, bounded=False)
        self.pods: dict[str, PodBody] = {}
        self.groups: dict[str, GroupBody] = {}
        self.revision = 10
        self.left_out = 0

    def tell(self, body: Any) -> Any:
        self.revision += 1
        body = body.at_revision(self.revision)
        for ledger in (self.ledger, self.plain):
            see(ledger, body)
        return body

    def pick(self, state: str = "") -> str | None:
        found = [uid for uid, body in self.pods.items() if not state or _state(body) == state]
        return self.random.choice(found) if found else None

    def step(self) -> None:
        name = self.random.choice(["new", "new", "new", "edit", "open", "charge", "bind", "end"])
        name = self.random.choice([name, name, name, "group", "group_end", "reserve", "stray"])
        getattr(self, name)()
        self.left_out += self.ledger.kept_pods.number_left_out
        if self.random.random() < 0.7:
            self.read()
            self.check()

    def new(self) -> None:
        body = waits(self.revision).in_queue(self.random.choice(["red", "blue", None]))
        body = body.in_group(self.random.choice([None, "g0", "g1", "g2"]))
        self.put(body.with_spec(nodeSelector=self.selector()))

    def put(self, body: PodBody) -> None:
        self.pods[body.uid] = self.tell(body)

    def selector(self) -> dict[str, str]:
        return {"k": "v" * self.random.choice([1, 500, 3_000])}

    def edit(self) -> None:
        if uid := self.pick("gated"):
            self.put(self.pods[uid].with_spec(nodeSelector=self.selector()))

    def open(self) -> None:
        """Another leader, or somebody else, has opened its gate."""
        if uid := self.pick("gated"):
            body = self.pods[uid].ungated()
            self.put(self.random.choice([body, body.stamped("red", {H200: 1})]))

    def charge(self) -> None:
        """We open its gate."""
        found = [uid for uid, record in self.ledger.pods.items() if record.gated]
        if found:
            uid, stamp = self.random.choice(found), Stamp("red", ((H200, 1),), "term-1")
            for ledger in (self.ledger, self.plain):
                ledger.decisions.assume(uid, stamp)
            if self.random.random() < 0.5:
                self.put(self.pods[uid].with_spec(nodeSelector=self.selector()))
            self.put(self.pods[uid].ungated().stamped("red", {H200: 1}, term="term-1"))

    def bind(self) -> None:
        if uid := self.pick("open"):
            self.put(self.pods[uid].on_node("h200-a"))

    def end(self) -> None:
        if uid := self.pick():
            body = self.pods.pop(uid)
            if self.random.random() < 0.3:
                self.tell(body.in_phase("Succeeded"))
            for ledger in (self.ledger, self.plain):
                ledger.pod_gone(uid)

    def group(self) -> None:
        name = self.random.choice(["g0", "g1", "g2"])
        body = self.groups.get(name, a_group(name).with_uid(f"{name}-{self.revision}"))
        tasks = {f"t{n}": 0 for n in range(self.random.choice([0, 40]))}
        body = body.in_queue(self.random.choice(["red", "blue"])).of(self.random.randint(1, 3))
        self.groups[name] = self.tell(body.put(tasks, "spec", "minTaskMember"))

    def reserve(self) -> None:
        if self.groups:
            name = self.random.choice([*self.groups])
            body = self.groups[name].put(None, "metadata", "annotations")
            if self.random.random() < 0.6:
                body = body.reserving("red", {H200: 2})
            self.groups[name] = self.tell(body)

    def group_end(self) -> None:
        if self.groups and self.random.random() < 0.5:
            name = self.random.choice([*self.groups])
            del self.groups[name]
            for ledger in (self.ledger, self.plain):
                ledger.group_gone(f"team/{name}")

    def stray(self) -> None:
        """An event of before comes late."""
        if (uid := self.pick()) and self.ledger.kept_pods.left_out(uid):
            see(self.ledger, self.pods[uid].ungated().at_revision(1))

    def read(self) -> None:
        bodies: list[PodBody | GroupBody] = [*self.pods.values(), *self.groups.values()]
        for _ in range(9):
            if not read_again(self.ledger, *bodies):
                return

    def check(self) -> None:
        assert drift(self.ledger) == {}
        for queue in ("red", "blue", ""):
            found, wanted = (_held(one, queue) for one in (self.ledger, self.plain))
            assert found == wanted, (queue, self.revision)
        kept = self.ledger.kept
        assert kept["pods"].total <= SUM_OF_PODS
        assert kept["podgroups"].total <= SUM_OF_GROUPS
        gated = {uid for uid, record in self.ledger.pods.items() if record.gated}
        left_out = {one.uid for one in kept["pods"].left_out_of("team")}
        assert not gated & left_out
        assert gated | left_out == {u for u, record in self.plain.pods.items() if record.gated}


def _state(body: PodBody) -> str:
    facts = body.facts()
    return ("gated", "open", "bound")[facts.state]


def _held(ledger: Ledger, queue: str) -> tuple[int, ...]:
    account = ledger.account(queue)
    if account is None:
        return (0, 0, 0)
    row = account.row(H200)
    return row.allocated, row.inqueue, row.elastic


@pytest.mark.parametrize("seed", range(40))
def test_i2_what_is_held_is_the_same_as_without_limits_in_any_history(
    lower: Lower, seed: int
) -> None:
    lower(WAITING_PODS_OF_ONE=SUM_OF_PODS, IDLE_GROUPS_OF_ONE=SUM_OF_GROUPS)
    world = CrowdedWorld(seed)
    for _ in range(80):
        world.step()
    assert world.left_out
    for uid in [*world.pods]:
        world.ledger.pod_gone(uid)
    for name in world.groups:
        world.ledger.group_gone(f"team/{name}")
    assert [kept.number_left_out for kept in world.ledger.kept.values()] == [0] * 4
    assert world.ledger.kept_pods.total == world.ledger.kept_groups.total == 0


# --- the estimate ----------------------------------------------------------------------------


def many() -> Iterator[tuple[str, Callable[[int], Any]]]:
    yield "pods of their own class", lambda n: waits(n).on_nodes_labelled({"k": f"{n}"})
    yield "long selectors", lambda n: waits(n).on_nodes_labelled({"k": f"{n}" + "v" * 4_000})
    yield "queues that only pods name", lambda n: waits(n).in_queue(f"q{n}")
    yield "groups that only pods name", lambda n: waits(n).in_group(f"g{n}")
    yield (
        "alternatives",
        lambda n: waits(n).naming("|".join(f"A{n}-{i}" + "x" * 50 for i in range(16))),
    )
    yield "groups", lambda n: a_group(f"g{n}").in_queue(f"red{n}").of(2)
    yield (
        "tasks",
        lambda n: a_group(f"g{n}").of(64).put({f"{n}-{t}": 1 for t in range(64)}, "spec", TASKS),
    )
    yield "queues", lambda n: a_queue(f"q{n}").with_quota({f"C{n}-{i}": 1 for i in range(20)})


TASKS = "minTaskMember"


@pytest.mark.slow
@pytest.mark.parametrize(("what", "make"), [*many()], ids=[what for what, _ in many()])
def test_as_much_memory_is_taken_as_is_counted(what: str, make: Callable[[int], Any]) -> None:
    """What caches of texts take is in it; after other tests these may be full, and take nothing.
    One that grows moves whole: two of them do not in each of four parts.
    """
    ledger = a_ledger(*CARDS, RED)
    for n in range(100):
        see(ledger, make(n))
    before = sum(kept.total for kept in ledger.kept.values())
    parts = [range(first, first + 100) for first in (100, 200, 300, 400)]
    taken = min(_taken(ledger, (make(n) for n in part)) for part in parts)
    counted = (sum(kept.total for kept in ledger.kept.values()) - before) // len(parts)
    assert taken <= counted <= 4 * taken, what


def _taken(ledger: Ledger, things: Iterable[Any]) -> int:
    """Bytes that are taken when a ledger sees these."""
    tracemalloc.start()
    try:
        see(ledger, *things)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
