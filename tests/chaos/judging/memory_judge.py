"""What must never be of card memory, looked for after every single change.

Only who is bound can make it wrong: a node that shrinks takes nothing from anybody. So a pod is
judged when it gets its node, against what the node was lately: whoever decides knows of a node's
change a moment later.
"""

from collections import Counter
from collections.abc import Sequence

from ..history import Change
from .leeway import Lately, Leeway, Trouble
from .memory_count import MemoryCount, MemoryHolder, SharedNode, index_of


class MemoryJudge:
    """Follows a count of card memory, change by change."""

    def __init__(self, troubles: Sequence[Trouble] = ()) -> None:
        """`troubles`: when views were old, or answers late."""
        self.count = MemoryCount()
        self.seen: Counter[str] = Counter()
        self._leeway = Leeway(troubles)
        self._shapes = Lately[str, SharedNode | None]()
        self._broken = Lately[str, frozenset[int]]()
        """Cards that are broken for certain."""

    def after(self, change: Change) -> list[str]:
        """What is wrong with this change."""
        before = self.count.pods.get(change.key) if change.kind == "pod" else None
        self.count.apply(change.kind, change.key, change.object)
        if change.kind in ("node", "list"):
            for node in {change.key, change.key.removeprefix("unhealthy-gpu-")}:
                self._shapes.note(node, change.at, self.count.nodes.get(node))
                self._broken.note(node, change.at, self.count.broken(node))
            return []
        pod = self.count.pods.get(change.key) if change.kind == "pod" else None
        if pod is None or not pod.holds:
            return []
        same = before if before is not None and before.uid == pod.uid else None
        if same is None or not same.node:
            return [f"{pod.key} on {pod.node}: {what}" for what in self._bound(change.at, pod)]
        if pod.memory and same.holds and same.index != pod.index:
            return [f"{pod.key} had card {same.index} and has card {pod.index} now"]
        return []

    def _bound(self, at: float, pod: MemoryHolder) -> list[str]:
        here = self.count.on(pod.node)
        whole = sorted(other.key for other in here if other.cards)
        parts = sorted(other.key for other in here if other.memory)
        found = []
        if whole and parts:
            found.append(f"{whole} hold cards and {parts} hold memory")
        if pod.memory:
            self.seen["memory pods bound"] += 1
            found += self._placed(self._leeway.since(at), pod)
        return found

    def _placed(self, since: float, pod: MemoryHolder) -> list[str]:
        shapes = [one for one in self._shapes.values(pod.node, since) if one is not None]
        index = index_of(pod)
        sizes = [one.sizes[index] for one in shapes if index is not None and index < len(one.sizes)]
        if index is None or not sizes or pod.of_pod is None:
            said = f"its card is <{pod.index}>, <{pod.of_pod}> of <{pod.memory}>"
            return [f"it has no card there: {said}"]
        found = []
        most_cards = max(len(one.sizes) for one in shapes)
        used, unknown = self.count.used(pod.node, most_cards)
        if used[index] + unknown > max(sizes):
            of = f"{used[index]} and {unknown} of unknown cards"
            found.append(f"card {index} has {max(sizes)} and holds {of}")
        offered, held = max(one.offered for one in shapes), sum(used) + unknown
        if held > offered:
            found.append(f"the node offers {offered} in all and holds {held}")
        lists = self._broken.values(pod.node, since)
        if lists and all(index in broken for broken in lists):
            found.append(f"card {index} is broken")
        return found
