"""Bind: the leader chooses the card, charges it, and writes Binding and annotations in one request.

Guarantees
- The choice and its charge are one step of the event loop, so two binds never share the last room
  of a card.
- Idempotent for (pod uid, node): a repeated call waits for the first one, or finds the pod bound.
- A Binding names the pod's uid and resourceVersion, and our term, which a policy of the API server
  compares with the Lease. A pod that was made again under its name is never bound by it.
- What the API server refuses is not charged. What nobody knows stays charged until it is settled.

Not guaranteed: that a bind succeeds. kube-scheduler tries again after each error.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.watch.delivery import ChangeNotifier
from ..cluster.writes import (
    FencedWriter,
    TooLateError,
    WrittenObject,
    guard,
    pod_path,
    precondition,
    settle_pod,
)
from ..loop.timing import ended
from ..quota import vocabulary as v
from ..quota.cards.card_memory import MemoryPod
from ..quota.cards.memory_shape import UNKNOWN, CardPlacement, placement_annotations
from ..quota.ledger.ledger import Ledger
from ..quota.messages import binding_messages as m
from ..quota.pods.pod_facts import PodFacts, State, memory_of
from ..quota.words import logged
from .node_filter import fit_nodes, request_problem
from .wire import BindArgs

_LOG = logging.getLogger(__name__)
_UNSEEN: Final = 1.0
"""Seconds that we wait for the watch to tell of a pod or node that kube-scheduler has seen."""


class _BoundSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _BoundPod(WrittenObject):
    spec: _BoundSpec


_READ: Final = msgspec.json.Decoder(_BoundPod)


class _UnderWay(NamedTuple):
    """A bind that has not ended."""

    node: str
    task: "asyncio.Task[str]"


class Binder:
    """Binds pods while this replica leads; one term after the other."""

    def __init__(
        self,
        ledger: Ledger,
        notifier: ChangeNotifier,
        make_writer: Callable[[], FencedWriter],
        *,
        wall_clock: Callable[[], int] = time.time_ns,
        fresh: Callable[[], str] = lambda: secrets.token_hex(8),
        answer_within: float = 4.5,
        unseen: float = _UNSEEN,
        spread: bool = False,
    ) -> None:
        """`make_writer`: makes a writer of the current term, with slots of its own. `wall_clock`:
        nanoseconds, for the device plugin. `answer_within`: seconds, less than kube-scheduler
        waits; a bind that takes longer goes on. `spread`: the emptiest card instead of the fullest.
        """
        self._ledger = ledger
        self._notifier = notifier
        self._make_writer = make_writer
        self._wall_clock = wall_clock
        self._fresh = fresh
        self._unseen = unseen
        self._answer_within = answer_within
        self._spread = spread
        self._writer: FencedWriter | None = None
        self._settler: FencedWriter | None = None
        self._term = ""
        self._under_way: dict[str, _UnderWay] = {}
        """By uid."""

    # --- one term ----

    def begin(self, term: str) -> None:
        """Bind from now on, in this term."""
        self._term = term
        self._writer, self._settler = self._make_writer(), self._make_writer()

    async def drain(self, timeout: float) -> bool:
        """Take no new bind, and wait for those under way. Returns whether all ended in time."""
        self._writer = None
        tasks = [one.task for one in self._under_way.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
        return not self._under_way

    async def end(self) -> None:
        """The term is over: from now on only what the watches show counts."""
        self._writer = None
        await ended([one.task for one in self._under_way.values()])
        self._under_way.clear()
        for uid in list(self._ledger.card_memory.assumed):
            self._take_back(uid)

    @property
    def all_seen(self) -> bool:
        """Whether the watches brought back all that was bound."""
        return not self._ledger.card_memory.assumed

    @property
    def leads(self) -> bool:
        """Whether this replica binds."""
        return self._writer is not None

    # --- one pod ----

    async def bind(self, args: BindArgs) -> str:
        """Bind a pod to a node. Returns why it is not bound; empty if it is."""
        known = self._under_way.get(args.pod_uid)
        if known is not None and known.node != args.node:
            return m.pod_under_way(args.pod_namespace, args.pod_name, known.node)
        if known is None:
            if self._writer is None:
                return m.NO_LEADER
            task = asyncio.get_running_loop().create_task(self._bind(self._writer, args))
            known = self._under_way[args.pod_uid] = _UnderWay(args.node, task)
            task.add_done_callback(lambda _: self._ended(args.pod_uid))
        await asyncio.wait({known.task}, timeout=self._answer_within)
        if not known.task.done():
            return m.unknown_outcome(args.node)
        return m.NO_LEADER if known.task.cancelled() else known.task.result()

    def _ended(self, uid: str) -> None:
        self._under_way.pop(uid, None)

    async def _bind(self, writer: FencedWriter, args: BindArgs) -> str:
        """Ends once it is known whether the pod is bound."""
        pods, memory = self._ledger.pods, self._ledger.card_memory
        decided = memory.assumed.get(args.pod_uid)
        if decided is not None:
            # An earlier call has bound it, and the watch has not told of that yet.
            there = decided[0]
            where = args.pod_namespace, args.pod_name
            return "" if there == args.node else m.pod_bound_elsewhere(*where, there)
        nodes = memory.nodes
        await self._notifier.wait_for(
            lambda: args.pod_uid in pods and args.node in nodes and nodes[args.node].known,
            self._unseen,
        )
        facts = self._pod(args)
        if isinstance(facts, str):
            return facts
        if facts.node == args.node:
            return ""
        return await self._try(writer, facts, args, again=True)

    async def _try(
        self, writer: FencedWriter, facts: PodFacts, args: BindArgs, *, again: bool
    ) -> str:
        """Judge, charge and send. `again`: once more, if the pod has been written since."""
        problem = self._refusal(facts, args.node)
        if problem:
            return problem
        charged = self._charge(facts, args.node)
        annotations = {v.TERM: self._term, v.BOUND: "true", **charged}
        try:
            await writer.post(f"{pod_path(facts)}/binding", _binding(facts, args, annotations))
        except TooLateError:
            self._take_back(facts.uid)
            return m.TOO_LATE
        except ApiError as error:
            read = await self._read(facts, error)
            if read is not None and read.spec.node_name:
                return self._bound_already(facts, args, read.spec.node_name)
            self._take_back(facts.uid)
            if read is None or not again:
                return m.refused(args.node, error.message)
            # Others write on pods that wait, so the watch may be behind.
            fresh = replace(facts, revision=int(read.metadata.resource_version))
            return await self._try(writer, fresh, args, again=False)
        except OutcomeUnknown as error:
            _LOG.warning("binding pod %s: %s", logged(facts.namespace, facts.name), error)
            return await self._settle(facts, args)
        return ""

    def _pod(self, args: BindArgs) -> PodFacts | str:
        """The pod that is meant, or why it cannot be bound."""
        record = self._ledger.pods.get(args.pod_uid)
        where = args.pod_namespace, args.pod_name
        if record is None or (record.facts.namespace, record.facts.name) != where:
            return m.pod_unknown(*where)
        facts = record.facts
        if facts.state is State.BOUND and facts.node != args.node:
            return m.pod_bound_elsewhere(*where, facts.node)
        if facts.state is State.GATED:
            return m.pod_gated(*where)
        if facts.terminating and facts.state is not State.BOUND:
            return m.pod_ending(*where)
        return facts

    def _refusal(self, facts: PodFacts, node: str) -> str:
        """Why the node does not take the pod now; empty if it does. Charges nothing."""
        problem = request_problem(self._ledger, facts)
        if problem:
            return m.no_room(node, problem)
        fit = fit_nodes(self._ledger, facts, [node])
        if fit.names:
            return ""
        return m.no_room(node, (fit.failed or fit.unresolvable)[node])

    def _charge(self, facts: PodFacts, node: str) -> dict[str, str]:
        """Charge the pod to its node, and if it asks for memory to the card that it gets there.

        Returns the annotations that say so. Only right after `_refusal` has found nothing.
        """
        memory, amount = self._ledger.card_memory, memory_of(facts.devices)
        if not amount:
            memory.assume_cards(node, facts.uid)
            return {}
        found = memory.nodes.get(node)
        assert found is not None  # noqa: S101 - the filter has found room there
        assert found.shape is not None  # noqa: S101
        card = found.card_for(amount, spread=self._spread)
        assert card is not None  # noqa: S101
        now = max(self._wall_clock(), found.latest + 1)
        placement = CardPlacement(card, amount, assumed_at=now)
        memory.assume(node, facts.uid, MemoryPod(facts.namespace, facts.name, placement))
        return placement_annotations(card, amount, found.shape.sizes[card], now)

    async def _read(self, facts: PodFacts, error: ApiError) -> _BoundPod | None:
        """After a conflict: this very pod at another revision. None after any other refusal."""
        if error.status != 409 or error.denied or self._settler is None:
            return None
        try:
            read = _READ.decode(await self._settler.get(pod_path(facts)))
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError):
            return None
        same = read.metadata.resource_version == str(facts.revision)
        return None if same or read.metadata.uid != facts.uid else read

    def _bound_already(self, facts: PodFacts, args: BindArgs, node: str) -> str:
        """The pod has a node that the watch has not told of. On ours it stays charged; of which
        card is not known before the watch tells, so of every one.
        """
        memory, amount = self._ledger.card_memory, memory_of(facts.devices)
        if node != args.node:
            self._take_back(facts.uid)
            return m.pod_bound_elsewhere(facts.namespace, facts.name, node)
        if amount and facts.uid in memory.assumed:
            unknown = CardPlacement(UNKNOWN, amount)
            memory.assume(node, facts.uid, MemoryPod(facts.namespace, facts.name, unknown))
        return ""

    async def _settle(self, facts: PodFacts, args: BindArgs) -> str:
        """Whether a Binding of unknown outcome has landed, once it can land no more."""
        assert self._settler is not None  # noqa: S101 - `begin` makes both
        pod = await settle_pod(self._settler, facts, fresh=self._fresh, unsure=lambda _: None)
        if pod is not None:
            read = _READ.decode(pod)
            if read.metadata.uid == facts.uid and read.spec.node_name == args.node:
                return ""
        self._take_back(facts.uid)
        return m.refused(args.node, "it did not land")

    def _take_back(self, uid: str) -> None:
        """The pod is not bound by what was decided last, and cannot be any more."""
        self._ledger.card_memory.forget(uid)


def _binding(facts: PodFacts, args: BindArgs, annotations: dict[str, str]) -> dict[str, object]:
    """With the label, so that nobody else writes which card it has. A charge of somebody's making
    would count beside it: without its cards it is none.
    """
    forged = {v.ALLOCATED: ""} if facts.forged else {}
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "name": facts.name,
            "namespace": facts.namespace,
            **precondition(facts),
            "annotations": {**forged, **annotations},
            **guard(facts),
        },
        "target": {"apiVersion": "v1", "kind": "Node", "name": args.node},
    }
