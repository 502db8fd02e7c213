"""The leader is killed while pods are bound: no card gets more than it has, and no pod is lost."""

import os
import signal
import threading
from pathlib import Path

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually, fresh_namespace, running_plane
from integration.asking import ask
from integration.extender.shared_cards import CARD, SharedCards, cards_of_a_test, leader_of

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]
NODES = 4
PODS = 80
MEMORY = 1_600
"""MiB: ten have room on a card, so the pods fill every card of the nodes."""


class BindingsSeen:
    """The nodes and cards that each pod was ever seen with, by watching until it is stopped."""

    def __init__(self, cards: SharedCards) -> None:
        self._cards = cards
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.seen: dict[str, set[tuple[str, str]]] = {}

    def __enter__(self) -> "BindingsSeen":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.1):
            for pod in ask(self._cards.plane, "GET", self._cards.path()).body["items"]:
                node = pod["spec"].get("nodeName")
                if node:
                    card = pod["metadata"]["annotations"][v.GPU_MEMORY_CARD]
                    self.seen.setdefault(pod["metadata"]["uid"], set()).add((node, card))


def test_the_leader_is_killed(tmp_path: Path) -> None:
    with (
        running_plane(tmp_path / "plane", replicas=2, extender=True) as plane,
        fresh_namespace(plane, "killed") as namespace,
        cards_of_a_test(plane, "killed", namespace, NODES) as cards,
        BindingsSeen(cards) as bindings,
    ):
        terms = set[str]()
        for number in range(PODS):
            create(cards, f"p{number}")
            if number == PODS // 4:
                terms.add(term_of(cards.bound("p0")))
                leader = leader_of(plane)
                os.kill(plane.state.process(f"cardquota-{leader}").pid, signal.SIGKILL)
        pods = [cards.bound(f"p{number}") for number in range(PODS)]
        terms.update(term_of(pod) for pod in pods)
        assert len(terms) > 1, "the next leader bound none"
        for number in range(1, NODES + 1):
            assert max(cards.counted(number)) <= CARD
            eventually(lambda n=number: agree(cards, n), f"both replicas count node {number}")
        assert sum(sum(cards.counted(n)) for n in range(1, NODES + 1)) == PODS * MEMORY
        eventually(lambda: len(bindings.seen) == PODS, "every pod was looked at")
        assert {len(places) for places in bindings.seen.values()} == {1}


def create(cards: SharedCards, name: str) -> None:
    """As a controller does: what broke on its way through the dead replica is tried again."""

    def created() -> bool:
        reply = ask(cards.plane, "POST", cards.path(), cards.document(name, MEMORY))
        assert reply.ok or "failed to call webhook" in reply.message, reply.message
        return reply.ok

    eventually(created, f"{name} is created")


def term_of(pod: dict[str, dict[str, dict[str, str]]]) -> str:
    return pod["metadata"]["annotations"][v.TERM]


def agree(cards: SharedCards, number: int) -> bool:
    """As `SharedCards.agree`; False while a replica is not there again."""
    try:
        return cards.agree(number)
    except OSError:
        return False
