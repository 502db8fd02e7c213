"""What must never be of card memory, each shown by a history that has it, and one that has not."""

from typing import Any, Self

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

from .story import Teller

NODE = "both-0"


class MemoryStory(Teller):
    """Every step is one change of a node of two cards, or of a pod, a second after the last."""

    def __init__(self, *troubles: Trouble) -> None:
        self.judge = MemoryJudge(troubles)
        self.now = 0.0
        self.found: list[str] = []

    def put(self, kind: str, key: str, thing: dict[str, Any] | None) -> Self:
        self.now += 1
        thing = slim(thing) if thing else None
        self.found += self.judge.after(Change(int(self.now), self.now, kind, key, 1, thing))
        return self

    def node(self, memory: int = 32_000, number: int = 2, notes: object = "") -> Self:
        body = sharing_node(NODE, Cards(number, memory))
        body["metadata"]["annotations"] |= broken(str(notes))["metadata"]["annotations"]
        return self.put("node", NODE, body)

    def lists(self, text: int) -> Self:
        """A ConfigMap of its broken cards."""
        return self.put("list", list_name(NODE), broken_list(NODE, str(text)))

    def holds(
        self,
        name: str,
        memory: int,
        card: object = 0,
        *,
        of_pod: int = 0,
        uid: str = "",
        phase: str = "Running",
    ) -> Self:
        """`card`: as it is written on it; `-`: nothing is."""
        body = memory_pod(name, "x", memory)
        body["metadata"]["uid"] = uid or name
        body["spec"]["nodeName"] = NODE
        notes = {"ALIYUN_COM_GPU_MEM_POD": str(of_pod or memory)}
        if card != "-":
            notes["ALIYUN_COM_GPU_MEM_IDX"] = str(card)
        body["metadata"]["annotations"], body["status"] = notes, {"phase": phase}
        return self.put("pod", name, body)

    def holds_cards(self, name: str) -> Self:
        limits = {"limits": {"nvidia.com/gpu": "1"}}
        spec = {"nodeName": NODE, "containers": [{"resources": limits}]}
        return self.put("pod", name, {"metadata": {"name": name, "uid": name}, "spec": spec})

    def waits(self, name: str, memory: int) -> Self:
        return self.put("pod", name, memory_pod(name, "x", memory))

    def gone(self, kind: str, key: str) -> Self:
        return self.put(kind, key, None)

    def later(self, seconds: float) -> Self:
        self.now += seconds
        return self


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ("holds a 16000; holds b 16000 1", []),
        (
            "holds a 16000; holds b 16000 1; holds c 1",
            [
                "c on both-0: card 0 has 16000 and holds 16001 and 0 of unknown cards",
                "c on both-0: the node offers 32000 in all and holds 32001",
            ],
        ),
        # Who has ended, or is gone, holds nothing.
        ("holds a 16000; holds a 16000 phase=Succeeded; holds b 16000", []),
        ("holds a 16000; holds a 16000 phase=Failed; holds b 16000", []),
        ("holds a 16000; gone pod a; holds b 16000", []),
        # Nobody is without a card, or on a node that is not there, but for a moment.
        *(
            (f"holds a 1 {card} of_pod={of}", [f"a on both-0: it has no card there: {said}"])
            for card, of, said in (
                ("-", 1, "its card is <None>, <1> of <1>"),
                ("2", 1, "its card is <2>, <1> of <1>"),
                ("x", 1, "its card is <x>, <1> of <1>"),
                ("0", 2, "its card is <0>, <2> of <1>"),
            )
        ),
        ("gone node both-0; holds a 1", []),
        (
            "gone node both-0; later 10; holds b 1",
            ["b on both-0: it has no card there: its card is <0>, <1> of <1>"],
        ),
        # Nobody gets another card, but another pod of its name.
        ("holds a 1 0; holds a 1 1", ["a had card 0 and has card 1 now"]),
        ("holds a 1 0; holds a 1 1 uid=z", []),
        ("holds_cards w", []),
        ("holds_cards w; holds a 1", ["a on both-0: ['w'] hold cards and ['a'] hold memory"]),
        ("holds a 1; holds_cards w", ["w on both-0: ['w'] hold cards and ['a'] hold memory"]),
        # What shrinks takes nothing from anybody, and takes nobody.
        ("holds a 16000; node 24000; holds b 12000 1", []),
        (
            "holds a 16000; later 10; holds c 1",
            ["c on both-0: card 0 has 16000 and holds 16001 and 0 of unknown cards"],
        ),
        # A broken card is given to nobody. A list that cannot be read says nothing.
        ("lists 0; later 10; holds a 1 1; holds b 1 0", ["b on both-0: card 0 is broken"]),
        ("node notes=0; later 10; holds a 1 1; holds b 1 0", ["b on both-0: card 0 is broken"]),
        *((f"node notes={text}; later 10; holds a 1", []) for text in ("0,", "2", "GPU-0", "1,,0")),
    ],
)
def test_what_is_found(steps: str, found: list[str]) -> None:
    assert MemoryStory().tell(f"node; {steps}").found == found


def test_a_view_may_be_as_old_as_its_trouble() -> None:
    for troubles in ((), (Trouble(3, 30),)):
        story = MemoryStory(*troubles).tell("node; node 16000; later 20; holds a 16000")
        assert bool(story.found) is (not troubles)
        assert story.judge.seen["memory pods bound"] == 1


def test_who_waits_though_a_card_has_room() -> None:
    story = MemoryStory().tell("node; holds a 9000; holds b 9000 1; waits c 8000")
    assert waiting(story.judge.count) == []
    found = waiting(story.waits("d", 7_000).judge.count)
    assert found == ["d waits for 7000 of card memory, and would fit on both-0"]
    assert waiting(story.holds_cards("w").judge.count) == []


def row(used: int, *unknown: str) -> dict[str, Any]:
    cards = [{"total": 16_000, "used": used}, {"total": 16_000, "used": 0}]
    return {"name": NODE, "cards": cards, "unknown": [{"name": name} for name in unknown]}


def test_what_a_replica_says_of_each_card_is_what_the_count_says() -> None:
    story = MemoryStory().tell("node; holds a 9000")
    count = story.judge.count
    assert differences("it", {"nodes": [row(9_000)]}, count) == []
    for wrong in ([row(8_000)], [], [row(9_000, "b")]):
        assert len(differences("it", {"nodes": wrong}, count)) == 1
    story.tell("node 48000 3; holds c 1 2; node")
    assert differences("it", {"nodes": [row(9_000, "c")]}, count) == []
