"""What must never be of card memory, each shown by a history that has it, and one that has not."""

from typing import Any

import pytest

from chaos.clients.memory_objects import (
    Cards,
    broken,
    broken_list,
    list_name,
    memory_pod,
    sharing_node,
)
from chaos.history import Change, slim
from chaos.judging.leeway import Trouble
from chaos.judging.memory_agreement import differences, waiting
from chaos.judging.memory_judge import MemoryJudge

TWO = Cards(2, 32_000)


class MemoryStory:
    """Every step is one change, a second after the one before."""

    def __init__(self, *troubles: Trouble) -> None:
        self.judge = MemoryJudge(troubles)
        self.now = 0.0
        self.found: list[str] = []

    def put(self, kind: str, key: str, thing: dict[str, Any] | None) -> "MemoryStory":
        self.now += 1
        thing = slim(thing) if thing else None
        self.found += self.judge.after(Change(int(self.now), self.now, kind, key, 1, thing))
        return self

    def node(self, name: str = "both-0", cards: Cards = TWO, listed: str = "") -> "MemoryStory":
        body = sharing_node(name, cards)
        body["metadata"]["annotations"] |= broken(listed)["metadata"]["annotations"]
        return self.put("node", name, body)

    def holds(
        self, name: str, memory: int, card: str | None = "0", node: str = "both-0", **more: Any
    ) -> "MemoryStory":
        body = memory_pod(name, "x", memory)
        body["metadata"]["uid"] = more.get("uid", name)
        body["spec"]["nodeName"] = node
        notes = {"ALIYUN_COM_GPU_MEM_IDX": card, "ALIYUN_COM_GPU_MEM_POD": str(memory)}
        notes["ALIYUN_COM_GPU_MEM_POD"] = more.get("of_pod", notes["ALIYUN_COM_GPU_MEM_POD"])
        body["metadata"]["annotations"] = {k: v for k, v in notes.items() if v is not None}
        body["status"] = {"phase": more.get("phase", "Running")}
        return self.put("pod", name, body)

    def holds_cards(self, name: str, node: str = "both-0") -> "MemoryStory":
        limits = {"limits": {"nvidia.com/gpu": "1"}}
        spec = {"nodeName": node, "containers": [{"resources": limits}]}
        return self.put("pod", name, {"metadata": {"name": name, "uid": name}, "spec": spec})

    def waits(self, name: str, memory: int) -> "MemoryStory":
        return self.put("pod", name, memory_pod(name, "x", memory))

    def later(self, seconds: float) -> "MemoryStory":
        self.now += seconds
        return self


def test_cards_are_filled_and_not_more() -> None:
    story = MemoryStory().node().holds("a", 16_000).holds("b", 16_000, "1")
    assert story.found == []
    assert story.judge.seen["memory pods bound"] == 2
    story.holds("c", 1)
    assert story.found == [
        "c on both-0: card 0 has 16000 and holds 16001 and 0 of unknown cards",
        "c on both-0: the node offers 32000 in all and holds 32001",
    ]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_who_has_ended_holds_nothing(phase: str) -> None:
    story = MemoryStory().node().holds("a", 16_000).holds("a", 16_000, phase=phase)
    assert story.holds("b", 16_000).found == []


def test_who_is_gone_holds_nothing() -> None:
    story = MemoryStory().node().holds("a", 16_000).put("pod", "a", None)
    assert story.holds("b", 16_000).found == []


@pytest.mark.parametrize(("card", "of_pod"), [(None, "1"), ("2", "1"), ("x", "1"), ("0", "2")])
def test_nobody_is_without_a_card(card: str | None, of_pod: str) -> None:
    (found,) = MemoryStory().node().holds("a", 1, card, of_pod=of_pod).found
    assert "has no card there" in found


def test_nobody_is_on_a_node_that_is_not_there() -> None:
    story = MemoryStory().node().put("node", "both-0", None)
    assert story.holds("a", 1).found == []  # it was there a moment ago
    (found,) = story.later(10).holds("b", 1).found
    assert "has no card there" in found


def test_nobody_gets_another_card() -> None:
    story = MemoryStory().node().holds("a", 1, "0").holds("a", 1, "1")
    assert story.found == ["a had card 0 and has card 1 now"]


def test_another_pod_of_that_name_is_another_pod() -> None:
    assert MemoryStory().node().holds("a", 1, "0").holds("a", 1, "1", uid="z").found == []


def test_kinds_never_meet() -> None:
    story = MemoryStory().node().holds_cards("w")
    assert story.found == []
    story.holds("a", 1)
    assert story.found == ["a on both-0: ['w'] hold cards and ['a'] hold memory"]
    story = MemoryStory().node().holds("a", 1).holds_cards("w")
    assert len(story.found) == 1


def test_what_shrinks_takes_nothing_from_anybody_and_takes_nobody() -> None:
    story = MemoryStory().node().holds("a", 16_000).node(cards=Cards(2, 24_000))
    assert story.holds("b", 12_000, "1").found == []
    (found,) = story.later(10).node().later(10).holds("c", 1).found
    assert "card 0 has 16000 and holds 16001" in found


def test_a_view_may_be_as_old_as_its_trouble() -> None:
    for troubles in ((), (Trouble(3, 30),)):
        story = MemoryStory(*troubles).node().node(cards=Cards(2, 16_000)).later(20)
        assert bool(story.holds("a", 16_000).found) is (not troubles)


@pytest.mark.parametrize("noted", [True, False])
def test_a_broken_card_is_given_to_nobody(noted: bool) -> None:
    story = MemoryStory().node(listed="0" if noted else "")
    if not noted:
        name = list_name("both-0")
        story.put("list", name, broken_list("both-0", "0"))
    assert story.later(10).holds("a", 1, "1").found == []
    assert story.holds("b", 1, "0").found == ["b on both-0: card 0 is broken"]


@pytest.mark.parametrize("text", ["0,", "0, 1", "2", "GPU-0", ""])
def test_a_list_that_cannot_be_read_says_nothing(text: str) -> None:
    assert MemoryStory().node(listed=text).later(10).holds("a", 1).found == []


def test_who_waits_though_a_card_has_room() -> None:
    count = MemoryStory().node().holds("a", 9_000).holds("b", 9_000, "1").waits("c", 8_000)
    assert waiting(count.judge.count) == []
    found = waiting(count.waits("d", 7_000).judge.count)
    assert found == ["d waits for 7000 of card memory, and would fit on both-0"]
    assert waiting(count.holds_cards("w").judge.count) == []


def row(used: int, *unknown: str) -> dict[str, Any]:
    cards = [{"total": 16_000, "used": used}, {"total": 16_000, "used": 0}]
    return {"name": "both-0", "cards": cards, "unknown": [{"name": name} for name in unknown]}


def test_what_a_replica_says_of_each_card_is_what_the_count_says() -> None:
    story = MemoryStory().node().holds("a", 9_000)
    count = story.judge.count
    assert differences("it", {"nodes": [row(9_000)]}, count) == []
    assert len(differences("it", {"nodes": [row(8_000)]}, count)) == 1
    assert len(differences("it", {"nodes": []}, count)) == 1
    assert len(differences("it", {"nodes": [row(9_000, "b")]}, count)) == 1
    story.node(cards=Cards(3, 48_000)).holds("c", 1, "2").node()
    assert differences("it", {"nodes": [row(9_000, "c")]}, count) == []
