"""R6, R5: what a run says of rolling updates that borrow, and of workloads that sleep."""

from pathlib import Path
from typing import Any

import pytest

from chaos.clients.objects import NAMESPACE, A, replica_set
from chaos.history import slim
from chaos.judging import recount
from chaos.judging.sleepers import asleep

from .story import Story
from .test_replay import found


def full(folder: Path) -> Story:
    """An old pod of a Deployment holds the quota, of which one more may be borrowed."""
    return (
        Story(folder).queue("q", {A: 1}, lent=1).waits("old", maker="web-1").opens("old").pause(60)
    )


def test_a_new_pod_of_an_update_may_be_beyond_the_quota(tmp_path: Path) -> None:
    assert found(full(tmp_path).waits("new", maker="web-2").opens("new").runs("new")) == []


def test_nobody_may_be_beyond_what_is_lent(tmp_path: Path) -> None:
    story = full(tmp_path).waits("new", maker="web-2").opens("new")
    (violation,) = found(story.waits("more", maker="web-2").opens("more"))
    assert "q holds 3 of" in violation


@pytest.mark.parametrize("maker", ["", "web-1", "api-2"])
def test_others_may_not(tmp_path: Path, maker: str) -> None:
    story = full(tmp_path).waits("other", maker=maker).opens("other")
    assert found(story) == [
        "other is let through beyond the quota of q, and is of no rolling update"
    ]


def test_an_old_pod_that_was_there_a_moment_ago_excuses_it(tmp_path: Path) -> None:
    story = full(tmp_path).waits("x").waits("new", maker="web-2")
    assert found(story.goes("old").opens("x").opens("new")) == []


def test_what_is_kept_of_a_pod_says_who_made_it() -> None:
    owners = [{"kind": "ReplicaSet", "name": "web-1", "controller": True}]
    thing = {"metadata": {"name": "p", "ownerReferences": owners}, "spec": {}, "status": {}}
    assert slim(thing)["metadata"]["ownerReferences"] == owners


@pytest.mark.parametrize(
    ("quota", "wants", "has", "said"),
    [(1, 1, 0, True), (0, 1, 0, False), (1, 1, 1, False), (1, 0, 0, False)],
)
def test_who_lacks_a_pod_that_fits_sleeps(quota: int, wants: int, has: int, *, said: bool) -> None:
    counted = recount.Recount(NAMESPACE, {})
    notes = {recount.QUOTA: f'{{"{A}": {quota}}}'}
    counted.apply("queue", "q", {"metadata": {"name": "q", "annotations": notes}})
    thing: dict[str, Any] = replica_set("web", "q", A)
    thing["spec"]["replicas"], thing["status"] = wants, {"replicas": has}
    words = asleep(counted, [thing])
    assert words == (["web lacks 1 pods in q, and one would fit"] if said else [])
