"""Who is ended for somebody else: what must never be of that, looked for after every change (L5).

An Eviction shows by the condition that the API server writes on a pod with it, and nobody in a run
evicts but the product. What ends for whom is read from the plans on pods that wait, by their uids.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .recount import Recount
from .stored import QueuePosition, StoredPlan, StoredPod


@dataclass
class _Need:
    """One who waits, or waited, and what was ended for it."""

    key: str
    queue: str
    amount: int
    priority: int
    plan: StoredPlan
    ended: Counter[str] = field(default_factory=Counter)
    """Cards, by unit."""
    passed_on: int = 0
    """Cards that others took since, to whose queue they were owed: then others end for it (L5)."""


class EndedForOthers:
    """Follows a recount, change by change."""

    def __init__(self, recount: Recount, cards: Mapping[str, int]) -> None:
        """`cards`: how many there are, of those that are oversold."""
        self._recount, self._cards = recount, cards
        self._needs: dict[tuple[str, str], _Need] = {}
        """By uid, and whether quota is made or room."""
        self.seen = 0
        """Pods that were ended."""

    @property
    def served(self) -> int:
        """Pods for which others were to end."""
        return len({uid for uid, _ in self._needs})

    def after(self, before: StoredPod | None, pod: StoredPod | None) -> list[str]:
        """What is wrong with a change of a pod. `before`: as it was until then."""
        if pod is None:
            return []
        same = before if before is not None and before.uid == pod.uid else None
        found: list[str] = []
        if pod.plan is not None and (same is None or same.plan != pod.plan):
            found += self._planned(pod, pod.plan)
        if pod.node and (same is None or not same.node):
            self._started(pod)
        if pod.evicted and (same is None or not same.evicted):
            found += [f"{pod.key} is ended, and {what}" for what in self._ended(pod)]
        return found

    def _planned(self, pod: StoredPod, plan: StoredPlan) -> list[str]:
        need = self._needs.get((pod.uid, plan.way))
        if need is not None:
            need.plan = plan
            return []
        queue = pod.charged_queue or self._recount.queue_of(pod)
        self._needs[pod.uid, plan.way] = _Need(pod.key, queue, pod.amount, pod.priority, plan)
        position = queue, plan.card
        owed = self._deserved(position) - self._bound(position)
        if plan.way == "reclaim" and pod.amount > owed:
            return [f"pods end for {pod.key}, to whose queue {max(0, owed)} of {plan.card} is owed"]
        return []

    def _started(self, pod: StoredPod) -> None:
        for (uid, way), need in self._needs.items():
            position = pod.charged_queue, need.plan.card
            took = pod.charge.get(position, 0) if way == "reclaim" and uid != pod.uid else 0
            if took and need.ended and self._bound(position) <= self._deserved(position):
                need.passed_on += took

    def _ended(self, pod: StoredPod) -> Iterable[str]:
        self.seen += 1
        needs = [need for need in self._needs.values() if pod.uid in need.plan.victims]
        if not needs:
            yield "stands in no plan"
            return
        need = needs[-1]
        plan, position = need.plan, (pod.charged_queue, need.plan.card)
        gang = self._recount.groups.get(pod.group)
        rest = sum(1 for one in self._runs(self._recount.members[pod.group].values(), plan))
        if gang is not None and 0 < rest < gang.minimum:
            yield f"{rest} of {pod.group} go on, which needs {gang.minimum}"
        if plan.way == "preempt":
            if pod.charged_queue != need.queue or pod.priority >= need.priority:
                yield f"is not of a lower priority in the queue of {need.key}"
        elif self._bound(position, plan) < self._deserved(position):
            yield f"{position[0]} keeps less than the {self._deserved(position)} it deserves"
        need.ended[pod.group if pod.group and not rest else pod.uid] += pod.amount
        total = need.ended.total()
        needed = need.amount + need.passed_on
        if any(total - amount >= needed for amount in need.ended.values()):
            yield f"{total} have ended for {need.key}, which needs {needed}"

    def _runs(
        self, pods: Iterable[StoredPod], plan: StoredPlan | None = None
    ) -> Iterable[StoredPod]:
        """Those on nodes that stay there, once all of a plan have ended."""
        victims = plan.victims if plan is not None else ()
        for pod in pods:
            if pod.node and pod.charge and not pod.ends and pod.uid not in victims:
                yield pod

    def _bound(self, position: QueuePosition, plan: StoredPlan | None = None) -> int:
        pods = self._runs(self._recount.pods.values(), plan)
        return sum(pod.charge.get(position, 0) for pod in pods)

    def _deserved(self, position: QueuePosition) -> int:
        """Of queues of equal weight each gets a card in turn, while it has a quota for it."""
        queue, card = position
        quotas = {name: quota.get(card, 0) for name, quota in sorted(self._recount.quota.items())}
        left, found = self._cards.get(card, sum(quotas.values())), 0
        for round_ in range(quotas.get(queue, 0)):
            hungry = [name for name, quota in quotas.items() if quota > round_]
            found += queue in hungry[:left]
            left -= len(hungry[:left])
        return found
