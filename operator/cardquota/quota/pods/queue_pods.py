"""The pods of each queue: by namespace and by what made them, what these hold, and who holds its
cards.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from heapq import nsmallest
from typing import Final, NamedTuple

from ..amounts import Amounts, Charge, MutableAmounts, add_amounts, is_card
from ..selectors.selector import NODE_NAME, NODE_SELECTOR_IN, decode
from ..steps import Steps
from .pod_facts import PodFacts
from .pod_record import ChargeState, PodRecord

AT_A_TIME: Final = 256
"""Pods that one step looks at: a fraction of a millisecond."""
REPLICA_SET: Final = "ReplicaSet"
DAEMON_SET: Final = "DaemonSet"


class UpdatePart(NamedTuple):
    """What a pod is one of: a rolling update replaces the pods of one by those of another (R6)."""

    namespace: str
    kind: str
    name: str
    node: str = ""
    """The node that a DaemonSet's pod is on, or is made for."""


def part_of(facts: PodFacts) -> UpdatePart | None:
    """None: the pod is of nothing whose updates start a new pod first."""
    part = _part_of(facts)
    return part if facts.controller == REPLICA_SET or part.node else None


def _part_of(facts: PodFacts) -> UpdatePart:
    node = ""
    if facts.controller == DAEMON_SET:
        node = facts.node or _node_meant(facts.selector)
    return UpdatePart(facts.namespace, facts.controller, facts.controller_name, node)


def _node_meant(selector: bytes) -> str:
    """The node that its controller has made a pod for; empty if it names none, or several."""
    terms = decode(selector).terms if selector else None
    named = {
        name
        for term in terms or ()
        for field in term.match_fields or ()
        if field.key == NODE_NAME and field.operator == NODE_SELECTOR_IN
        for name in field.values or ()
    }
    return named.pop() if len(named) == 1 else ""


_NONE: Final[dict[UpdatePart, dict[PodRecord, None]]] = {}


class QueuePods:
    """All pods, those at the gate included, by the queue they are charged to, their namespace and
    what made them; these in the order in which they were charged.

    Names are compared, not uids, and kinds without API group: a Job of another group with the same
    name counts as the same.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[UpdatePart, dict[PodRecord, None]]] = {}
        """By queue and namespace."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        parts = self._found.setdefault((record.queue, record.facts.namespace), {})
        parts.setdefault(_part_of(record.facts), {})[record] = None

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        key, part = (record.queue, record.facts.namespace), _part_of(record.facts)
        parts = self._found[key]
        del parts[part][record]
        if not parts[part]:
            del parts[part]
            if not parts:
                del self._found[key]

    def of(self, queue: str, part: UpdatePart) -> Collection[PodRecord]:
        """The pods of one part. To be read at once: they change."""
        return self._found.get((queue, part.namespace), _NONE).get(part, ())

    def number_in(self, queue: str, namespace: str) -> int:
        """How many pods of a queue there are in one namespace."""
        return sum(map(len, self._found.get((queue, namespace), _NONE).values()))

    def made_in(self, queue: str, namespace: str) -> Counter[tuple[str, str]]:
        """How many pods each controller has there that are not being deleted, by its kind and name.
        A Deployment: those of all ReplicaSets `<its name>-<any word>`. Some 30 ms for 100,000 pods.
        """
        found = Counter[tuple[str, str]]()
        for part, pods in self._found.get((queue, namespace), _NONE).items():
            number = sum(not record.facts.terminating for record in pods)
            found[part.kind, part.name] += number
            if part.kind == REPLICA_SET:
                found["Deployment", part.name.rpartition("-")[0]] += number
        return found

    def workloads(self, queue: str) -> Counter[str]:
        """How many pods of a queue each workload has, by `namespace/name`: the queue cannot be
        deleted before them (Q8). Some 30 ms for 100,000 pods.
        """
        return Counter(
            f"{namespace}/{record.facts.workload}"
            for (name, namespace), parts in self._found.items()
            if name == queue
            for pods in parts.values()
            for record in pods
        )

    def unstamped_in(self, namespace: str) -> list[str]:
        """Uids of pods without a stamp of ours in a namespace, whatever their queue: they may get
        that, and their mode, from their namespace. Some 10 ms for 100,000 pods.
        """
        return [
            record.facts.uid
            for (_, name), parts in self._found.items()
            if name == namespace
            for pods in parts.values()
            for record in pods
            if record.stamp is None
        ]

    def each(
        self,
        queue: str,
        namespace: str,
        kind: str,
        named: Callable[[str], bool],
        do: Callable[[PodRecord], None],
    ) -> Steps[None]:
        """Call `do` for each pod whose controller has this kind and a name that `named` accepts."""

        def look(record: PodRecord) -> None:
            facts = record.facts
            if facts.controller == kind and named(facts.controller_name):
                do(record)

        return self.each_in(queue, namespace, look)

    def each_of(self, queue: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """Call `do` for each pod of a queue. See `each_in`."""
        for namespace in [namespace for name, namespace in self._found if name == queue]:
            yield from self.each_in(queue, namespace, do)

    def each_in(self, queue: str, namespace: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """Call `do` for each pod of a queue in one namespace.

        Between two steps pods may come, change and go. A pod that comes meanwhile is left out, and
        so is one that goes before its turn.
        """
        parts = self._found.get((queue, namespace), _NONE)
        found = [record for pods in parts.values() for record in pods]
        for first in range(0, len(found), AT_A_TIME):
            for record in found[first : first + AT_A_TIME]:
                if record.queue == queue and record in self.of(queue, _part_of(record.facts)):
                    do(record)
            yield

    def queues_in(self, namespace: str) -> list[str]:
        """The queues of the pods in a namespace. Costs a step for each queue and namespace."""
        return [queue for queue, name in self._found if name == namespace]


APART: Final = 256
"""Pods between two sums that are kept."""


class WorkloadUsage:
    """A workload's pods, added up one by one. A question costs no step for each pod."""

    def __init__(self, template: PodFacts | None = None) -> None:
        """`template`: the charge of pods that ask for the same stays. None: of no pod."""
        self._template = template
        self.waiting = Counter[Hashable]()
        """By class key: pods at the gate under policy Deny. They hold nothing and get the room that
        is left."""
        self.alike = 0
        """How many pods hold what the template asks for and are not being deleted."""
        self.given_back: MutableAmounts = {}
        """What all other pods hold."""
        self._leaving: MutableAmounts = {}
        """The part of `given_back` that pods under deletion hold."""
        self._holding: list[Charge] = []
        """Charges of pods that are released or bound and are not being deleted."""
        self._sums: list[Amounts] = [{}]
        """Sums of the first charges: of none, and of each `APART` more."""
        self._sum: MutableAmounts = {}

    def add(self, record: PodRecord) -> None:
        """Add a pod of the workload."""
        if not record.held:
            if record.charge_state is ChargeState.GATED_DENY:
                self.waiting[record.class_key] += 1
            return
        charge = record.charge
        if record.facts.terminating:
            add_amounts(self._leaving, charge)
            add_amounts(self.given_back, charge)
            return
        self._holding.append(charge)
        add_amounts(self._sum, charge)
        if self.holding % APART == 0:
            self._sums.append(dict(self._sum))
        if self._template is not None and _alike(record.facts, self._template):
            self.alike += 1
        else:
            add_amounts(self.given_back, charge)

    @property
    def holding(self) -> int:
        """How many pods are released or bound and are not being deleted."""
        return len(self._holding)

    def freed_by(self, number: int) -> Amounts:
        """What the pods under deletion and the first `number` of the others give back. The others
        are in the order in which they were added.
        """
        freed = dict(self._leaving)
        summed = number // APART
        for charge in (self._sums[summed].items(), *self._holding[summed * APART : number]):
            add_amounts(freed, charge)
        return freed


def _alike(facts: PodFacts, template: PodFacts) -> bool:
    """Compares only the cards: other controllers may change a pod's cpu and memory on its way."""
    return (facts.card_text, facts.devices) == (template.card_text, template.devices)


class CardHolders:
    """Which workloads of one namespace hold how much of one card of one queue. Workloads of
    different kinds with one name count as one.
    """

    __slots__ = ("_most", "amounts", "total")

    def __init__(self) -> None:
        self._most: dict[int, list[tuple[str, int]]] = {}
        """What was asked for since the last change: many are told the same at once."""
        self.total = 0
        """Cards that all of them hold."""
        self.amounts: dict[str, int] = {}
        """Cards by workload, to be read."""

    def add(self, workload: str, amount: int) -> None:
        """The workload holds so many more cards; fewer, if `amount` is negative."""
        self._most.clear()
        self.total += amount
        self.amounts[workload] = self.amounts.get(workload, 0) + amount
        if not self.amounts[workload]:
            del self.amounts[workload]

    def most(self, number: int) -> list[tuple[str, int]]:
        """So many workloads that hold most, with what they hold; equal ones in the order of their
        names. Costs by them all: 10 ms of 30,000, once after each change.
        """
        if number not in self._most:
            held = self.amounts.items()
            self._most[number] = nsmallest(number, held, key=lambda one: (-one[1], one[0]))
        return self._most[number]


_NOBODY: Final = CardHolders()


class HeldCards:
    """What pods hold that are released or bound (section 6): per queue and card what `allocated`
    and `inqueue` have, but for reservations.

    Adding a pod costs by its own cards. Pods outside every queue are left out.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], CardHolders] = {}
        """By queue, card and namespace."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        self._count(record, 1)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        self._count(record, -1)

    def within(self, queue: str, card: str, namespace: str) -> CardHolders:
        """Who holds the card in this namespace. To be read at once: it changes with the pods."""
        return self._found.get((queue, card, namespace), _NOBODY)

    def all(self) -> Iterator[tuple[tuple[str, str, str, str], int]]:
        """Each amount, by queue, card, namespace and workload. Costs by them all."""
        for key, holders in self._found.items():
            for workload, amount in holders.amounts.items():
                yield (*key, workload), amount

    def _count(self, record: PodRecord, sign: int) -> None:
        if not record.queue or not record.held:
            return
        facts = record.facts
        for dimension, amount in record.charge:
            if amount and is_card(dimension):
                key = record.queue, dimension, facts.namespace
                holders = self._found.get(key)
                if holders is None:
                    holders = self._found[key] = CardHolders()
                holders.add(facts.workload, sign * amount)
                if not holders.amounts:
                    del self._found[key]
