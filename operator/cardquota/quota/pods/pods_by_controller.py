"""The pods of each queue by namespace, and those of one controller among them."""

from collections.abc import Callable
from typing import Final

from ..steps import Steps
from .pod_record import PodRecord

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

    def number_of(self, queue: str, namespace: str, kind: str, name: str) -> int:
        """How many pods a controller has there that are not being deleted. A Deployment: those of
        all ReplicaSets `<its name>-<any word>`.
        """
        deployment = kind == "Deployment"
        kind = "ReplicaSet" if deployment else kind
        number = 0
        for record in self._found.get(queue, {}).get(namespace, ()):
            facts = record.facts
            if facts.controller == kind and not facts.terminating:
                made_by = facts.controller_name
                number += (made_by.rpartition("-")[0] if deployment else made_by) == name
        return number

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
