"""Which workloads that lack refused pods have room for some of them now, in the order of release.

Pure questions to the ledger: nothing is charged here. Pods that wait at their gates go first: what
is free after the release is for those that were refused.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import SortKey
from ..pods.workload_facts import WorkloadFacts, pod_of_template, template_of
from .create_judgement import ToCome, number_admitted


@dataclass(slots=True, frozen=True)
class RefusedWorkload:
    """A workload that lacks pods since we refused some."""

    facts: WorkloadFacts
    pod: PodFacts
    """The pod that it would make."""
    queue: str
    sort_key: SortKey


def refused_workload(ledger: LedgerReader, facts: WorkloadFacts) -> RefusedWorkload | None:
    """None if its pods are not known."""
    template = template_of(facts)
    if template is None:
        return None
    priority = ledger.priorities.get(template.spec.priority_class_name or "", 0)
    namespace, kind, maker = facts.namespace, facts.kind, facts.name
    pod = pod_of_template(template, namespace, kind, ledger.defaults, maker=maker)
    place = SortKey.alone(-priority, facts.created, facts.name, facts.uid)
    return RefusedWorkload(facts, pod, ledger.queue_of(pod), place)


def with_room(
    ledger: LedgerReader, queue: str, sleepers: Iterable[RefusedWorkload], to_come: ToCome
) -> Iterator[tuple[RefusedWorkload, int] | None]:
    """Those of a queue for which there is room, and for how many of their pods; None after each
    step that finds none. `sleepers`: in the order in which they are to be asked.

    `to_come`: pods that are expected. Those that are found here count, too. Between two steps the
    ledger may change.
    """
    expected = list(to_come)
    without_room: set[Hashable] = set()
    for one in sleepers:
        request = ledger.request_of(one.pod, queue)
        # Whom a queue lets in follows from the namespace too, and what is reserved from the group.
        # What may be borrowed follows from the workload (R6).
        account = ledger.account(queue)
        lends = account is not None and account.facts is not None and account.facts.surge
        alike = request, one.pod.namespace, one.pod.group, one.facts.uid if lends else ""
        number = 0
        if alike not in without_room:
            number = number_admitted(ledger, one.pod, queue, one.facts.missing, expected)
        if number:
            expected.append((request, number))
            yield one, number
        else:
            without_room.add(alike)
            yield None
