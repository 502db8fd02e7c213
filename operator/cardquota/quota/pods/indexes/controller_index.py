"""The pods of one queue in one namespace, by the controller that made them."""

from collections.abc import Callable, Iterable, Mapping

from ..pod_record import PodRecord

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
