"""The pods of one queue in one namespace, by the controller that made them."""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Final

from ..steps import Steps
from .pod_record import PodRecord

_Charged = dict[PodRecord, int]
"""Pods, each with a number that says which of two was charged first."""


class ControllerIndex:
    """Says how many pods each controller has, and which.

    A change costs a few steps. Finding the pods of a workload costs by them and by the controllers
    of their kind.
    """

    def __init__(self, charged: Iterable[tuple[PodRecord, int]]) -> None:
        self._by_kind: dict[str, dict[str, _Charged]] = {}
        """By kind of controller and its name."""
        self._numbers: dict[tuple[str, str], int] = {}
        for record, number in charged:
            self._put(record, number)
        for kind, names in self._by_kind.items():
            for name, pods in names.items():
                self._count(kind, name, sum(not one.facts.terminating for one in pods))

    @property
    def numbers(self) -> Mapping[tuple[str, str], int]:
        """How many pods that are not being deleted each controller has, by its kind and name; and
        each Deployment, as far as names tell: those of all ReplicaSets `<its name>-<any word>`.
        """
        return self._numbers

    def add(self, record: PodRecord, number: int) -> None:
        """A pod with a controller."""
        self._put(record, number)
        facts = record.facts
        if not facts.terminating:
            self._count(facts.controller, facts.controller_name, 1)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        facts = record.facts
        names = self._by_kind[facts.controller]
        pods = names[facts.controller_name]
        del pods[record]
        if not pods:
            del names[facts.controller_name]
            if not names:
                del self._by_kind[facts.controller]
        if not facts.terminating:
            self._count(facts.controller, facts.controller_name, -1)

    def of(self, kind: str, named: Callable[[str], bool]) -> list[PodRecord]:
        """The pods whose controller has this kind and a name that `named` accepts, in the order in
        which they were charged.
        """
        names = self._by_kind.get(kind, {})
        found = [pods for name, pods in names.items() if named(name)]
        if len(found) == 1:
            return list(found[0])
        numbered = {record: number for pods in found for record, number in pods.items()}
        return sorted(numbered, key=numbered.__getitem__)

    def _put(self, record: PodRecord, number: int) -> None:
        facts = record.facts
        names = self._by_kind.get(facts.controller)
        if names is None:
            names = self._by_kind[facts.controller] = {}
        pods = names.get(facts.controller_name)
        if pods is None:
            names[facts.controller_name] = {record: number}
        else:
            pods[record] = number

    def _count(self, kind: str, name: str, more: int) -> None:
        self._count_for((kind, name), more)
        if kind == "ReplicaSet":
            self._count_for(("Deployment", name.rpartition("-")[0]), more)

    def _count_for(self, key: tuple[str, str], more: int) -> None:
        number = self._numbers.get(key, 0) + more
        if number:
            self._numbers[key] = number
        else:
            self._numbers.pop(key, None)


AT_A_TIME: Final = 256
"""Pods that one step looks at: a fraction of a millisecond."""
FEW: Final = 2_000
"""Pods that are looked at in one step all the same, in some milliseconds."""
MANY: Final = 2_500
"""Pods of which an index is kept that was made when they were few. Not as many as may become one:
else it would be made anew each time one pod more comes and goes."""
INDEXED: Final = 32
"""Queues and namespaces whose pods are indexed at a time: then the one that was asked for longest
ago is forgotten."""
_NOTHING: Final[Mapping[tuple[str, str], int]] = {}
_Key = tuple[str, str]
"""Queue and namespace."""


class PodsByController:
    """Pods by the queue they are charged to and their namespace. Those without a controller are
    kept apart, and only `each_of` and `each_in` have them.

    Those of one controller are found by an index. An entry for each controller would take more
    memory than the pods, if each pod has its own; so there is an index only where somebody asked,
    and where there are few. Where there are many, finding them costs by the pods of that queue in
    that namespace.

    Names are compared, not uids, and kinds without API group: a Job of another group with the same
    name counts as the same.
    """

    def __init__(self) -> None:
        self._found: dict[_Key, dict[PodRecord, int]] = {}
        """In the order they were charged, with a number that says which of two came first."""
        self._alone: dict[_Key, dict[PodRecord, None]] = {}
        """Those without a controller."""
        self._namespaces: dict[str, dict[str, None]] = {}
        """By queue: the namespaces with pods of either kind."""
        self._indexes: dict[_Key, ControllerIndex] = {}
        """The one that was asked for last is the last. None is kept of more than MANY pods."""
        self._next = count()

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        facts = record.facts
        key = record.queue, facts.namespace
        self._namespaces.setdefault(record.queue, {})[facts.namespace] = None
        if not facts.controller:
            self._alone.setdefault(key, {})[record] = None
            return
        there = self._found.setdefault(key, {})
        number = there[record] = next(self._next)
        index = self._indexes.get(key)
        if index is None:
            return
        if len(there) > MANY:
            del self._indexes[key]
        else:
            index.add(record, number)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        facts = record.facts
        key = record.queue, facts.namespace
        if not facts.controller:
            alone = self._alone[key]
            del alone[record]
            if not alone:
                del self._alone[key]
                self._forget_empty(key)
            return
        there = self._found[key]
        del there[record]
        index = self._indexes.get(key)
        if index is not None:
            index.discard(record)
        if not there:
            del self._found[key]
            self._indexes.pop(key, None)
            self._forget_empty(key)

    def _forget_empty(self, key: _Key) -> None:
        if key in self._found or key in self._alone:
            return
        queue, namespace = key
        namespaces = self._namespaces[queue]
        del namespaces[namespace]
        if not namespaces:
            del self._namespaces[queue]

    @property
    def indexed(self) -> list[_Key]:
        """Of which queues and namespaces there is an index; what was asked for last is the last."""
        return list(self._indexes)

    def number_in(self, queue: str, namespace: str) -> int:
        """How many pods there are of all controllers."""
        return len(self._found.get((queue, namespace), ()))

    def numbers(self, queue: str, namespace: str) -> Mapping[tuple[str, str], int] | None:
        """How many pods each controller has there that are not being deleted, by its kind and name;
        and each Deployment, as far as names tell: those of all ReplicaSets `<its name>-<any word>`.
        It changes with the pods.

        None if these are more than `FEW`, or `MANY` where they have been fewer. Costs in proportion
        to the pods that are there when it is first asked for, and next to nothing from then on.
        """
        key = queue, namespace
        if key not in self._found:
            return _NOTHING
        index = self._index(key)
        return None if index is None else index.numbers

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
        index = self._index(key)
        found = list(self._found.get(key, ())) if index is None else index.of(kind, named)
        for first in range(0, len(found), AT_A_TIME):
            there = self._found.get(key, {})
            for record in found[first : first + AT_A_TIME]:
                facts = record.facts
                if facts.controller == kind and record in there and named(facts.controller_name):
                    do(record)
            yield

    def each_of(self, queue: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """Call `do` for each pod of a queue. What is said of `each` about pods that come, change
        and go holds here too.
        """
        for namespace in list(self._namespaces.get(queue, ())):
            yield from self.each_in(queue, namespace, do)

    def each_in(self, queue: str, namespace: str, do: Callable[[PodRecord], None]) -> Steps[None]:
        """The same for the pods of a queue in one namespace."""
        key = queue, namespace
        for some in (self._found, self._alone):
            found = list(some.get(key, ()))
            for first in range(0, len(found), AT_A_TIME):
                there = some.get(key, {})
                for record in found[first : first + AT_A_TIME]:
                    if record in there:
                        do(record)
                yield

    def queues_in(self, namespace: str) -> list[str]:
        """The queues of the pods in a namespace. Costs a step for each queue that has pods."""
        return [queue for queue, there in self._namespaces.items() if namespace in there]

    def _index(self, key: _Key) -> ControllerIndex | None:
        """None of none, and of too many."""
        index = self._indexes.pop(key, None)
        if index is None:
            there = self._found.get(key, {})
            if not 0 < len(there) <= FEW:
                return None
            index = ControllerIndex(there.items())
            if len(self._indexes) >= INDEXED:
                del self._indexes[next(iter(self._indexes))]
        self._indexes[key] = index
        return index
