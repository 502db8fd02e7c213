"""Bind: one request, one charge, and nothing shared, whatever the API server answers."""

import asyncio
import json
from collections.abc import Sequence
from itertools import count

import pytest

from builders import Body, a_ledger, a_node, a_pod, see
from builders.pod import PodBody
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import BindArgs, Binder
from cardquota.quota import ALLOCATED, MANAGED
from cardquota.quota import TERM as TERM_KEY
from cardquota.quota.cards import MemoryNode
from cardquota.quota.ledger import Ledger

from ..control.fakes import TERM, Answer, Call, Script, a_writer, denied, lost, refused, stored

pytestmark = pytest.mark.fake_clock

CARD = 16276
NODE = a_node("n1").sharing_memory(2 * CARD, 2)
CREATED = json.dumps({"kind": "Status", "status": "Success"}).encode()
MOVED = refused(409, "Conflict")


class BinderWorld:
    """A binder over a ledger, whose API server is a script."""

    def __init__(self, *things: Body, answers: Sequence[Answer] = (), spread: bool = False) -> None:
        self.ledger: Ledger = a_ledger(*things)
        self.notifier = ChangeNotifier()
        self.script = Script(*answers)
        self.left = 60.0
        self.now = 1_000
        fresh = map("fresh-{}".format, count())
        self.binder = Binder(
            self.ledger,
            self.notifier,
            lambda: a_writer(self.script, lambda: self.left),
            wall_clock=lambda: self.now,
            fresh=lambda: next(fresh),
            spread=spread,
        )
        self.binder.begin(TERM)

    async def bind(self, name: str = "p", node: str = "n1", uid: str = "") -> str:
        return await self.binder.bind(BindArgs(name, "team", uid or f"uid-{name}", node))

    @property
    def node(self) -> MemoryNode:
        found = self.ledger.card_memory.nodes.get("n1")
        assert found is not None
        return found

    @property
    def bindings(self) -> list[Call]:
        return [call for call in self.script.calls if call.method == "POST"]

    def see(self, thing: Body) -> None:
        see(self.ledger, thing)
        self.notifier.notify()


def asking(name: str = "p", amount: int = 8138) -> PodBody:
    return a_pod(name).asking_for_memory(amount).at_revision(7)


def pod_at(revision: int, uid: str = "uid-p", node: str = "") -> Answer:
    spec = {"nodeName": node} if node else {}
    meta = {"uid": uid, "resourceVersion": str(revision)}
    return json.dumps({"metadata": meta, "spec": spec}).encode()


def lost_until_it_landed(world: BinderWorld) -> asyncio.Event:
    """No answer to anything; once the event is set, the pod is found bound to n1 at revision 8."""
    landed = asyncio.Event()

    def answer(call: Call) -> Answer:
        if call.method == "POST" or not landed.is_set():
            return lost()
        return MOVED if call.method == "PATCH" else pod_at(8, node="n1")

    world.script.answer_to = answer
    return landed


async def test_b5_binding_and_annotations_are_one_request() -> None:
    world = BinderWorld(NODE, asking(), answers=(CREATED,))
    assert await world.bind() == ""
    (call,) = world.script.calls
    assert call.path == "/api/v1/namespaces/team/pods/p/binding"
    assert call.body == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "name": "p",
            "namespace": "team",
            "uid": "uid-p",
            "resourceVersion": "7",
            "annotations": {
                "volcano.sh/card.term": TERM,
                "volcano.sh/card.bound": "true",
                "ALIYUN_COM_GPU_MEM_IDX": "0",
                "ALIYUN_COM_GPU_MEM_POD": "8138",
                "ALIYUN_COM_GPU_MEM_DEV": "16276",
                "ALIYUN_COM_GPU_MEM_ASSIGNED": "false",
                "ALIYUN_COM_GPU_MEM_ASSUME_TIME": "1000",
            },
            "labels": {"volcano.sh/card-managed": "true"},
        },
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"},
    }
    assert world.node.used == [8138, 0]


async def test_i3_a_charge_that_somebody_forged_does_not_count_once_it_is_bound() -> None:
    """Beside the label it would."""
    forged = asking().annotated("volcano.sh/card.queue", "other")
    world = BinderWorld(NODE, forged, answers=(CREATED,))
    assert await world.bind() == ""
    (call,) = world.script.calls
    assert call.body["metadata"]["labels"] == {MANAGED: "true"}
    assert call.body["metadata"]["annotations"][ALLOCATED] == ""
    bound = forged.on_node("n1").managed().annotated(TERM_KEY, TERM)
    assert bound.annotated(ALLOCATED, '{"A": 1}').facts().stamp is not None
    assert bound.annotated(ALLOCATED, "").facts().stamp is None


async def test_b5_spread_takes_the_emptiest() -> None:
    pods = a_pod("a").on_card("n1", 0, 1), asking()
    world = BinderWorld(NODE, *pods, answers=(CREATED,), spread=True)
    await world.bind()
    assert world.node.used == [1, 8138]


async def test_b5_two_binds_at_once_never_share_the_last_room() -> None:
    pods = [asking(f"p{i}", 8138) for i in range(6)]
    world = BinderWorld(NODE, *pods, answers=(CREATED,) * 6)
    found = await asyncio.gather(*(world.bind(f"p{i}") for i in range(6)))
    assert found[:4] == [""] * 4
    assert found[4] == found[5]
    assert found[4].endswith("does not fit any more: no single card has 8138 MiB free")
    assert world.node.used == [CARD, CARD]


async def test_b5_times_of_a_node_always_increase() -> None:
    pods = [asking(f"p{i}", 1) for i in range(3)]
    world = BinderWorld(NODE, *pods, answers=(CREATED,) * 3)
    for i in range(3):
        assert await world.bind(f"p{i}") == ""
        world.now -= 500
    notes = [call.body["metadata"]["annotations"] for call in world.bindings]
    times = [one["ALIYUN_COM_GPU_MEM_ASSUME_TIME"] for one in notes]
    assert times == ["1000", "1001", "1002"]


async def test_b5_the_same_bind_twice_is_one() -> None:
    world = BinderWorld(NODE, asking(), answers=(CREATED,))
    assert [*await asyncio.gather(world.bind(), world.bind())] == ["", ""]
    world.see(asking().on_card("n1", 0, 8138).at_revision(9))
    assert await world.bind() == ""
    assert len(world.bindings) == 1
    assert world.node.used == [8138, 0]
    assert world.binder.all_seen


async def test_b5_another_node_while_a_bind_is_under_way() -> None:
    world = BinderWorld(NODE, a_node("n2").sharing_memory(CARD, 1), asking(), answers=(CREATED,))
    first, second = await asyncio.gather(world.bind(), world.bind(node="n2"))
    assert first == ""
    assert "is being bound to node <n1>" in second


async def test_b5_a_pod_that_was_made_again_under_its_name_is_refused() -> None:
    world = BinderWorld(NODE, asking())
    assert "is not known to cardquota" in await world.bind(uid="another")
    other = await world.binder.bind(BindArgs("other", "team", "uid-p", "n1"))
    assert "is not known to cardquota" in other
    assert world.script.calls == []


async def test_b5_a_pod_that_is_bound_elsewhere() -> None:
    world = BinderWorld(NODE, a_pod("p").on_card("n2", 0, 8138))
    assert await world.bind() == "pod <team/p> is bound to node <n2> already"


async def test_b5_a_pod_that_the_watch_has_not_told_of_yet_is_waited_for() -> None:
    world = BinderWorld(answers=(CREATED,))
    waiting = asyncio.create_task(world.bind())
    await asyncio.sleep(0.1)
    world.see(asking())
    await asyncio.sleep(0.1)
    world.see(NODE)
    assert await waiting == ""


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        (asking().gated(), "waits at its gate for quota"),
        (asking().terminating(), "is being deleted"),
        (asking().asking_for(1), "it can have only one of them"),
        (asking(amount=CARD + 1), "no healthy card has 16277 MiB"),
    ],
)
async def test_b5_what_may_not_be_bound(pod: PodBody, words: str) -> None:
    world = BinderWorld(NODE, pod)
    assert words in await world.bind()
    assert world.node.held == 0


async def test_b5_what_the_api_server_refuses_is_not_charged() -> None:
    world = BinderWorld(NODE, asking(), answers=(denied(403),))
    assert "as the test wants it" in await world.bind()
    assert world.node.held == 0


async def test_b5_a_pod_that_was_written_since_is_tried_once_more() -> None:
    world = BinderWorld(NODE, asking(), answers=(MOVED, pod_at(8), CREATED))
    assert await world.bind() == ""
    assert [call.body["metadata"]["resourceVersion"] for call in world.bindings] == ["7", "8"]
    assert world.node.used == [8138, 0]


async def test_b5_a_second_try_is_judged_anew() -> None:
    """Between the two the node has got other cards."""
    world = BinderWorld(NODE, asking(), answers=(MOVED, pod_at(8)))

    def reshape(call: Call) -> None:
        if call.method == "GET":
            world.see(NODE.sharing_memory(8000, 1).at_revision(2))

    world.script.on_call = reshape
    assert "no healthy card has 8138 MiB" in await world.bind()
    assert len(world.bindings) == 1
    assert world.node.held == 0


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (pod_at(8, node="n2"), "is bound to node <n2> already"),
        (pod_at(8, uid="another"), "as the test wants it"),
        (pod_at(7), "as the test wants it"),
        (refused(404, "NotFound"), "as the test wants it"),
    ],
)
async def test_b5_a_conflict_is_looked_at(read: Answer, words: str) -> None:
    world = BinderWorld(NODE, asking(), answers=(MOVED, read, read))
    found = await world.bind()
    assert words in found if words else not found
    assert world.node.held == 0


async def test_b5_a_pod_that_is_there_already_stays_charged_to_every_card() -> None:
    """By whom and on which card it is, only the watch tells."""
    world = BinderWorld(NODE, asking(), answers=(MOVED, pod_at(8, node="n1")))
    assert await world.bind() == ""
    assert (world.node.used, world.node.unknown) == ([0, 0], 8138)
    world.see(asking().on_card("n1", 1, 8138).at_revision(9))
    assert (world.node.used, world.node.unknown) == ([0, 8138], 0)


async def test_b5_a_bind_again_before_the_watch_has_told_keeps_its_card() -> None:
    """As when kube-scheduler did not get our answer."""
    pods = a_pod("a").on_card("n1", 0, 4069), asking(), asking("late", 12207)
    world = BinderWorld(NODE, *pods, answers=(CREATED, CREATED))
    assert await world.bind() == ""
    assert await world.bind() == ""
    assert await world.bind(node="n2") == "pod <team/p> is bound to node <n1> already"
    assert len(world.bindings) == 1
    assert world.node.used == [4069 + 8138, 0]


async def test_b5_an_unknown_outcome_keeps_its_charge_until_it_is_settled() -> None:
    world = BinderWorld(NODE, asking(), answers=(lost(), lost(), lost()))
    landed = lost_until_it_landed(world)
    assert "it is not known yet whether the Binding to node <n1> succeeded" in await world.bind()
    assert world.node.used == [8138, 0]
    assert not world.binder.all_seen
    landed.set()
    assert await world.bind() == ""
    assert world.node.used == [8138, 0]


async def test_b5_what_did_not_land_is_not_charged() -> None:
    world = BinderWorld(NODE, asking(), answers=(lost(), stored(8)))
    assert "it did not land" in await world.bind()
    assert world.node.held == 0
    assert [call.method for call in world.script.calls] == ["POST", "PATCH"]


async def test_b5_too_near_to_the_end_of_the_term_nothing_is_sent() -> None:
    world = BinderWorld(NODE, asking())
    world.left = 1.0
    assert "is about to change" in await world.bind()
    assert world.node.held == 0
    assert world.script.calls == []


async def test_b5_only_the_leader_binds() -> None:
    world = BinderWorld(NODE, asking())
    await world.binder.end()
    assert not world.binder.leads
    assert "no replica of cardquota leads" in await world.bind()


async def test_b5_at_the_end_of_a_term_only_what_was_seen_counts() -> None:
    world = BinderWorld(NODE, asking())
    world.script.hold = asyncio.Event()
    waiting = asyncio.create_task(world.bind())
    await asyncio.sleep(0.1)
    assert world.node.held == 8138
    assert not await world.binder.drain(0.1)
    await world.binder.end()
    assert "no replica" in await waiting
    assert world.node.held == 0


async def test_b5_what_is_under_way_is_settled_before_the_lease_is_given_up() -> None:
    world = BinderWorld(NODE, asking(), answers=(CREATED,))
    waiting = asyncio.create_task(world.bind())
    await asyncio.sleep(0)
    assert await world.binder.drain(1.0)
    assert await waiting == ""
    assert "no replica" in await world.bind("other")
