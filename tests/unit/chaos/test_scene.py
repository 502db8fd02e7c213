"""What a fault did is noted, and what one did not do is not."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from chaos.api import Object, Reply
from chaos.faults import faults
from chaos.judging.leeway import BEHIND
from chaos.lengths import SHORT
from chaos.scene import Scene

NO = Reply(404, {})


class CannedApi:
    """Answers no to everything, but for what is given."""

    def __init__(self, **answers: Reply) -> None:
        self._answers = answers

    async def get(self, path: str) -> Reply:
        return self._answers.get("get", NO)

    async def create(self, path: str, body: Object) -> Reply:
        return self._answers.get("create", NO)

    async def delete(self, path: str) -> Reply:
        return self._answers.get("delete", NO)


def scene_with(api: CannedApi) -> Scene:
    nothing: Any = None
    answers: Any = api
    return Scene(nothing, answers, [], [], nothing, Random(1), Counter())


@pytest.mark.parametrize(
    "fault", [faults.hold_patches, faults.delete_the_lease, faults.refuse_after_us]
)
async def test_one_that_did_nothing_counts_apart_and_excuses_nothing(fault: faults.Fault) -> None:
    scene = scene_with(CannedApi())
    with scene.noted("fault: x"):
        await fault(scene, SHORT)
    assert +scene.tally == {"fault: x, nothing done": 1}
    assert scene.happened == []
    assert scene.troubles == []


def test_what_makes_views_old_and_what_makes_answers_late_is_told_apart() -> None:
    scene = scene_with(CannedApi())
    with scene.noted("fault: x"), scene.views_are_old(BEHIND):
        pass
    with scene.noted("fault: y"), scene.answers_are_late():
        pass
    with scene.noted("fault: neither"):
        pass
    assert [(one.old, one.behind) for one in scene.troubles] == [(True, BEHIND), (False, 0.0)]
    assert [what for _, _, what in scene.happened] == ["fault: x", "fault: y", "fault: neither"]
