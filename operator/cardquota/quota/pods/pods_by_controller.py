"""The pods of each controller: those that a workload counts as its own."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from ..steps import Steps
from .pod_record import PodRecord

AT_A_TIME: Final = 256
"""Pods that one step looks at: a fraction of a millisecond."""
FEW: Final = 2_000
"""Pods that are looked at in one step all the same, in about two milliseconds."""
_NOTHING: Final[Mapping[tuple[str, str], int]] = {}


class PodsByController:
    """Pods with a controller, by the queue they are charged to and their namespace.

    Finding those of one controller costs in proportion to the pods of that queue in that namespace.
    An entry for each controller would take more memory than the pods, if each pod has its own.
    Names are compared, not uids, and kinds without API group: a Job of another group with the same
    name counts as the same.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[PodRecord, None]] = {}
        """By queue and namespace, in the order they were charged."""
        self._numbers: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
        """The answers of `numbers` to whose pods nothing has happened since."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        facts = record.facts
        if facts.controller:
            key = record.queue, facts.namespace
            self._found.setdefault(key, {})[record] = None
            self._numbers.pop(key, None)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        facts = record.facts
        if facts.controller:
            key = (record.queue, facts.namespace)
            self._found[key].pop(record, None)
            self._numbers.pop(key, None)
            if not self._found[key]:
                del self._found[key]

    def number_in(self, queue: str, namespace: str) -> int:
        """How many pods there are of all controllers: `each` goes through these."""
        return len(self._found.get((queue, namespace), ()))

    def numbers(self, queue: str, namespace: str) -> Mapping[tuple[str, str], int] | None:
        """How many pods each controller has there that are not being deleted, by its kind and name;
        and each Deployment, as far as names tell: those of all ReplicaSets `<its name>-<any word>`.

        None if these are more than `FEW`. Costs in proportion to the pods that are there, and
        nothing if none of them has changed since the last time.
        """
        key = queue, namespace
        there = self._found.get(key)
        if there is None:
            return _NOTHING
        if len(there) > FEW:
            return None
        found = self._numbers.get(key)
        if found is None:
            pods = (record.facts for record in there)
            found = self._numbers[key] = Counter(
                (one.controller, one.controller_name) for one in pods if not one.terminating
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
        """Call `do` for each pod whose controller has this kind and a name that `named` accepts.

        In the order in which they were charged. Between two steps pods may come, change and go. A
        pod that comes meanwhile is left out, and so is one that goes before its turn.
        """
        key = queue, namespace
        found = list(self._found.get(key, ()))
        for first in range(0, len(found), AT_A_TIME):
            there = self._found.get(key, {})
            for record in found[first : first + AT_A_TIME]:
                facts = record.facts
                if facts.controller == kind and record in there and named(facts.controller_name):
                    do(record)
            yield
