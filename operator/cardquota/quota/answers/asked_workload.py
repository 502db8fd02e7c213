"""Which pods and which group somebody asks about, and which workload was probably meant."""

from typing import NamedTuple

from ..close_names import close_names
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import DEPLOYMENT, POD, PodFacts
from ..pods.pod_record import ChargeState, PodRecord, SortKey
from ..steps import Steps
from .answer_forms import PodNumbers
from .waiting import POD_GROUP

JOB = "Job"
AT_A_TIME = 256
"""Members that one step looks at."""


class AskedWorkload(NamedTuple):
    """What somebody asks about."""

    kind: str
    namespace: str
    name: str
    volcano: bool | None = None
    """Of a Job: whether it is Volcano's. None: either."""

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    def has_made(self, facts: PodFacts) -> bool:
        """Whether a pod of its namespace is it, or one of its pods."""
        if self.kind == POD:
            return facts.name == self.name
        if self.kind == DEPLOYMENT:
            return (facts.workload_kind, facts.workload) == (DEPLOYMENT, self.name)
        if facts.controller != self.kind or facts.controller_name != self.name:
            return False
        return self.kind != JOB or self.volcano in (None, facts.of_volcano_job)


class AskedPods:
    """Its unfinished pods that concern us, added up."""

    def __init__(self) -> None:
        self.running = self.released = self.waiting = 0
        self.first: PodRecord | None = None
        """The one that is told of: the first in the order of release that waits, else one without a
        node, else one on a node; one that is being deleted only if all are."""
        self._rank: tuple[bool, bool, bool, SortKey] | None = None

    def add(self, record: PodRecord) -> None:
        """One more."""
        on_node = record.charge_state is ChargeState.ALLOCATED
        self.running += on_node
        self.released += record.held and not on_node
        self.waiting += not record.held
        rank = (record.facts.terminating, record.held, on_node, record.sort_key)
        if self._rank is None or rank < self._rank:
            self.first, self._rank = record, rank

    def numbers(self, lacking: int) -> PodNumbers:
        """As they are told."""
        return PodNumbers(
            running=self.running,
            released=self.released,
            waiting=self.waiting,
            lacking=lacking,
        )


def pods_of(ledger: LedgerReader, asked: AskedWorkload) -> Steps[AskedPods]:
    """Costs by the pods of its namespace; those of a group by its members."""
    found = AskedPods()
    if asked.kind == POD_GROUP:
        group = ledger.groups.get(asked.key)
        uids = list(group.members) if group is not None else []
        for start in range(0, len(uids), AT_A_TIME):
            records = map(ledger.pods.get, uids[start : start + AT_A_TIME])
            for record in filter(None, records):
                found.add(record)
            yield
        return found

    def look(record: PodRecord) -> None:
        if asked.has_made(record.facts):
            found.add(record)

    for queue in ledger.made_pods.queues_in(asked.namespace):
        yield from ledger.made_pods.each_in(queue, asked.namespace, look)
    return found


def group_of(ledger: LedgerReader, asked: AskedWorkload) -> PodGroupState | None:
    """The group that is asked about, or that Volcano has made for a Job of its, by its name."""
    if asked.kind == POD_GROUP:
        return ledger.groups.get(asked.key)
    if asked.kind == JOB and asked.volcano is not False:
        return ledger.groups.get(next(iter(ledger.job_groups.of(asked.key)), ""))
    return None


def workload_meant(ledger: LedgerReader, asked: AskedWorkload) -> Steps[str]:
    """The same name of another kind, as `Deployment/chat`; else the closest name of the same kind;
    empty if none is close. Only what the operator knows in the same namespace: no other name is
    told. Costs by the pods, workloads and groups.
    """
    found = set(ledger.workloads.names_in(asked.namespace))
    groups = [key for key, group in ledger.groups.items() if group.facts is not None]
    names = (key.partition("/") for key in groups)
    found |= {(POD_GROUP, name) for namespace, _, name in names if namespace == asked.namespace}
    yield

    def look(record: PodRecord) -> None:
        facts = record.facts
        found.add((POD, facts.name))
        found.add((facts.workload_kind, facts.workload))
        found.add((facts.controller, facts.controller_name))

    for queue in ledger.made_pods.queues_in(asked.namespace):
        yield from ledger.made_pods.each_in(queue, asked.namespace, look)
    for kind, name in sorted(found):
        if name == asked.name and kind not in ("", asked.kind):
            return f"{kind}/{name}"
    same = [name for kind, name in found if kind == asked.kind]
    return next(iter(close_names(asked.name, same)), "")
