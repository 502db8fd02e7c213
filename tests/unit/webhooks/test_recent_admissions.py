"""Pods that were admitted a moment ago."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from cardquota_webhooks import RecentAdmissions


def recent_admissions(seen: set[str]) -> tuple[RecentAdmissions, list[float]]:
    now = [0.0]
    return RecentAdmissions(seen.__contains__, lifetime=0.5, clock=lambda: now[0]), now


def test_they_are_remembered_by_queue_until_they_are_seen() -> None:
    seen: set[str] = set()
    recent, _ = recent_admissions(seen)
    recent.add("a", "red", (("card", 2), ("cpu", 100)))
    recent.add("b", "red", (("card", 1),))
    recent.add("c", "blue", (("card", 5),))
    assert recent.of("red", but="b") == ["a"]
    assert recent.amounts("red", recent.of("red", but="")) == {"card": 3, "cpu": 100}
    seen.add("a")
    assert recent.of("red", but="") == ["b"]


def test_they_are_forgotten_after_their_time() -> None:
    recent, now = recent_admissions(set())
    recent.add("a", "red", (("card", 2),))
    now[0] = 0.49
    assert recent.of("red", but="") == ["a"]
    now[0] = 0.5
    assert recent.of("red", but="") == []
    assert len(recent) == 0


def test_what_has_been_seen_or_has_no_uid_is_never_remembered() -> None:
    recent, _ = recent_admissions({"a"})
    recent.add("a", "red", (("card", 2),))
    recent.add("", "red", (("card", 2),))
    assert recent.of("red", but="") == []


def test_amounts_of_those_forgotten_meanwhile_are_nothing() -> None:
    recent, _ = recent_admissions(set())
    assert recent.amounts("red", ["never-heard-of"]) == {}


def test_one_that_is_admitted_once_more_is_remembered_from_then_on() -> None:
    recent, now = recent_admissions(set())
    recent.add("a", "red", (("card", 2),))
    now[0] = 0.4
    recent.add("a", "red", (("card", 3),))
    now[0] = 0.6
    assert recent.amounts("red", recent.of("red", but="")) == {"card": 3}
    now[0] = 0.9
    assert recent.of("red", but="") == []


def test_a_review_looks_at_its_own_queue_alone() -> None:
    """With a thousand creates a second the others are many."""
    asked: list[str] = []

    def seen(uid: str) -> bool:
        asked.append(uid)
        return False

    recent = RecentAdmissions(seen, lifetime=0.5, clock=lambda: 0.0)
    for number in range(100):
        recent.add(f"{number}", "blue", ())
    recent.add("a", "red", (("card", 2),))
    asked.clear()
    assert recent.of("red", but="") == ["a"]
    assert asked == ["a"]


# --- reviews that wait for them ---------------------------------------------------------------


async def turns() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_review_waits_for_those_admitted_before_it_and_for_no_others() -> None:
    seen: set[str] = set()
    recent, _ = recent_admissions(seen)
    recent.add("a", "red", ())
    recent.add("b", "red", ())
    recent.add("c", "blue", ())
    review = asyncio.create_task(recent.all_seen("red", "b", 600))
    await turns()
    recent.add("d", "red", ())
    recent.look()
    await turns()
    assert not review.done()
    seen.add("a")
    recent.look()
    await asyncio.wait_for(review, 60)
    assert recent.awaited == 0


async def test_a_review_waits_no_longer_than_it_was_told() -> None:
    recent, now = recent_admissions(set())
    recent.add("a", "red", ())
    reviews = [asyncio.create_task(recent.all_seen("red", "", wait)) for wait in (0.01, 600, 600)]
    await asyncio.wait_for(reviews[0], 60)
    now[0] = 9.0  # forgotten, and waited for all the same
    recent.look()
    await turns()
    assert [review.done() for review in reviews] == [True, False, False]
    for review in reviews:
        review.cancel()
    await asyncio.gather(*reviews, return_exceptions=True)
    assert recent.awaited == 0
    await recent.all_seen("red", "", 600)


async def test_a_beat_asks_for_one_pod_of_a_queue_however_many_reviews_wait() -> None:
    """They wait for a hundred each: to ask for all of them would be ten thousand times."""
    asked: list[str] = []
    seen: set[str] = set()

    def is_seen(uid: str) -> bool:
        asked.append(uid)
        return uid in seen

    recent = RecentAdmissions(is_seen, lifetime=0.5, clock=lambda: 0.0)
    uids = [f"{number}" for number in range(100)]
    for uid in uids:
        recent.add(uid, "red", ())
    reviews = [asyncio.create_task(recent.all_seen("red", "", 600)) for _ in range(100)]
    await turns()
    asked.clear()
    recent.look()
    assert asked == ["0"]
    seen.update(uids[:-1])
    recent.look()
    assert len(asked) < 4 * len(uids)
    seen.update(uids)
    recent.look()
    await asyncio.wait_for(asyncio.gather(*reviews), 60)
    assert recent.awaited == 0


STEPS = st.tuples(
    st.sampled_from(["admitted", "seen", "review", "later"]), st.sampled_from(list("abcdef"))
)


@given(st.lists(STEPS, max_size=40))
def test_whatever_comes_in_between_it_waits_for_what_was_unseen_when_it_began(
    steps: list[tuple[str, str]],
) -> None:
    async def run() -> None:
        seen: set[str] = set()
        recent, now = recent_admissions(seen)
        reviews: list[tuple[asyncio.Task[None], set[str]]] = []
        for step, uid in steps:
            match step:
                case "admitted":
                    recent.add(uid, "red", ())
                case "seen":
                    seen.add(uid)
                case "later":
                    now[0] += 0.2
                case _:
                    awaited = {*recent.of("red", but=uid)}
                    task = asyncio.create_task(recent.all_seen("red", uid, 60))
                    reviews.append((task, awaited))
            await turns()
            recent.look()
            await turns()
            assert [task.done() for task, _ in reviews] == [those <= seen for _, those in reviews]
        for task, _ in reviews:
            task.cancel()
        await asyncio.gather(*(task for task, _ in reviews), return_exceptions=True)
        assert recent.awaited == 0

    asyncio.run(run())
