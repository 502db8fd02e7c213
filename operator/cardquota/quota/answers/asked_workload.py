"""Which pods and which group somebody asks about."""

from typing import Final, NamedTuple

from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pods.charge_state import ChargeState
from ..pods.pod_facts import DEPLOYMENT, POD, PodFacts
from ..pods.pod_record import PodRecord
from ..steps import Steps

POD_GROUP: Final = "PodGroup"
JOB: Final = "Job"
AT_A_TIME: Final = 256
"""Members that one step looks at."""


class AskedWorkload(NamedTuple):
    """What somebody asks about."""

    kind: str
    namespace: str
    name: str
    volcano: bool | None = None
    """Of a Job: whether it is Volcano's. None: either."""

    def has_made(self, facts: PodFacts) -> bool:
        """Whether a pod of its namespace is it, or one of its pods."""
        if self.kind == POD:
            return facts.name == self.name
        if self.kind == DEPLOYMENT:
            return (facts.workload_kind, facts.workload) == (DEPLOYMENT, self.name)
        if facts.controller != self.kind or facts.controller_name != self.name:
            return False
        return self.kind != JOB or self.volcano in (None, facts.gives_up)


class AskedPods:
    """Its unfinished pods that concern us, added up."""

    def __init__(self) -> None:
        self.running = 0
        """On a node."""
        self.let_through = 0
        """Their gates are open and they have no node yet."""
        self.waiting = 0
        """At our gate."""
        self.first_waiting: PodRecord | None = None
        """The first in the order in which pods are released. One that is being deleted only if all
        that wait are."""
        self.all_end = False
        """Whether that one was being deleted when it was looked at."""
        self.first_held: PodRecord | None = None
        """One without a node, or else one on a node; one that is being deleted only if all are."""

    def add(self, record: PodRecord) -> None:
        """One more."""
        if record.charge_state is ChargeState.ALLOCATED:
            self.running += 1
        elif record.held:
            self.let_through += 1
        if record.held:
            held = self.first_held
            if held is None or _is_told_before(record, held):
                self.first_held = record
        else:
            self.waiting += 1
            first = self.first_waiting
            if first is None or _goes_before(record, first):
                self.first_waiting, self.all_end = record, record.facts.terminating

    @property
    def total(self) -> int:
        """All of them."""
        return self.running + self.let_through + self.waiting


def _goes_before(one: PodRecord, other: PodRecord) -> bool:
    # Whoever is being deleted waits for nothing.
    mine = one.facts.terminating, one.sort_key
    return mine < (other.facts.terminating, other.sort_key)


def _is_told_before(one: PodRecord, other: PodRecord) -> bool:
    mine = one.facts.terminating, one.charge_state is ChargeState.ALLOCATED
    return mine < (other.facts.terminating, other.charge_state is ChargeState.ALLOCATED)


def pods_of(ledger: LedgerReader, asked: AskedWorkload) -> Steps[AskedPods]:
    """Costs by the pods of its namespace."""
    found = AskedPods()

    def look(record: PodRecord) -> None:
        if asked.has_made(record.facts):
            found.add(record)

    for queue in ledger.made_pods.queues_in(asked.namespace):
        yield from ledger.made_pods.each_in(queue, asked.namespace, look)
    return found


def members_of(group: PodGroupState) -> Steps[AskedPods]:
    """The same of a group's members."""
    found = AskedPods()
    uids = list(group.members)
    for start in range(0, len(uids), AT_A_TIME):
        for uid in uids[start : start + AT_A_TIME]:
            record = group.members.get(uid)
            if record is not None:
                found.add(record)
        yield
    return found


def group_of_job(ledger: LedgerReader, asked: AskedWorkload) -> PodGroupState | None:
    """The group that Volcano has made for a Job of its, by its name."""
    if asked.kind != JOB or asked.volcano is False:
        return None
    return ledger.groups.get(ledger.job_groups.of(asked.namespace, asked.name))
