"""The scheduler extender: what a call of kube-scheduler costs, and how well pods are packed.

Calls go through the server's own decoding, decisions and encoding, without the network. Figures are
processor time, so that another process on the machine does not count.

Packing: pods by memory of a made-up trace, one after the other, are put by our choice of node and
card. It is held against the least number of cards that could hold them.
"""

import asyncio
import gc
import json
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final

from builders import H200, a_ledger, a_node, a_pod
from builders.pod import PodBody
from cardquota.cluster.serving import HttpAnswer, HttpCall
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import (
    BEST,
    ExtenderServer,
    LeaderCall,
    LeaderClient,
    NodeRanking,
    fit_nodes,
)
from cardquota.metrics import Metrics
from cardquota.quota.cards import CardPlacement, MemoryPod
from cardquota.quota.ledger import Ledger

from ..figure import Figure, Report, median

_CARD: Final = 16276
_ROUNDS: Final = 9
_CALLS: Final = 10
"""Of each kind in one round."""
_SIZES: Final = (1024, 2048, 3000, 4069, 5000, 8138, 12207)
"""MiB that pods of the trace ask for."""


class _NoBinder:
    leads = True

    async def bind(self, _: object) -> str:
        return ""


def run(report: Report) -> None:
    """All figures."""
    gc.collect()
    gc.freeze()
    asyncio.run(_calls(report))
    _packing(report)


def _name(number: int) -> str:
    return f"node-{number:05d}.pool.example"


def _cluster(nodes: int) -> Ledger:
    """Nodes of eight cards each; on two of three somebody holds a part of one."""
    return a_ledger(
        *(a_node(_name(i)).sharing_memory(8 * _CARD, 8) for i in range(nodes)),
        *(a_pod(f"holder-{i}").on_card(_name(i), i % 8, 1000 + i) for i in range(nodes) if i % 3),
    )


async def _calls(report: Report) -> None:
    shared, whole = _cluster(5_000), _whole_cards(5_000)
    kinds: tuple[tuple[str, Ledger, PodBody], ...] = (
        ("by memory", shared, a_pod("p").asking_for_memory(8138)),
        ("by memory, none fits", shared, a_pod("p").asking_for_memory(_CARD + 1)),
        ("by card", whole, a_pod("p").asking_for(1).naming(H200)),
    )
    for what, ledger, pod in kinds:
        server = _server(ledger)
        for verb in ("filter", "prioritize"):
            costs = {}
            for number, bound in ((500, 0.6), (5_000, 3.0)):
                body = _body(pod, number)
                call = _asking(server, verb, body)
                rounds = [await _milliseconds(call) for _ in range(_ROUNDS)]
                costs[number] = min(rounds)
                report(median(f"{verb}, {what}, {number:,} names", rounds, "ms", bound))
            ratio = costs[5_000] / 10 / costs[500]
            report(Figure(f"{verb}, {what}: cost per node, 5,000 against 500", ratio, "", 1.5))


def _server(ledger: Ledger) -> ExtenderServer:
    client = LeaderClient(str, lambda: None, server_name="", timeout=1)
    call = LeaderCall(_NoBinder(), client)  # type: ignore[arg-type]
    return ExtenderServer(ledger, ChangeNotifier(), call, lambda: True, Metrics())


def _whole_cards(nodes: int) -> Ledger:
    return a_ledger(
        *(a_node(_name(i)).with_cards(H200, 8) for i in range(nodes)),
        *(a_pod(f"w-{i}").asking_for(i % 8).on_node(_name(i)) for i in range(nodes) if i % 8),
    )


def _body(pod: PodBody, number: int) -> bytes:
    names = [_name(i) for i in range(number)]
    return json.dumps({"Pod": pod.body, "Nodes": None, "NodeNames": names}).encode()


def _asking(server: ExtenderServer, verb: str, sent: bytes) -> Callable[[], Awaitable[HttpAnswer]]:
    async def body() -> bytes:
        return sent

    call = HttpCall("POST", f"/scheduler/{verb}", body, {})
    return lambda: server.answer(call)


async def _milliseconds(call: Callable[[], Awaitable[HttpAnswer]]) -> float:
    begun = time.thread_time()
    for _ in range(_CALLS):
        await call()
    return (time.thread_time() - begun) / _CALLS * 1e3


def _packing(report: Report) -> None:
    """100 nodes of two cards; pods until half of all memory is asked for."""
    number, chance = 100, random.Random(7)
    asked, trace = 0, list[int]()
    while asked < number * _CARD:
        trace.append(chance.choice(_SIZES))
        asked += trace[-1]
    least = -(-asked // _CARD)
    cards, nodes = _touched(trace, number)
    report(Figure("packing: pods of the trace", len(trace), ""))
    report(
        Figure("packing: cards touched, against the least that could do", cards / least, "", 1.1)
    )
    report(Figure("packing: nodes touched, against the least", nodes / -(-least // 2), "", 1.1))


def _touched(trace: list[int], number: int) -> tuple[int, int]:
    """How many cards, and how many nodes, hold something in the end."""
    names = [_name(i) for i in range(number)]
    ledger = a_ledger(*(a_node(name).sharing_memory(2 * _CARD, 2) for name in names))
    memory = ledger.card_memory
    for i, need in enumerate(trace):
        facts = a_pod("p").asking_for_memory(need).facts()
        scores = NodeRanking(ledger).rank(facts, fit_nodes(ledger, facts, names).names)
        name = next(one.host for one in scores if one.score == BEST)
        card = memory.nodes[name].card_for(need)
        assert card is not None
        memory.hold(name, f"uid-{i}", MemoryPod("team", f"p{i}", CardPlacement(card, need)))
    nodes = memory.nodes.values()
    return sum(bool(used) for n in nodes for used in n.used), sum(bool(n.held) for n in nodes)
