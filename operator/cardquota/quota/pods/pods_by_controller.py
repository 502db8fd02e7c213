"""The pods of each queue by namespace, those of one controller among them, and what these hold."""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

from ..amounts import Amounts, Charge, MutableAmounts, add_amounts
from ..steps import Steps
from .pod_facts import PodFacts
from .pod_record import ChargeState, PodRecord

AT_A_TIME: Final = 256
"""Pods that one step looks at: a fraction of a millisecond."""


class PodsByController:
    """Pods by the queue they are charged to and their namespace, in the order they were charged.

    There is no index by controller: to find the pods of one costs by the pods of that queue in that
    namespace. Names are compared, not uids, and kinds without API group: a Job of another group
    with the same name counts as the same.
    """

    def __init__(self) -> None:
        self._found: dict[str, dict[str, dict[PodRecord, None]]] = {}
        """By queue and namespace."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        namespaces = self._found.get(record.queue)
        if namespaces is None:
            namespaces = self._found[record.queue] = {}
        namespace = record.facts.namespace
        there = namespaces.get(namespace)
        if there is None:
            there = namespaces[namespace] = {}
        there[record] = None

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        namespaces, namespace = self._found[record.queue], record.facts.namespace
        del namespaces[namespace][record]
        if not namespaces[namespace]:
            del namespaces[namespace]
            if not namespaces:
                del self._found[record.queue]

    def number_in(self, queue: str, namespace: str) -> int:
        """How many pods of a queue there are in one namespace."""
        return len(self._found.get(queue, {}).get(namespace, ()))

    def made_in(self, queue: str, namespace: str) -> Counter[tuple[str, str]]:
        """How many pods each controller has there that are not being deleted, by its kind and name.
        A Deployment: those of all ReplicaSets `<its name>-<any word>`. Some 30 ms for 100,000 pods.
        """
        there = (record.facts for record in self._found.get(queue, {}).get(namespace, ()))
        found = Counter(
            (one.controller, one.controller_name) for one in there if not one.terminating
        )
        for (kind, name), number in list(found.items()):
            if kind == "ReplicaSet":
                found["Deployment", name.rpartition("-")[0]] += number
        return found

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
        for namespace in list(self._found.get(queue, ())):
            yield from self.each_in(queue, namespace, do)

    def each_in(self, queue: str, namespace: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """Call `do` for each pod of a queue in one namespace.

        Between two steps pods may come, change and go. A pod that comes meanwhile is left out, and
        so is one that goes before its turn.
        """
        found = list(self._found.get(queue, {}).get(namespace, ()))
        for first in range(0, len(found), AT_A_TIME):
            there = self._found.get(queue, {}).get(namespace, {})
            for record in found[first : first + AT_A_TIME]:
                if record in there:
                    do(record)
            yield

    def queues_in(self, namespace: str) -> list[str]:
        """The queues of the pods in a namespace. Costs a step for each queue that has pods."""
        return [queue for queue, there in self._found.items() if namespace in there]


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
        """Charges of pods that are let through or bound and are not being deleted."""
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
        """How many pods are let through or bound and are not being deleted."""
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
