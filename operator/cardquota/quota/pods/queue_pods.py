"""The pods of each queue: by namespace and by what made them, what these hold, and who holds its
cards.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
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


class PodMaker(NamedTuple):
    """What makes pods: a controller, and a DaemonSet for one node. A rolling update replaces the
    pods of one maker by those of another (R6). A pod without a controller has an empty one.
    """

    namespace: str
    kind: str
    name: str
    node: str = ""
    """The node that a DaemonSet's pod is on, or is made for."""


def surging_maker(facts: PodFacts) -> PodMaker | None:
    """None: the pod is of nothing whose updates start a new pod first."""
    maker = maker_of(facts)
    return maker if facts.controller == REPLICA_SET or maker.node else None


def maker_of(facts: PodFacts) -> PodMaker:
    """What has made the pod."""
    node = ""
    if facts.controller == DAEMON_SET:
        node = facts.node or _node_meant(facts.selector)
    return PodMaker(facts.namespace, facts.controller, facts.controller_name, node)


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


class MadePods:
    """The pods of one maker in one queue. Only to be read by others, and at once: they change."""

    __slots__ = ("cards", "held", "living", "pods")

    def __init__(self) -> None:
        self.pods: dict[PodRecord, None] = {}
        """In the order in which they were charged."""
        self.living = 0
        """How many are not being deleted, those at the gate included."""
        self.held = 0
        """How many of these are released or bound."""
        self.cards: dict[str, int] = {}
        """What these hold, of a ReplicaSet or a DaemonSet (R6)."""

    def count(self, record: PodRecord, sign: int) -> None:
        """One pod more, or less (-1)."""
        facts = record.facts
        if facts.terminating:
            return
        self.living += sign
        if record.held:
            self.held += sign
            for card, amount in record.charge if facts.controller in _SURGING else ():
                if is_card(card):
                    self.cards[card] = self.cards.get(card, 0) + sign * amount


_SURGING: Final = (REPLICA_SET, DAEMON_SET)
_NO_PODS: Final = MadePods()


class _InNamespace:
    """The pods of one queue in one namespace."""

    __slots__ = ("makers", "number", "unstamped")

    def __init__(self) -> None:
        self.makers: dict[PodMaker, MadePods] = {}
        self.number = 0
        self.unstamped: dict[PodRecord, None] = {}
        """Those without a stamp of ours."""


_NOWHERE: Final = _InNamespace()


class QueuePods:
    """All pods, those at the gate included, by their namespace, the queue they are charged to and
    what made them. Adding a pod costs by its cards. Those of one maker are in the order in which
    they were charged, those of several one maker after the other.

    Names are compared, not uids, and kinds without API group: a Job of another group with the same
    name counts as the same.
    """

    def __init__(self) -> None:
        self._found: dict[str, dict[str, _InNamespace]] = {}
        """By namespace and queue."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        facts = record.facts
        queues = self._found.setdefault(facts.namespace, {})
        there = queues.get(record.queue)
        if there is None:
            there = queues[record.queue] = _InNamespace()
        maker = maker_of(facts)
        made = there.makers.get(maker)
        if made is None:
            made = there.makers[maker] = MadePods()
        made.pods[record] = None
        made.count(record, 1)
        there.number += 1
        if record.stamp is None:
            there.unstamped[record] = None

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        facts = record.facts
        queues, maker = self._found[facts.namespace], maker_of(facts)
        there = queues[record.queue]
        made = there.makers[maker]
        del made.pods[record]
        made.count(record, -1)
        there.number -= 1
        there.unstamped.pop(record, None)
        if not made.pods:
            del there.makers[maker]
        if not there.number:
            del queues[record.queue]
            if not queues:
                del self._found[facts.namespace]

    def of(self, queue: str, maker: PodMaker) -> MadePods:
        """The pods of one maker."""
        return self._in(queue, maker.namespace).makers.get(maker, _NO_PODS)

    def number_in(self, queue: str, namespace: str) -> int:
        """How many pods of a queue there are in one namespace."""
        return self._in(queue, namespace).number

    def living_by_controller(self, queue: str, namespace: str) -> Counter[tuple[str, str]]:
        """How many pods each controller has there that are not being deleted, by its kind and name.
        Costs by the controllers, and a DaemonSet's nodes.
        """
        found = Counter[tuple[str, str]]()
        for maker, made in self._in(queue, namespace).makers.items():
            found[maker.kind, maker.name] += made.living
        return found

    def unstamped_in(self, namespace: str) -> list[str]:
        """Uids of pods without a stamp of ours in a namespace, whatever their queue: they may get
        that, and their mode, from their namespace. Costs by these, and by the queues there.
        """
        queues = self._found.get(namespace, {}).values()
        return [record.facts.uid for there in queues for record in there.unstamped]

    def unstamped(self) -> Iterator[PodRecord]:
        """Those of all namespaces. Costs by these, and by the pairs of namespace and queue."""
        for queues in self._found.values():
            for there in queues.values():
                yield from there.unstamped

    def each(
        self,
        queue: str,
        namespace: str,
        kind: str,
        named: Callable[[str], bool],
        do: Callable[[PodRecord], None],
    ) -> Steps[None]:
        """Call `do` for each pod whose controller has this kind and a name that `named` accepts, as
        `each_in` does. Looks at the controllers first, and then at none of the other pods.
        """
        makers = self._in(queue, namespace).makers.items()
        found = [made for maker, made in makers if maker.kind == kind and named(maker.name)]
        return self._each_made(queue, found, do)

    def each_of(self, queue: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """Call `do` for each pod of a queue, as `each_in` does. Each namespace costs a step."""
        for namespace in [namespace for namespace, one in self._found.items() if queue in one]:
            yield from self.each_in(queue, namespace, do)

    def each_in(self, queue: str, namespace: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """Call `do` for each pod of a queue in one namespace.

        Between two steps pods may come, change and go. A pod that comes meanwhile is left out, and
        so is one that goes before its turn.
        """
        return self._each_made(queue, self._in(queue, namespace).makers.values(), do)

    def _each_made(
        self, queue: str, made: Iterable[MadePods], do: Callable[[PodRecord], None]
    ) -> Steps[None]:
        found = [record for one in made for record in one.pods]
        for first in range(0, len(found), AT_A_TIME):
            for record in found[first : first + AT_A_TIME]:
                if record.queue == queue and record in self.of(queue, maker_of(record.facts)).pods:
                    do(record)
            yield

    def queues_in(self, namespace: str) -> list[str]:
        """The queues of the pods in a namespace."""
        return list(self._found.get(namespace, ()))

    def _in(self, queue: str, namespace: str) -> _InNamespace:
        return self._found.get(namespace, {}).get(queue, _NOWHERE)


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
        """What the pods under deletion and the first `number` of the others give back, as they were
        added: those of one ReplicaSet after those of another, whenever they were made.
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
