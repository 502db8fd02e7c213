"""One run: calls and changes in any order, and what of the answers and of the ledger is wrong."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from random import Random
from time import thread_time
from typing import Any, Final, cast

from builders import GPU, a_ledger, a_node, a_pod, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.cluster.api import Client
from cardquota.cluster.watch import ChangeNotifier
from cardquota.cluster.writes import FencedWriter
from cardquota.extender import (
    LARGEST_BODY,
    Binder,
    ExtenderServer,
    LeaderCall,
    LeaderClient,
)
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from fuzz.product import encoded
from fuzz.run import SLOWEST, Findings, logged
from harness.card_memory_count import CardHolder, CardMemoryCount, SharingNode

from .calls import Calls, a_call
from .pods_store import PodsStore, node_of

_NODES: Final = tuple(f"n{number}" for number in range(5))
_MOST_PODS: Final = 40
_AMOUNTS: Final = (1, 300, 4_000, 8_000, 8_138, 16_000, 40_000)
_MEMORY: Final[tuple[tuple[Any, int | None], ...]] = (
    *((text, int(text)) for text in ("32000", "64000", "48000", "300", "16", "0", "7")),
    *(("64k", 64_000), (32_000, 32_000), ("-5", None), ("x", None), ("", None), ("9" * 40, None)),
)
_NUMBERS: Final[tuple[tuple[Any, int | None], ...]] = (
    *((text, int(text)) for text in ("2", "4", "3", "1", "0", "256", "257", "1000000")),
    *((2, 2), ("-1", None), ("two", None), ("1e30", None)),
)
_SIZES: Final = (
    *(None, None, None, "[16000, 16000]", "[24000,8000]", "[20000, 12000, 16000]", "[1,2,3,4]"),
    *("", "[]", "{}", "null", "[16000, -1]", "[1e4, 1e4]", "[true, true]", "[" * 9_000, "[9" * 99),
    *("[16000, 16000", "[99999999999999999999999, 1]", "[40000, 40000]", '["16000"]'),
)
_LISTS: Final = (
    *("", "0", "1", "0,1", "2,3", "0,0,0", "1, 0", "9", "GPU-1", "0,", ",", "-1", "00", "\u0661"),
    *("0," * 3_000 + "0", "x" * 100_000, "99999999999999999999", "0\n", "0;1"),
)
_INDEXES: Final = ("0", "1", "2", "255", "-1", "x", "", "01", "1.0", "9" * 50, "\u0661", None)
_TIMES: Final = (None, "0", "-1", "x", "9" * 19, "9" * 300, "1795459530285083662")
_TERM: Final = "replica-1"


class _Door:
    """One replica that leads, the pods that are stored, and what it was told."""

    def __init__(self, seed: int, found: Findings, *, large: float, timed: bool) -> None:
        self._chance, self._found, self._timed = Random(f"door {seed}"), found, timed
        self._count = CardMemoryCount()
        self._store = PodsStore(self._chance, self._count)
        self._calls = Calls(self._chance, large)
        self._ledger, self._notifier = a_ledger(), ChangeNotifier()
        self._fresh = self._made = 0
        self._untold: set[str] = set()
        """Pods that were written since the watch told of them."""
        self._gone: dict[str, PodBody] = {}
        """Deleted, and not told yet, by uid."""
        self._bodies: dict[str, NodeBody] = {}
        store = cast("Client", self._store)
        self._binder = Binder(
            self._ledger,
            self._notifier,
            lambda: FencedWriter(store, lambda: 60.0, timeout=2.0, at_a_time=8),
            fresh=self._next,
            unseen=0.0,
        )
        self._binder.begin(_TERM)
        call = LeaderCall(self._binder, LeaderClient(str, lambda: None, server_name="x", timeout=1))
        self._server = ExtenderServer(
            self._ledger, self._notifier, call, lambda: True, Metrics(), unseen=0.0
        )
        self.changes: tuple[Callable[[], None], ...] = (
            self._node, self._node_gone, self._list, self._bound_past_us, self._written,
            *[self._pod] * 4, *[self._ended] * 2, *[self._tell] * 5,
        )  # fmt: skip

    def _next(self) -> str:
        self._fresh += 1
        return f"fresh-{self._fresh}"

    # --- calls ----

    async def call(self) -> None:
        """One call of any verb, whatever it holds."""
        pods = list(self._store.pods.values())
        waiting = [pod for pod in pods if pod.name not in self._untold and not node_of(pod)]
        if self._chance.random() < 0.2:
            waiting += [pod for pod in self._gone.values() if not node_of(pod)]
        if waiting and self._chance.random() < 0.1:
            await self._burst(self._chance.sample(waiting, min(6, len(waiting))))
            return
        if self._chance.random() < 0.5:
            pods = waiting
        nodes = self._chance.sample(_NODES, self._chance.randrange(1, len(_NODES) + 1))
        verb, body = self._calls.one(pods, nodes, [node.body for node in self._bodies.values()])
        await self._ask(verb, body)

    async def _burst(self, pods: list[PodBody]) -> None:
        """Binds to one node, all at once; one of them twice."""
        node = self._chance.choice(_NODES)
        bodies = [encoded(self._calls.binding(pod, node)) for pod in (*pods, pods[0])]
        await asyncio.gather(*(self._ask("bind", body) for body in bodies))

    async def _ask(self, verb: str, body: bytes) -> None:
        if len(body) > LARGEST_BODY:
            return  # the HTTP server refuses it before it is read
        begun = thread_time()
        try:
            status, text, *_ = await self._server.answer(a_call(f"/scheduler/{verb}", body))
        except Exception as error:  # noqa: BLE001 - each of them is a finding
            self._found.add("exception", f"{verb} {body[:300]!r}: {error!r}")
            return
        spent = thread_time() - begun
        self._found.slowest = max(self._found.slowest, spent)
        if self._timed and spent > SLOWEST:
            self._found.add("slow", f"{verb}, {len(body):,} bytes: {spent * 1000:.0f} ms")
        self._answered(verb, body, status, text)

    def _answered(self, verb: str, body: bytes, status: int, text: bytes) -> None:
        if status != 200 or b"this is a bug" in text:
            self._found.add("bug", f"{verb} {body[:300]!r}: {status} {text[:300]!r}")
            return
        # Whole nodes go back as they came; Go reads what is no Unicode there as U+FFFD, too.
        answer = json.loads(text.decode(errors="replace"))
        failed = answer == [] if isinstance(answer, list) else bool(answer.get("Error"))
        self._found.answers[f"{verb}: {'no' if failed else 'yes'}"] += 1
        if verb == "bind" and not failed:
            self._was_bound(json.loads(body))

    def _was_bound(self, call: Any) -> None:
        """Nobody is told that a pod is bound who is not. One that somebody else has bound may be on
        any card until the watch tells.
        """
        fields = {str(key).lower(): value for key, value in call.items()}
        uid, node = fields["poduid"], fields["node"]
        pod = self._store.pods.get(fields["podname"])
        if pod is None or pod.uid != uid:
            known = self._count.decided.get(uid) or self._count.pods.get(uid)
            where = known.node if known else ""
        else:
            where = node_of(pod)
            told = uid in self._count.pods or uid in self._count.decided
            if where == node and not told and uid in self._store.amounts:
                amount, whole = self._store.amounts[uid]
                if uid in self._ledger.card_memory.assumed:
                    self._count.decided[uid] = CardHolder(node, None, amount, whole)
        if where != node:
            self._found.add("lie", f"bound to {node!r}, and is on {where!r}: {call!r}"[:500])

    # --- changes ----

    def _node(self) -> None:
        chance, name = self._chance, self._chance.choice(_NODES)
        plain = chance.random() < 0.7
        memory, offered = _MEMORY[chance.randrange(3)] if plain else chance.choice(_MEMORY)
        text, number = _NUMBERS[chance.randrange(3)] if plain else chance.choice(_NUMBERS)
        sizes = None if plain else chance.choice(_SIZES)
        broken = None if plain else chance.choice(_LISTS)
        whole = chance.random() < 0.3
        body = a_node(name).annotated(v.CARD_MEMORY, sizes).annotated(v.UNHEALTHY_CARDS, broken)
        body = body.sharing_memory(memory, text)
        capacity = 0
        if chance.random() < 0.2:
            capacity = 64_000
            body = body.with_capacity(capacity, v.GPU_MEMORY)
        body = body.offering(4, GPU) if whole else body
        self._store.revision += 1
        self._bodies[name] = body = body.at_revision(self._store.revision)
        see(self._ledger, body)
        self._count.node(name, SharingNode(offered, number, sizes, broken, whole, capacity))

    def _node_gone(self) -> None:
        name = self._chance.choice(_NODES)
        if self._chance.random() < 0.5:
            return
        self._bodies.pop(name, None)
        self._ledger.node_gone(name)
        self._count.node_gone(name)

    def _list(self) -> None:
        name = self._chance.choice(_NODES)
        if self._chance.random() < 0.4:
            self._ledger.card_memory.unhealthy_gone(name)
            self._count.list_gone(name)
            return
        text = self._chance.choice(("", "0", "1", "0,1", *_LISTS))
        self._ledger.card_memory.unhealthy_seen(name, text)
        self._count.list_seen(name, text)

    def _pod(self) -> None:
        """One more, sometimes under a name that was there before; the oldest goes."""
        chance = self._chance
        if len(self._store.pods) >= _MOST_PODS:
            self._delete(next(iter(self._store.pods)))
        self._made += 1
        name = f"p{self._made}"
        if self._gone and chance.random() < 0.3:
            name = chance.choice(list(self._gone.values())).name
        if name in self._store.pods:
            self._delete(name)
        pod = a_pod(name).with_uid(f"uid-{self._made}")
        whole, amount = chance.random() < 0.15, chance.choice(_AMOUNTS)
        pod = pod.asking_for(1) if whole else pod.asking_for_memory(amount)
        if chance.random() < 0.1:
            pod = pod.annotated(v.GPU_MEMORY_CARD, chance.choice(_INDEXES))
        self._store.amounts[pod.uid] = (1 if whole else amount, whole)
        self._store.put(pod)
        self._untold.add(name)

    def _delete(self, name: str) -> None:
        pod = self._store.pods.pop(name)
        self._untold.discard(name)
        self._gone[pod.uid] = pod

    def _ended(self) -> None:
        """A pod finishes, is being deleted, or is gone."""
        if not self._store.pods:
            return
        name = self._chance.choice(list(self._store.pods))
        pod = self._store.pods[name]
        fate = self._chance.random()
        if fate < 0.4:
            self._delete(name)
        elif fate < 0.6:
            self._store.put(pod.terminating())
            self._untold.add(name)
        elif node_of(pod):
            self._store.put(pod.in_phase(self._chance.choice(("Succeeded", "Failed"))))
            self._untold.add(name)

    def _bound_past_us(self) -> None:
        """By somebody else, with whatever annotations."""
        chance = self._chance
        free = [name for name, pod in self._store.pods.items() if not node_of(pod)]
        if not free or chance.random() < 0.5:
            return
        pod = self._store.pods[chance.choice(free)].on_node(chance.choice(_NODES))
        pod = pod.annotated(v.GPU_MEMORY_CARD, chance.choice(_INDEXES))
        pod = pod.annotated(v.GPU_MEMORY_OF_POD, chance.choice((None, None, "1", "8000", "x")))
        self._store.put(pod.annotated(v.GPU_MEMORY_ASSUMED_AT, chance.choice(_TIMES)))
        self._untold.add(pod.name)

    def _written(self) -> None:
        """Somebody writes on a pod, what device plugins write, too."""
        if self._store.pods:
            pod = self._store.pods[self._chance.choice(list(self._store.pods))]
            key = self._chance.choice((v.GPU_MEMORY_ASSIGNED, v.GPU_MEMORY_ASSUMED_AT, "x"))
            self._store.put(pod.annotated(key, self._chance.choice((*_TIMES, "true"))))
            self._untold.add(pod.name)

    def _tell(self, most: int = 5) -> None:
        """The watch tells of some that were written or deleted since."""
        for uid in list(self._gone)[:most]:
            del self._gone[uid]
            self._ledger.pod_gone(uid)
            self._count.gone(uid)
        waiting = sorted({*self._untold, *self._unseen()})
        for name in self._chance.sample(waiting, min(most, len(waiting))):
            self._untold.discard(name)
            self._seen(self._store.pods[name])
        self._notifier.notify()

    def _unseen(self) -> list[str]:
        """What landed."""
        found = self._store.pods.items()
        return [name for name, pod in found if pod.uid in self._count.decided and node_of(pod)]

    def _seen(self, pod: PodBody) -> None:
        see(self._ledger, pod)
        notes = pod.body["metadata"].get("annotations", {})
        amount, whole = self._store.amounts[pod.uid]
        if pod.body.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            self._count.gone(pod.uid)
        elif node_of(pod):
            index, of_pod = notes.get(v.GPU_MEMORY_CARD), notes.get(v.GPU_MEMORY_OF_POD)
            self._count.pod(pod.uid, CardHolder(node_of(pod), index, amount, whole, of_pod))

    async def another_term(self) -> None:
        """The next leader has caught up before it binds."""
        await self._binder.end()
        self._tell(most=10_000)
        self._binder.begin(_TERM)

    def agree(self, after: str) -> None:
        """Whether the ledger's card memory is what the plain count gives."""
        for what in self._count.wrong(self._ledger.card_memory):
            self._found.add("drift", f"after {after}: {what[:600]}")
        for what in self._store.beyond:
            self._found.add("over", what)
        self._store.beyond.clear()

    @property
    def landed(self) -> int:
        return self._store.landed

    async def close(self) -> None:
        await self._binder.end()


async def fuzz_door(
    count: int,
    seed: int,
    *,
    large: float = 0.002,
    timed: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Findings:
    """Make so many calls, with changes between them. `timed`: whether slowness is a finding.
    `large`: the part of the calls that are as large as a cluster can be.
    """
    found, chance = Findings(), Random(f"order {seed}")
    with logged() as log:
        door = _Door(seed, found, large=large, timed=timed)
        done = Counter[str]()
        while found.inputs < count:
            change = chance.choice(door.changes)
            if chance.random() < 0.5:
                change()
                done[re.sub("^_", "", change.__name__)] += 1
                door.agree(change.__name__)
            else:
                found.inputs += 1
                await door.call()
                door.agree("a call")
                if found.inputs % 500 == 0:
                    await door.another_term()
                    door.agree("a term")
                if found.inputs % max(1, count // 10) == 0:
                    progress(f"{found.inputs:,}: {dict(found.counted)}")
            for kind, text in log.bad:
                found.add(kind, text[:500])
            log.bad.clear()
        await door.close()
    found.paths = {"Bindings that landed": door.landed, **done}
    return found
