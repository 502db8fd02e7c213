"""Which workload was probably meant, where there is none of the kind and name that was written."""

from heapq import nsmallest
from typing import Final

from ..decisions.probably_meant import group_meant
from ..ledger.ledger_reader import LedgerReader
from ..names.known_names import LONGEST_OBJECT, KnownNames
from ..pods.pod_facts import DEPLOYMENT, POD
from ..pods.pod_record import PodRecord
from ..steps import Steps
from .asked_workload import AT_A_TIME, POD_GROUP, AskedWorkload

MOST_ALIKE: Final = 4_096
"""Names that begin or end as the written one, and are kept to be compared by their lengths."""
_COMPARED: Final = 64
"""Names that are compared: those of the most similar lengths."""
_LONGEST_COMMON: Final = 3
_PER_COMMON: Final = 6
"""A name has to begin or end as the written one: with one character, and one more for each six of
the written name, three at most."""


def workload_meant(ledger: LedgerReader, asked: AskedWorkload) -> Steps[str]:
    """The same name of another kind, as `Deployment/chat`; else the nearest name of the same kind.
    Empty if none is near. Only what the operator knows in the same namespace: no other name is
    told.

    Costs by the pods and workloads of that namespace. Not guaranteed where thousands of names begin
    or end alike: that the nearest is found.
    """
    if len(asked.name) > LONGEST_OBJECT:
        return ""
    key = f"{asked.namespace}/{asked.name}"
    if asked.kind == POD_GROUP:
        meant = group_meant(ledger, key)
        if meant:
            return meant
    elif (group := ledger.groups.get(key)) is not None and group.facts is not None:
        return f"{POD_GROUP}/{asked.name}"
    names = _Names(asked)
    workloads = ledger.workloads.names_in(asked.namespace)
    for start in range(0, len(workloads), AT_A_TIME):
        for kind, name in workloads[start : start + AT_A_TIME]:
            names.see(kind, name)
        yield

    def look(record: PodRecord) -> None:
        facts = record.facts
        names.see(POD, facts.name)
        if facts.controller:
            names.see(facts.controller, facts.controller_name)
        if facts.workload_kind == DEPLOYMENT:
            names.see(DEPLOYMENT, facts.workload)

    for queue in ledger.made_pods.queues_in(asked.namespace):
        yield from ledger.made_pods.each_in(queue, asked.namespace, look)
    return names.meant()


class _Names:
    """The names of a namespace that may have been meant."""

    def __init__(self, asked: AskedWorkload) -> None:
        self._asked = asked
        common = min(_LONGEST_COMMON, 1 + len(asked.name) // _PER_COMMON)
        self._start, self._end = asked.name[:common], asked.name[-common:]
        self._alike: set[str] = set()
        self._other_kind = ""

    def see(self, kind: str, name: str) -> None:
        """There is such an object."""
        asked = self._asked
        if kind != asked.kind:
            if name == asked.name:
                self._other_kind = self._other_kind or kind
        elif name != asked.name and len(self._alike) < MOST_ALIKE and self._is_alike(name):
            self._alike.add(name)

    def _is_alike(self, name: str) -> bool:
        return name.startswith(self._start) or name.endswith(self._end)

    def meant(self) -> str:
        """As `workload_meant` says it."""
        written = self._asked.name
        if self._other_kind:
            return f"{self._other_kind}/{written}"
        known = KnownNames()
        for name in nsmallest(_COMPARED, self._alike, key=lambda one: _order(written, one)):
            known.add(name)
        return next((one.name for one in known.near(written)), "")


def _order(written: str, name: str) -> tuple[int, str]:
    return abs(len(name) - len(written)), name
