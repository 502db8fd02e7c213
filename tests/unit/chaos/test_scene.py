"""What a fault did is noted, and what one did not do is not."""

import asyncio
from collections import Counter
from random import Random
from typing import Any

import pytest

from chaos.api import Object, Reply
from chaos.clients.objects import CARD_OF_NODE
from chaos.faults import faults
from chaos.judging.leeway import BEHIND
from chaos.lengths import SHORT
from chaos.scene import NothingDoneError, Scene

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
async def test_a_fault_that_did_nothing_is_counted_apart_and_excuses_nothing(
    fault: faults.Fault,
) -> None:
    scene = scene_with(CannedApi())
    with scene.noted("fault: x"):
        await fault(scene, SHORT)
    assert +scene.tally == {"fault: x, nothing done": 1}
    assert scene.happened == []
    assert scene.troubles == []


async def test_a_leader_that_is_not_there_cannot_be_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def nobody(self: Scene) -> None: ...

    monkeypatch.setattr(Scene, "until_deciding", nobody)
    with pytest.raises(NothingDoneError):
        await faults.pause_the_leader(scene_with(CannedApi()), SHORT)


async def test_all_nodes_of_a_card_lose_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as one shows it, everybody knows the card."""
    shown = dict(CARD_OF_NODE)
    seen: list[set[str]] = []

    async def patch(path: str, body: Object) -> Reply:
        node = path.rpartition("/")[2]
        shown[node] = body["metadata"]["labels"]["nvidia.com/gpu.product"] or ""
        seen.append({card for card in shown.values() if card})
        return Reply(200, {})

    async def at_once(_: float) -> None: ...

    api: Any = CannedApi()
    api.patch = patch
    monkeypatch.setattr(asyncio, "sleep", at_once)
    await faults.take_labels(scene_with(api), SHORT)
    assert min(map(len, seen)) == len(set(CARD_OF_NODE.values())) - 1
    assert shown == CARD_OF_NODE


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
