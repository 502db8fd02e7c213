"""The short form of `make fuzz-door`: all but time, which a busy machine distorts."""

from typing import Any

import pytest

from cardquota.extender import Binder, ExtenderServer
from cardquota.quota.cards import CardMemory, MemoryNode
from fuzz.door.run import fuzz_door


@pytest.mark.slow
async def test_nothing_that_is_called_is_too_much() -> None:
    found = await fuzz_door(2_000, 1, large=0.0, timed=False)
    assert not found.counted, found.text()
    # It is not all refused at the first look.
    verbs = ("filter", "prioritize", "bind", "preempt")
    assert min(found.answers[f"{verb}: {said}"] for verb in verbs for said in ("yes", "no")) > 20
    assert min(found.paths.values()) > 20, found.text()


async def test_a_call_that_cannot_be_answered_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(ExtenderServer, "filter", broken)
    assert (await fuzz_door(100, 1, large=0.0, timed=False)).counted["bug"]


@pytest.mark.parametrize("lost", ["assume", "forget", "unhealthy_seen", "node_gone", "release"])
async def test_what_the_ledger_loses_is_found(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> None: ...

    monkeypatch.setattr(CardMemory, lost, nothing)
    assert (await fuzz_door(400, 1, large=0.0, timed=False)).counted["drift"]


async def test_a_card_that_has_no_room_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def the_first(self: MemoryNode, amount: int, *, spread: bool = False) -> int:
        return 0

    monkeypatch.setattr(MemoryNode, "card_for", the_first)
    assert (await fuzz_door(1_000, 1, large=0.0, timed=False)).counted["over"]


async def test_who_is_told_to_be_bound_and_is_not_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def gladly(*_: object) -> str:
        return ""

    monkeypatch.setattr(Binder, "bind", gladly)
    assert (await fuzz_door(100, 1, large=0.0, timed=False)).counted["lie"]
