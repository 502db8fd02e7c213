"""What kube-scheduler asks, answered from the ledger. Every replica answers but for bind.

Asking changes nothing. kube-scheduler's own view may be some milliseconds ahead of ours: so what we
have never heard of is waited for, a moment.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec

from ..cluster.watch.change_notifier import ChangeNotifier
from ..loop.time_slice import TimeSlice, in_slices
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.pods.pod_facts import pod_facts
from ..quota.reports.memory_report import memory_report, node_row
from .leader_client import LeaderCall
from .node_filter import fit_nodes
from .node_ranking import NodeRanking, NodeScore
from .preemption import victims_by_node
from .waker import Waker
from .wire import BindArgs, ExtenderArgs, FilterResult, MetaVictims, PreemptionArgs

_JSON: Final = msgspec.json.Encoder()
_UNSEEN: Final = 0.1
"""Seconds that a filter waits for nodes that our watch has not told of."""
NOT_SYNCED: Final = "cardquota has not read the cluster yet: try again"


class SchedulerVerbs:
    """The verbs of the extender, over the ledger's present state."""

    def __init__(
        self,
        ledger: LedgerReader,
        notifier: ChangeNotifier,
        binds: LeaderCall,
        synced: Callable[[], bool],
        *,
        waker: Waker | None = None,
        spread: bool = False,
        unseen: float = _UNSEEN,
    ) -> None:
        """`waker`: is told who fits nowhere. `spread`: prefer empty nodes to full ones. `unseen`:
        seconds.
        """
        self._waker = waker
        self._ledger = ledger
        self._notifier = notifier
        self._binds = binds
        self._synced = synced
        self._ranking = NodeRanking(ledger, spread=spread)
        self._unseen = unseen

    async def filter(self, args: ExtenderArgs) -> FilterResult:
        """Which nodes the pod may go to."""
        if not self._synced():
            return FilterResult((), {}, {}, NOT_SYNCED)
        facts, names = pod_facts(args.pod), args.names
        fit = fit_nodes(self._ledger, facts, names)
        if fit.unknown:
            await self._notifier.wait_for(lambda: not self._unknown(names), self._unseen)
            fit = fit_nodes(self._ledger, facts, names)
        if self._waker is not None:
            if fit.names:
                self._waker.fits(facts.uid)
            else:
                self._waker.refused(facts, chain(fit.failed, fit.unresolvable))
        return FilterResult(fit.names, fit.failed, fit.unresolvable)

    async def prioritize(self, args: ExtenderArgs) -> Sequence[NodeScore]:
        """One score for each name, 0 to 10."""
        facts = pod_facts(args.pod)
        return self._ranking.rank(facts, args.names)

    async def bind(self, args: BindArgs, *, passed_on: bool = False) -> str:
        """Bind, here or on the leader. `passed_on`: by another replica, so here or nowhere."""
        return await self._binds.bind(args, passed_on=passed_on)

    async def preempt(self, args: PreemptionArgs) -> Mapping[str, MetaVictims]:
        """Which of the proposed victims free one card; nodes where none do are left out."""
        facts = pod_facts(args.pod)
        proposed = {name: victims.uids for name, victims in args.victims.items()}
        chosen = victims_by_node(self._ledger, facts, proposed)
        return {
            name: MetaVictims(uids, args.victims[name].violations) for name, uids in chosen.items()
        }

    async def inspect(self) -> bytes:
        """Card memory of the whole cluster, as JSON. Gives way: a large cluster has many cards."""
        report, rows = await in_slices(memory_report(self._ledger)), list[bytes]()
        slice_ = TimeSlice()
        for row in report.nodes:
            rows.append(_JSON.encode(row))
            await slice_.give_way()
        rest = _JSON.encode(
            {"pending": report.pending, "totals": report.totals, "limited": report.limited}
        )
        return b'{"nodes":[' + b",".join(rows) + b"]," + rest[1:]

    async def inspect_node(self, name: str) -> bytes | None:
        """One node, as JSON; None if it is not known."""
        row = node_row(self._ledger, name)
        return None if row is None else _JSON.encode(row)

    def _unknown(self, names: Sequence[str]) -> bool:
        nodes = self._ledger.card_memory.nodes
        return not all(name in nodes for name in names)
