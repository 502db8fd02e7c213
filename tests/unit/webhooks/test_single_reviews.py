"""Pods that the mutating review answers alone: which, and what they are remembered for."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import H200, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_webhooks import PODS_OF_ROOM, SingleReviews

from .endpoint import Endpoint

THREE = a_queue().with_quota({H200: 3})
MANY = a_queue().with_quota({H200: 1000})


def pod(cards: int = 1) -> PodBody:
    return a_pod().in_queue("queue").naming(H200).asking_for(cards)


def running(cards: int) -> PodBody:
    held = a_pod("running").in_queue("queue").stamped("queue", {H200: cards})
    return held.on_node("h200-a").naming(H200).asking_for(cards)


async def mark(endpoint: Endpoint, asked: PodBody, **more: object) -> str:
    """The value of our label after the mutating review."""
    patch = (await endpoint.mutate(asked, **more)).patch
    (label,) = (step["value"] for step in patch if step["path"].startswith("/metadata/labels"))
    return str(label[v.MANAGED] if isinstance(label, dict) else label)


# --- which pods -----------------------------------------------------------------------------


@pytest.mark.parametrize("cards", [1, 3])
async def test_what_waits_for_room_is_reviewed_once(cards: int) -> None:
    """Whether there is room or not: pods that are not yet seen change no answer."""
    async with Endpoint(THREE.with_policy("Gate"), running(2)) as endpoint:
        assert await mark(endpoint, pod(cards)) == v.IS_MANAGED


@pytest.mark.parametrize(
    ("cards", "taken", "value"),
    [
        (1, 1000 - PODS_OF_ROOM - 1, v.IS_MANAGED),
        (1, 1000 - PODS_OF_ROOM, v.TO_REVIEW),
        (9, 0, v.IS_MANAGED),
        (10, 0, v.TO_REVIEW),
    ],
)
async def test_what_may_be_refused_is_reviewed_once_where_a_hundred_more_would_fit(
    cards: int, taken: int, value: str
) -> None:
    async with Endpoint(MANY, running(taken)) as endpoint:
        assert await mark(endpoint, pod(cards)) == value


async def test_cpu_and_memory_count_too() -> None:
    async with Endpoint(MANY.limited_to(cpu="100")) as endpoint:
        assert await mark(endpoint, pod().with_cpu("500m")) == v.IS_MANAGED
        assert await mark(endpoint, pod().with_cpu("1")) == v.TO_REVIEW


async def test_those_of_a_moment_ago_count() -> None:
    """But not a dry run: it never shows up."""
    async with Endpoint(MANY, running(890)) as endpoint:
        assert await mark(endpoint, pod(), dryRun=True) == v.IS_MANAGED
        for _ in range(10):
            assert await mark(endpoint, pod()) == v.IS_MANAGED
        assert await mark(endpoint, pod()) == v.TO_REVIEW
        endpoint.now += endpoint.settings.webhook.unseen_wait
        assert await mark(endpoint, pod()) == v.IS_MANAGED


async def test_those_that_were_reviewed_twice_a_moment_ago_count_too() -> None:
    """They are not seen yet, and the pod that comes now would not wait for them."""
    async with Endpoint(MANY, running(500)) as endpoint:
        for number in range(50):
            thing = pod(8).gated().with_uid(f"u{number}")
            assert (await endpoint.validate(thing)).allowed
        assert await mark(endpoint, pod()) == v.TO_REVIEW
        endpoint.now += endpoint.settings.webhook.unseen_wait
        assert await mark(endpoint, pod()) == v.IS_MANAGED


async def test_before_the_cluster_is_known_all_are_reviewed_twice() -> None:
    async with Endpoint(THREE.with_policy("Gate")) as endpoint:
        endpoint.synced = False
        assert await mark(endpoint, pod()) == v.TO_REVIEW


async def test_where_what_is_known_is_old_what_does_not_fit_is_reviewed_twice() -> None:
    async with Endpoint(THREE, running(3)) as endpoint:
        endpoint.late = True
        assert await mark(endpoint, pod()) == v.TO_REVIEW


async def test_where_what_is_known_is_old_a_pod_that_lacks_its_queue_is_reviewed_twice() -> None:
    async with Endpoint(THREE, require_queue=True) as endpoint:
        endpoint.late = True
        assert await mark(endpoint, a_pod().naming(H200).asking_for(1)) == v.TO_REVIEW


async def test_a_value_that_somebody_wrote_saves_no_review() -> None:
    async with Endpoint(THREE) as endpoint:
        assert await mark(endpoint, pod().managed()) == v.TO_REVIEW


# --- a second review beside them ------------------------------------------------------------


async def test_they_are_waited_for_where_they_would_turn_a_yes_into_a_no() -> None:
    """A moment later they are seen, and the answer is what it would have been."""
    async with Endpoint(MANY, webhook={"unseenWait": 0.2}) as endpoint:
        for _ in range(10):
            assert await mark(endpoint, pod(8)) == v.IS_MANAGED
        last = pod(990).gated().with_uid("last")
        review = asyncio.create_task(endpoint.validate(last))
        done, _ = await asyncio.wait([review], timeout=0.05)
        assert not done
        endpoint.see(running(80))
        said = await review
        assert not said.allowed
        assert "requested <990>, total would be <1070>, but capability is <1000>" in said.text


async def test_those_that_never_came_refuse_nobody() -> None:
    async with Endpoint(MANY, webhook={"unseenWait": 0.05}) as endpoint:
        for _ in range(10):
            assert await mark(endpoint, pod(8)) == v.IS_MANAGED
        assert (await endpoint.validate(pod(990).gated().with_uid("last"))).allowed


async def test_who_fits_beside_them_waits_for_nothing() -> None:
    async with Endpoint(MANY, unseen_wait=3600.0) as endpoint:
        for _ in range(10):
            assert await mark(endpoint, pod(8)) == v.IS_MANAGED
        last = endpoint.validate(pod(920).gated().with_uid("last"))
        assert (await asyncio.wait_for(last, 60)).allowed


# --- what is remembered ---------------------------------------------------------------------


def single_reviews() -> tuple[SingleReviews, list[float]]:
    now = [0.0]
    return SingleReviews(lifetime=0.5, clock=lambda: now[0]), now


def test_they_are_remembered_by_queue_for_their_time() -> None:
    single, now = single_reviews()
    single.add("red", (("card", 2), ("cpu", 100)))
    now[0] = 0.4
    single.add("red", (("card", 1),))
    single.add("blue", (("card", 5),))
    assert single.amounts("red") == {"card": 3, "cpu": 100}
    now[0] = 0.5
    assert single.amounts("red") == {"card": 1, "cpu": 0}
    now[0] = 0.9
    assert single.amounts("red") == {}
    assert len(single) == 0


@given(st.lists(st.tuples(st.sampled_from(["red", "blue"]), st.integers(0, 9), st.integers(0, 3))))
def test_the_amounts_are_those_of_the_pods_of_late(
    pods: list[tuple[str, int, int]],
) -> None:
    single, now = single_reviews()
    added: list[tuple[float, str, int]] = []
    for queue, cards, pause in pods:
        now[0] += pause / 8
        single.add(queue, (("card", cards),))
        added.append((now[0], queue, cards))
        for one in ("red", "blue"):
            young = [n for at, q, n in added if q == one and at + 0.5 > now[0]]
            assert single.amounts(one).get("card", 0) == sum(young)
        assert len(single) == sum(at + 0.5 > now[0] for at, _, _ in added)


async def test_nobody_waits_where_there_are_none() -> None:
    single, now = single_reviews()
    await asyncio.wait_for(single.all_old("red"), 60)
    single.add("blue", (("card", 1),))
    await asyncio.wait_for(single.all_old("red"), 60)
    now[0] = 0.5
    await asyncio.wait_for(single.all_old("blue"), 60)
