"""What goes wrong with Volcano is put right again, and its CAs are handed on."""

import asyncio
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cardquota_dev.plane.folder import Folder
from chaos.clients.everybody import all_clients
from chaos.faults.faults import FAULTS, Fault
from chaos.faults.schedule import known_faults
from chaos.faults.volcano_faults import VOLCANO_FAULTS, lose_answers, lose_questions
from chaos.lengths import SHORT, beside_volcano
from chaos.scene import NothingDoneError, Scene
from chaos.volcano_side import VolcanoSide
from chaos.vote_way import VoteWay

NOTHING: Any = None


def scene_with(side: VolcanoSide | None) -> Scene:
    return Scene(NOTHING, NOTHING, [], [], NOTHING, Random(1), Counter(), side)


@pytest.mark.parametrize(
    ("fault", "meanwhile"), [(lose_questions, (False, False)), (lose_answers, (True, True))]
)
async def test_votes_fail_and_do_not_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, meanwhile: tuple[bool, bool]
) -> None:
    way = VoteWay(0)

    async def look(_: float) -> None:
        assert (way.open, way.loses_answers) == meanwhile
        way.lost += way.loses_answers

    monkeypatch.setattr(asyncio, "sleep", look)
    scene = scene_with(VolcanoSide(Folder(tmp_path), way))
    await fault(scene, SHORT)
    assert (way.open, way.loses_answers, scene.troubles) == (True, False, [])


@pytest.mark.parametrize("fault", [lose_questions, lose_answers])
async def test_where_volcano_is_not_no_vote_fails(fault: Fault) -> None:
    with pytest.raises(NothingDoneError):
        await fault(scene_with(None), SHORT)


async def test_where_nobody_asks_no_answer_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(_: float) -> None: ...

    monkeypatch.setattr(asyncio, "sleep", at_once)
    with pytest.raises(NothingDoneError):
        await lose_answers(scene_with(VolcanoSide(Folder(tmp_path), VoteWay(0))), SHORT)


def test_each_short_fault_is_known_where_it_happens() -> None:
    assert set(SHORT.faults) <= known_faults(volcano=False).keys() == FAULTS.keys()
    beside = known_faults(volcano=True)
    assert set(beside_volcano(SHORT).faults) <= beside.keys() == {*FAULTS, *VOLCANO_FAULTS}


def test_new_authorities_are_handed_on(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.volcano_ca.write_bytes(b"old")
    side = VolcanoSide(folder, VoteWay(0))
    side.trust(b"old")
    side.trust(b"old and new")
    assert folder.volcano_ca.read_bytes() == b"old and new"


def test_beside_volcano_nobody_asks_for_what_an_extender_gives() -> None:
    names = [client.name for client in all_clients(NOTHING, 1, Counter(), volcano=True)]
    assert len(set(names)) == len(names)
    assert not any("memory" in name or "announced" in name for name in names)
    assert any(name.startswith("volcanojobclient") for name in names)
