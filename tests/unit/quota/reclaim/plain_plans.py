"""L3 and L4 as they are written, over a cluster in plain numbers: all sets of pods are tried.
Nothing of the package under test is used here.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ..plain_rounds import PlainSharer, rounds, whole


@dataclass(frozen=True)
class PlanPod:
    """Of one card. Bound unless it has no node."""

    name: str
    queue: str
    cards: int
    node: str = ""
    priority: int = 0
    group: str = ""
    at: int = 0
    leaving: bool = False
    preemptable: bool = True


@dataclass
class PlanCluster:
    nodes: dict[str, int]
    quotas: dict[str, int]
    weights: dict[str, int]
    minimums: dict[str, int]
    pods: list[PlanPod] = field(default_factory=list)
    owed: dict[str, int] = field(default_factory=dict)
    """Of queues that say it: at most their quota."""

    def used(self, node: str) -> int:
        return sum(pod.cards for pod in self.pods if pod.node == node)

    def free(self, ended: Collection[str] = (), *, comes: bool = True) -> dict[str, int]:
        """By node: what is free once these and those that are being deleted are gone."""
        gone = {pod.name for pod in self.pods if comes and pod.leaving}.union(ended)
        held = dict.fromkeys(self.nodes, 0)
        for pod in self.pods:
            if pod.node and pod.name not in gone:
                held[pod.node] += pod.cards
        return {node: amount - held[node] for node, amount in self.nodes.items()}

    def deserved(self) -> Mapping[str, int]:
        total, caps = sum(self.nodes.values()), self.quotas | self.owed
        if sum(self.quotas.values()) <= total:
            return caps
        sharers = {
            name: PlainSharer(self.weights[name], cap, self.owed.get(name, 0))
            for name, cap in caps.items()
        }
        return whole(rounds(total, sharers), total) | self.owed

    def bound(self, queue: str, *, staying: bool = False, without: Collection[str] = ()) -> int:
        return sum(
            pod.cards
            for pod in self.pods
            if pod.queue == queue and pod.node and pod.name not in without
            if not (staying and pod.leaving)
        )

    def charged(self, queue: str, without: Collection[str] = ()) -> int:
        """Bound and released, but for those that are gone then."""
        return sum(
            pod.cards
            for pod in self.pods
            if pod.queue == queue and not pod.leaving and pod.name not in without
        )

    # --- units ----------------------------------------------------------------------------

    def units(self) -> Iterator[tuple[PlanPod, ...]]:
        """What ends together; the pods that may not end included."""
        for name in sorted({pod.group for pod in self.pods}):
            some = [pod for pod in self.pods if pod.group == name and not pod.leaving]
            if not name:
                yield from ((pod,) for pod in some)
                continue
            placed = sorted((p for p in some if p.node), key=lambda p: (p.at, p.name))
            least = self.minimums[name]
            yield from ((pod,) for pod in placed[least:])
            coming = [pod for pod in some if not pod.node]
            if len(placed) >= least:
                yield from ((pod,) for pod in coming)
            if least > 1 and some:
                yield tuple(some)
            elif len(placed) >= least:
                yield from ((pod,) for pod in placed[:least])
            else:
                yield from ((pod,) for pod in [*placed, *coming])

    def sets(self, units: Sequence[tuple[PlanPod, ...]]) -> Iterator[frozenset[str]]:
        """All sets of pods that end with some of these units."""
        seen: set[frozenset[str]] = set()
        for number in range(len(units) + 1):
            for some in combinations(units, number):
                names = frozenset(pod.name for unit in some for pod in unit)
                if names not in seen:
                    seen.add(names)
                    yield names

    # --- who may end ----------------------------------------------------------------------

    def reclaimable(self) -> list[tuple[PlanPod, ...]]:
        return [
            unit
            for unit in self.units()
            if any(pod.node for pod in unit) and all(pod.preemptable for pod in unit)
        ]

    def preemptable(self, queue: str, priority: int) -> list[tuple[PlanPod, ...]]:
        return [
            unit
            for unit in self.units()
            if all(p.preemptable and p.queue == queue and p.priority < priority for p in unit)
        ]

    def keeps_deserved(self, ended: Collection[str]) -> bool:
        """Whether every queue that loses a pod with a node keeps what it deserves."""
        losers = {pod.queue for pod in self.pods if pod.node and pod.name in ended}
        deserved = self.deserved()
        return all(
            self.bound(queue, staying=True, without=ended) >= deserved[queue] for queue in losers
        )

    def keeps_minimums(self, ended: Collection[str]) -> bool:
        """Whether no gang runs on with fewer than its minimum because of this."""
        for name, least in self.minimums.items():
            members = [pod for pod in self.pods if pod.group == name and not pod.leaving]
            lost = [pod for pod in members if pod.name in ended and pod.node]
            left = [pod for pod in members if pod.name not in ended]
            if lost and left and least > 1 and sum(bool(pod.node) for pod in left) < least:
                return False
        return True


def gives(
    cluster: PlanCluster, units: Sequence[tuple[PlanPod, ...]], node: str, cards: int
) -> bool:
    """Whether so many come free on a node by any set of its units to which none could be added."""
    here = [unit for unit in units if any(pod.node == node for pod in unit)]
    able = [*filter(cluster.keeps_deserved, cluster.sets(here))]
    largest = [names for names in able if not any(names < other for other in able)]
    return all(cluster.free(names)[node] >= cards for names in largest)


def placeable(rooms: Mapping[str, int], asked: Iterable[int]) -> bool:
    """Whether there is any way to give each of these a node."""
    rest = sorted(asked, reverse=True)
    if not rest:
        return True
    for node, room in rooms.items():
        if room >= rest[0] and placeable({**rooms, node: room - rest[0]}, rest[1:]):
            return True
    return False
