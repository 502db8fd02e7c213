"""Which workload was probably meant, where there is none of the kind and name that was written."""

from ..decisions.probably_meant import group_meant
from ..ledger.ledger_reader import LedgerReader
from ..names.close_names import LONGEST, MOST_NAMES, close_names
from ..pods.pod_facts import DEPLOYMENT, POD
from ..pods.pod_record import PodRecord
from ..steps import Steps
from .asked_workload import AT_A_TIME, POD_GROUP, AskedWorkload


def workload_meant(ledger: LedgerReader, asked: AskedWorkload) -> Steps[str]:
    """The same name of another kind, as `Deployment/chat`; else the closest name of the same kind.
    Empty if none is close, or if there are more than a thousand. Only what the operator knows in
    the same namespace: no other name is told. Costs by the pods and workloads of that namespace.
    """
    if len(asked.name) > LONGEST:
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
        self._same_kind: set[str] = set()
        self._other_kind = ""

    def see(self, kind: str, name: str) -> None:
        """There is such an object."""
        asked = self._asked
        if kind != asked.kind:
            if name == asked.name:
                self._other_kind = self._other_kind or kind
        elif len(self._same_kind) <= MOST_NAMES:
            self._same_kind.add(name)

    def meant(self) -> str:
        """As `workload_meant` says it."""
        written = self._asked.name
        if self._other_kind:
            return f"{self._other_kind}/{written}"
        return next(iter(close_names(written, self._same_kind)), "")
