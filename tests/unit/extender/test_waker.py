"""Refused pods are woken where kube-scheduler would not know that they fit now, and seldom."""

import asyncio
from typing import Any

import pytest

from builders import Body, a_ledger, a_node, a_pod, see
from cardquota.cluster.api import ApiError
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import Waker, waker

pytestmark = pytest.mark.fake_clock

NODE = a_node("n").sharing_memory(16, 2)
POD = a_pod("p").asking_for_memory(8)
OTHER = a_node("other").sharing_memory(16, 2)


class Patches:
    def __init__(self, error: Exception | None = None) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.error = error

    async def patch(self, path: str, body: object) -> bytes:
        self.sent.append((path, body))
        if self.error is not None:
            raise self.error
        return b"{}"


class Night:
    """Refused pods over these nodes, both of whose cards are broken."""

    def __init__(self, *things: Body, error: Exception | None = None) -> None:
        self.ledger = a_ledger(NODE, *things)
        self.notifier = ChangeNotifier()
        self.patches = Patches(error)
        client: Any = self.patches
        self.waker = Waker(self.ledger, self.notifier, client, asyncio.get_running_loop().time)
        self.lists("0,1")

    def lists(self, text: str) -> None:
        self.ledger.card_memory.unhealthy_seen("n", text)
        self.notifier.notify()


async def test_b4_a_pod_is_woken_when_a_card_is_whole_again() -> None:
    night = Night(POD)
    night.waker.refused(POD.facts(), ["n"])
    await asyncio.sleep(30)
    assert night.patches.sent == []
    night.lists("0")
    await asyncio.sleep(2)
    ((path, body),) = night.patches.sent
    assert path == "/api/v1/namespaces/team/pods/p"
    assert body["metadata"]["uid"] == "uid-p"
    assert list(body["metadata"]["annotations"]) == ["volcano.sh/card.woken"]


async def test_b4_a_question_that_came_before_our_news_is_asked_again() -> None:
    night = Night(POD)
    night.lists("")
    night.waker.refused(POD.facts(), ["n"])
    await asyncio.sleep(2)
    assert len(night.patches.sent) == 1


async def test_b4_a_pod_that_cannot_go_there_is_woken_at_growing_intervals() -> None:
    night = Night(POD, error=ApiError(404, "NotFound", "gone"))
    night.lists("")
    night.waker.refused(POD.facts(), ["n"])
    await asyncio.sleep(600)
    assert 8 <= len(night.patches.sent) <= 12


async def test_b4_asking_again_does_not_shorten_the_intervals() -> None:
    """kube-scheduler asks each time that we wake a pod."""
    night = Night(POD)
    night.lists("")
    for _ in range(600):
        night.waker.refused(POD.facts(), ["n"])
        await asyncio.sleep(1)
    assert 8 <= len(night.patches.sent) <= 12


@pytest.mark.parametrize(
    ("things", "offered", "broken", "woken"),
    [
        # kube-scheduler has not offered that node.
        ([OTHER], ["n"], "0,1", False),
        # There is room for it elsewhere alone.
        ([OTHER, a_pod("a").on_card("n", 0, 4)], ["n"], "1", False),
        # Of many nodes any may be meant.
        ([OTHER], [f"n{i}" for i in range(11)], "0,1", True),
    ],
)
async def test_b4_room_where_the_pod_cannot_go_wakes_nobody(
    things: list[Body], offered: list[str], broken: str, *, woken: bool
) -> None:
    night = Night(POD, *things)
    night.waker.refused(POD.facts(), offered)
    night.lists(broken)
    await asyncio.sleep(2 if woken else 600)
    assert len(night.patches.sent) == woken


async def test_b4_who_fits_or_is_gone_or_bound_is_not_woken() -> None:
    others = [a_pod(name).asking_for_memory(8) for name in ("fits", "gone", "bound", "gated")]
    night = Night(*others)
    for pod in others:
        night.waker.refused(pod.facts(), ["n"])
    night.waker.fits("uid-fits")
    night.ledger.pod_gone("uid-gone")
    see(night.ledger, others[2].on_card("n", 0, 8).at_revision(2))
    see(night.ledger, others[3].gated().at_revision(2))
    night.lists("1")
    await asyncio.sleep(5)
    assert night.patches.sent == []
    assert len(night.waker) == 0


async def test_b3_a_pod_by_card_is_woken_when_its_node_takes_cards_again() -> None:
    whole, holder = a_pod("whole").asking_for(1), a_pod("m").on_card("both", 0, 5)
    both = a_node("both").sharing_memory(16, 2).offering(8)
    night = Night(whole, both, holder)
    night.waker.refused(whole.facts(), ["both"])
    await asyncio.sleep(60)
    assert night.patches.sent == []
    night.ledger.pod_gone(holder.uid)
    night.notifier.notify()
    await asyncio.sleep(2)
    assert [path for path, _ in night.patches.sent] == ["/api/v1/namespaces/team/pods/whole"]


async def test_b4_of_many_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waker, "MOST", 50)
    pods = [a_pod(f"p{i}").asking_for_memory(8) for i in range(60)]
    night = Night(*pods)
    for pod in pods:
        night.waker.refused(pod.facts(), ["n"])
    assert len(night.waker) == 50
    night.lists("")
    await asyncio.sleep(1.5)
    assert len(night.patches.sent) == 20
    await asyncio.sleep(3)
    assert {path for path, _ in night.patches.sent} >= {
        f"/api/v1/namespaces/team/pods/p{i}" for i in range(10, 60)
    }
    night.waker.close()
    assert len(night.waker) == 0
