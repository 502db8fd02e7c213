"""V7: a gang that Volcano may never bind waits, unless its scheduler's configuration lets it."""

import asyncio
import json
from time import perf_counter

import pytest
import yaml

from builders import H200, H800, Body, a_group, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cluster.api.api_error import ApiError
from cardquota.control.release import gate_releaser
from cardquota.control.release.groups.mixed_cards import (
    FRESH,
    MixedCards,
    mixtures_allowed,
)
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.groups.mixture import Mixture

from ...fakes import charged, until
from ...leader import leading

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]

WHERE = "volcano-system/volcano-scheduler-configmap"
ALLOWS = {
    "configurations": [
        {"name": "enqueue", "arguments": {"x": 1}},
        {"name": "allocate", "arguments": {"predicateErrorCacheEnable": False}},
    ]
}
MIXED = Mixture("worker", ((H200, 1), (H800, 2)), choice=True)


class VolcanoConfiguration:
    """What a read of the ConfigMap gives, and how often it was read."""

    def __init__(self, stored: object = None, *, error: ApiError | None = None) -> None:
        self.stored = stored
        self.error = error
        self.paths: list[str] = []

    async def read(self, path: str) -> bytes:
        self.paths.append(path)
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        data = {"volcano-scheduler.conf": yaml.safe_dump(self.stored)}
        return json.dumps({"metadata": {"name": "x"}, "data": data}).encode()


class Watchdial:
    """A clock that stands."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def mixed(configuration: VolcanoConfiguration, clock: Watchdial) -> MixedCards:
    return MixedCards(configuration.read, WHERE, clock)


# --- what Volcano's configuration says ------------------------------------------------------------


def test_where_the_memory_of_its_scheduler_is_off_mixtures_are_bound() -> None:
    assert mixtures_allowed(yaml.safe_dump(ALLOWS))
    assert mixtures_allowed(yaml.safe_dump(ALLOWS).replace("false", "'false'"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a",
        "configurations: 3",
        "configurations: [3, {name: allocate}]",
        "configurations: [{name: allocate, arguments: [1]}]",
        "configurations: [{name: allocate, arguments: {predicateErrorCacheEnable: true}}]",
        "configurations: [{name: backfill, arguments: {predicateErrorCacheEnable: false}}]",
        "configurations: [{name: allocate, arguments: {}}]",
        "configurations: [{name: allocate",
        "[" * 5_000,
        "configurations: [{name: allocate, arguments: {predicateErrorCacheEnable: false}}]"
        + "\n#{" * 100,
        "- " * 5_000,
        "? " * 5_000,
    ],
)
def test_else_they_are_not(text: str) -> None:
    assert not mixtures_allowed(text)


SAYS = "configurations:\n- name: allocate\n  arguments:\n    predicateErrorCacheEnable: "


@pytest.mark.parametrize(
    "value", ["!!bool x", "!!int ''", "!!timestamp x", "0x" + "f" * 8_000, "2001-99-99", "1e999"]
)
def test_a_value_that_cannot_be_read_is_no_word(value: str) -> None:
    """Nor an error: one would end the leader's term, and the next one's."""
    assert mixtures_allowed(SAYS + "false")
    assert not mixtures_allowed(SAYS + value)


@pytest.mark.parametrize("key", ["<<", "!!merge x", "!<tag:yaml.org,2002:merge> x"])
def test_mappings_that_merge_each_other_are_not_worked_out(key: str) -> None:
    """Each level makes nine times as many: a dozen lines more would take minutes."""
    merged = "".join(f"b{n}: &a{n + 1}\n  {key}:\n" + f"  - *a{n}\n" * 9 for n in range(6))
    began = perf_counter()
    assert not mixtures_allowed("a: &a0 {k: v}\n" + merged + SAYS + "false")
    assert perf_counter() - began < 0.05


# --- whether it is known --------------------------------------------------------------------------


async def test_it_is_read_first_and_then_believed_for_a_time() -> None:
    configuration, clock = VolcanoConfiguration(ALLOWS), Watchdial()
    cards = mixed(configuration, clock)
    assert cards.obstacle(None) is None
    assert cards.obstacle(MIXED) == ""
    await cards.look()
    assert cards.obstacle(MIXED) is None
    await cards.look()
    name = "/api/v1/namespaces/volcano-system/configmaps/volcano-scheduler-configmap"
    assert configuration.paths == [name]
    configuration.stored = {}
    clock.now += FRESH
    assert cards.is_due
    assert cards.obstacle(MIXED) == ""  # that it was allowed is no longer believed
    await cards.look()
    text = cards.obstacle(MIXED)
    assert text is not None
    assert f"only on several cards together (<{H200}> <1>, <{H800}> <2>)" in text
    assert f"and ConfigMap <{WHERE}> does not set that" in text


async def test_who_asks_while_it_is_read_waits_for_it() -> None:
    """Nobody is told that it could not be read, and it is read once."""
    configuration = VolcanoConfiguration(ALLOWS)
    cards = mixed(configuration, Watchdial())
    reading = asyncio.create_task(cards.look())
    await asyncio.sleep(0)
    assert cards.obstacle(MIXED) == ""
    await cards.look()
    await reading
    assert cards.obstacle(MIXED) is None
    assert len(configuration.paths) == 1


async def test_what_cannot_be_read_says_nothing() -> None:
    cards = mixed(VolcanoConfiguration(error=ApiError(403, "Forbidden", "not yours")), Watchdial())
    await cards.look()
    assert "could not be read" in (cards.obstacle(MIXED._replace(task="")) or "")
    assert "the pods of the group have room" in (cards.obstacle(MIXED._replace(task="")) or "")


async def test_a_read_that_takes_long_is_given_up() -> None:
    """The queue waits for it."""

    async def never(_: str) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    cards = MixedCards(never, WHERE, Watchdial())
    await cards.look()
    assert "could not be read" in (cards.obstacle(MIXED) or "")


async def test_while_it_is_read_the_gang_is_not_judged_again_and_again() -> None:
    reading = asyncio.Event()

    async def slow(_: str) -> bytes:
        await reading.wait()
        return await VolcanoConfiguration(ALLOWS).read("")

    cards, asked = MixedCards(slow, WHERE, Watchdial()), list[object]()
    obstacle = cards.obstacle

    def counting(found: Mixture | None) -> str | None:
        asked.append(found)
        return obstacle(found)

    cards.obstacle = counting  # type: ignore[method-assign]
    things = (ONE_OF_EACH, GANG, member("a"), member("b"))
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: bool(asked))
        for _ in range(20):
            leader.releaser.wake()
            await asyncio.sleep(0.001)
        assert len(asked) == 1
        reading.set()
        await until(lambda: sorted(leader.opened) == ["a", "b"])


async def test_a_configuration_that_is_very_long_says_nothing() -> None:
    long = {**ALLOWS, "comment": "x" * 40_000}
    cards = mixed(VolcanoConfiguration(long), Watchdial())
    await cards.look()
    assert cards.obstacle(MIXED)


# --- and the gang ---------------------------------------------------------------------------------


EITHER = f"{H200}|{H800}"
ONE_OF_EACH = a_queue().with_quota({H200: 1, H800: 1})
NODES = a_node("a").with_cards(H200, 8), a_node("b").with_cards(H800, 8)
GANG = a_group().in_queue("queue").of(2)


def member(name: str) -> PodBody:
    pod = a_pod(name).in_queue("queue").in_group("gang").naming(EITHER)
    return pod.asking_for(1).gated().annotated("volcano.sh/task-spec", "worker")


async def test_a_gang_waits_and_is_told_what_to_set() -> None:
    cards = mixed(VolcanoConfiguration({}), Watchdial())
    things = (ONE_OF_EACH, GANG, member("a"), member("b"))
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: leader.tells("gang") == [v.MIXED_CARDS])
        assert leader.opened == []
        assert leader.ledger.groups["team/gang"].reservation is None
        # One card has room for all of them now.
        leader.see(a_queue().with_quota({H200: 1, H800: 2}).at_revision(900))
        await until(lambda: sorted(leader.opened) == ["a", "b"])


async def test_where_volcano_binds_it_it_starts() -> None:
    cards = mixed(VolcanoConfiguration(ALLOWS), Watchdial())
    things = (ONE_OF_EACH, GANG, member("a"), member("b"))
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: sorted(leader.opened) == ["a", "b"])
        assert v.MIXED_CARDS not in leader.tells("gang")


async def test_it_starts_as_soon_as_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries are a minute apart in the end: by then what was read is too old again."""
    monkeypatch.setattr(gate_releaser, "TRY_AGAIN", 3_600.0)
    cards = mixed(VolcanoConfiguration(ALLOWS), Watchdial())
    things = (ONE_OF_EACH, GANG, member("a"), member("b"))
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: sorted(leader.opened) == ["a", "b"])


async def test_it_starts_on_one_card_where_an_autoscaler_is_to_see_it() -> None:
    """Nodes have one of each free, and the queue has room for two of one."""
    cards = mixed(VolcanoConfiguration({}), Watchdial())
    queue = a_queue().with_quota({H200: 2, H800: 2})
    nodes = a_node("a").with_cards(H200, 1), a_node("b").with_cards(H800, 1)
    things = (queue, GANG, member("a"), member("b"))
    async with leading(*nodes, *things, mixed_cards=cards) as leader:
        await until(lambda: sorted(leader.opened) == ["a", "b"])
        assert charged(leader.ledger, H200) == 2
        assert v.MIXED_CARDS not in leader.tells("gang")


async def test_two_that_reserve_a_choice_do_not_block_each_other() -> None:
    """Each is one of the pods that may still get any card, to the other."""
    cards = mixed(VolcanoConfiguration({}), Watchdial())
    queue, choice = a_queue().with_quota({H200: 2, H800: 8}), {EITHER: 4}
    things: list[Body] = [queue]
    for gang in ("one", "two"):
        things.append(
            a_group(gang).in_queue("queue").of(4).asking(choice).enqueued("queue", choice)
        )
        things += [member(f"{gang}-{n}").in_group(gang) for n in range(4)]
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: len(leader.opened) == 8)
        assert charged(leader.ledger, H800) == 8


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("fifo", [True, False])
async def test_nobody_goes_before_it_while_that_is_read(allowed: bool, fifo: bool) -> None:
    """What was read is old each time that a card is freed."""
    cards = mixed(VolcanoConfiguration(ALLOWS if allowed else {}), Watchdial())
    queue = a_queue().with_quota({H200: 1, H800: 1} if allowed else {H200: 2, H800: 1})
    later = a_pod("later").in_queue("queue").naming(H200).asking_for(1).gated()
    late = "2026-03-01T00:00:00Z"
    things = (queue.fifo() if fifo else queue, GANG, member("a"), member("b"), later.created(late))
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: sorted(leader.opened) == ["a", "b"])


async def test_others_go_on_meanwhile() -> None:
    cards = mixed(VolcanoConfiguration({}), Watchdial())
    alone = a_pod("alone").in_queue("queue").naming(H200).asking_for(1).gated()
    things = (ONE_OF_EACH, GANG, member("a"), member("b"))
    async with leading(*NODES, *things, mixed_cards=cards) as leader:
        await until(lambda: leader.tells("gang") == [v.MIXED_CARDS])
        leader.see(alone)
        await until(lambda: leader.opened == ["alone"])
