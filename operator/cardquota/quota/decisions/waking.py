"""Which workloads that lack refused pods have room for some of them now, in the order of release.

Pure questions to the ledger: nothing is charged here. Pods that wait at their gates go first: what
is free after the release is for those that were refused.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..accounts.account_reader import AccountReader
from ..effect import Effect, effect_of
from ..ledger.groups.pod_group_state import set_aside
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import SortKey
from ..pods.pod_request import PodRequest
from ..verdict import Outcome
from ..workloads.workload_facts import WorkloadFacts, pod_of, template_of
from .create_judgement import ToCome, on_the_way
from .judgement import judge_new
from .room import room_for


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
    pod = pod_of(facts, facts.kind, ledger.defaults)
    if template is None or pod is None:
        return None
    priority = ledger.priority_of(template.spec.priority_class_name or "")
    place = SortKey(-priority, facts.created, facts.name, facts.uid)
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
    without_room: set[PodRequest] = set()
    for one in sleepers:
        account = ledger.account(queue)
        if account is None or account.facts is None:
            return
        request = ledger.request_of(one.pod, queue)
        number = 0
        if request not in without_room and _was_refused(ledger, one.pod, queue):
            number = _room(ledger, account, one, request, expected)
            if not number:
                without_room.add(request)
        if number:
            expected.append((request, number))
            yield one, number
        else:
            yield None


def _was_refused(ledger: LedgerReader, pod: PodFacts, queue: str) -> bool:
    """Whether a pod without room is refused at all, and does not wait at the gate or pass."""
    policy, mode = ledger.policy_of(pod, queue), ledger.mode_in(pod.namespace)
    return effect_of(Outcome.WAITS, policy, mode) is Effect.DENY


def _room(
    ledger: LedgerReader,
    account: AccountReader,
    one: RefusedWorkload,
    request: PodRequest,
    expected: ToCome,
) -> int:
    """For how many of the pods that it lacks there is room beside those that are expected."""
    way = on_the_way(ledger, account, to_come=expected)
    if not judge_new(ledger, one.pod, on_the_way=way).fits:
        return 0
    group = ledger.groups.get(one.pod.group) if one.pod.group else None
    with set_aside(group, account):
        return room_for(account, request, one.facts.missing, on_the_way=way)[0]
