"""Has kube-scheduler try pods again that a filter of ours has refused.

kube-scheduler tries a refused pod again upon events of pods and nodes, and else after five minutes.
It knows nothing of a list of broken cards that was emptied, or of an annotation that was corrected;
and an event may reach it a moment before us, so that it asks too early. Then nothing wakes the pod.
What does is any write on the pod itself: so we write an annotation that nobody reads.

Guarantees: a pod is written once for each time that it may fit, and at growing intervals, since a
node with room may be one that the pod cannot go to. At most MOST pods are remembered, of which the
oldest are forgotten first; kube-scheduler's five minutes remain for them.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..cluster.watch.delivery import ChangeNotifier
from ..cluster.writes import pod_path
from ..quota import vocabulary as v
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.pods.pod_facts import PodFacts, State, memory_of
from ..quota.words import logged

_LOG = logging.getLogger(__name__)
MOST: Final = 10_000
"""Refused pods that are remembered."""
FIRST: Final = 1.0
"""Seconds after its refusal before which a pod is not woken: kube-scheduler may do it itself."""
LONGEST: Final = 300.0
"""Seconds between two wakings of one pod, at most: kube-scheduler's own pause."""
_SOME: Final = 10
"""Nodes that are remembered of a pod. If there were more, room anywhere may be room for it."""
_AT_A_TIME: Final = 20
"""Pods woken in one go."""


@dataclass(slots=True)
class _Refused:
    need: int
    """Memory of one card; 0 for a pod by card."""
    nodes: tuple[str, ...]
    """Those that kube-scheduler offered: to others the pod cannot go. One more than _SOME stands
    for all that are left out."""
    due: float
    """When it may be woken."""
    pause: float = FIRST


class Waker:
    """The pods that this replica has refused. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: LedgerReader,
        notifier: ChangeNotifier,
        client: Client,
        clock: Callable[[], float],
    ) -> None:
        """`clock`: seconds, monotonic."""
        self._ledger = ledger
        self._client = client
        self._clock = clock
        self._refused: dict[str, _Refused] = {}
        self._look: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        notifier.listen(self._ledger_changed)

    def __len__(self) -> int:
        return len(self._refused)

    def refused(self, facts: PodFacts, nodes: Iterable[str]) -> None:
        """None of these nodes takes this pod now."""
        need = memory_of(facts.devices)
        some, soon = tuple(islice(nodes, _SOME + 1)), self._clock() + FIRST
        known = self._refused.pop(facts.uid, None)
        if known is None:
            known = _Refused(need, some, soon)
        else:
            # A pod that was woken in vain sleeps as long as if it had not been asked about.
            known.nodes, known.due = some, max(known.due, soon)
        self._refused[facts.uid] = known
        if len(self._refused) > MOST:
            del self._refused[next(iter(self._refused))]
        self._look_later(FIRST)

    def fits(self, uid: str) -> None:
        """There is a node for this pod."""
        self._refused.pop(uid, None)

    def close(self) -> None:
        """Wake nobody any more."""
        self._refused.clear()
        if self._look is not None:
            self._look.cancel()
        for task in self._tasks:
            task.cancel()

    def _ledger_changed(self) -> None:
        if self._refused:
            self._look_later(FIRST)

    def _look_later(self, seconds: float) -> None:
        """Look after so many seconds, or sooner if that was to be."""
        loop = asyncio.get_running_loop()
        when = loop.time() + seconds
        if self._look is not None:
            if self._look.when() <= when:
                return
            self._look.cancel()
        self._look = loop.call_at(when, self._look_now)

    def _look_now(self) -> None:
        """Wake those that may fit. Costs O(nodes and refused pods), at most once a second."""
        self._look = None
        most = max((rank[0] for rank in self._ledger.card_memory.ranks.values()), default=0)
        now, woken, soonest = self._clock(), 0, LONGEST + 1
        for uid, one in list(self._refused.items()):
            record = self._ledger.pods.get(uid)
            if record is None or record.facts.state is not State.OPEN:
                del self._refused[uid]
                continue
            if not self._may_fit(one, most):
                continue
            if one.due <= now and woken < _AT_A_TIME:
                woken += 1
                one.pause = min(2 * one.pause, LONGEST)
                one.due = now + one.pause
                self._refused[uid] = self._refused.pop(uid)  # behind those that were not woken
                self._start(record.facts)
            soonest = min(soonest, one.due - now)
        if soonest <= LONGEST:
            self._look_later(max(FIRST, soonest))

    def _may_fit(self, one: _Refused, most: int) -> bool:
        """`most`: the most that a pod by memory can get anywhere."""
        memory, many = self._ledger.card_memory, len(one.nodes) > _SOME
        if not one.need:
            is_open = memory.open_to_cards
            return bool(is_open) if many else not is_open.isdisjoint(one.nodes)
        if one.need > most:
            return False
        ranks = memory.ranks
        return many or any(name in ranks and ranks[name][0] >= one.need for name in one.nodes)

    def _start(self, facts: PodFacts) -> None:
        task = asyncio.get_running_loop().create_task(self._wake(facts))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wake(self, facts: PodFacts) -> None:
        note = {v.WOKEN: secrets.token_hex(4)}
        body = {"metadata": {"uid": facts.uid, "annotations": note}}
        try:
            await self._client.patch(pod_path(facts), body)
        except (ApiError, OutcomeUnknown) as error:
            _LOG.info("waking pod %s failed: %s", logged(facts.namespace, facts.name), error)
