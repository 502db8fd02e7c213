"""In which class a waiting pod is."""

from ..pending.gang import Gang
from ..pods.pod_record import PodRecord
from ..vocabulary import Mode
from .class_key import ClassKey
from .groups.pod_group_state import PodGroupState
from .ledger_state import LedgerState


def task_of(group: PodGroupState | None, record: PodRecord) -> str:
    """The pod's task, where its gang needs some of it to start; else empty. So however many tasks
    pods name, few of them make classes of their own.
    """
    task = record.facts.task
    return task if task and group is not None and task in group.tasks else ""


def class_key_of(state: LedgerState, record: PodRecord) -> tuple[ClassKey, Gang | None]:
    """The key of a pod's class; and its gang, or its group with a reservation, if it has one."""
    facts, request = record.facts, record.request
    group = state.groups.get(facts.group) if facts.group else None
    agrees = facts.own_queue in ("", record.queue)
    # What a reservation covers changes with every other member, of a gang or not any more. While
    # one is being written none of them goes.
    reserves = group is not None and (group.reservation is not None or group.being_reserved)
    together = group is not None and (group.gang or reserves)
    mode = state.mode_in(facts.namespace)
    # Where nothing is enforced nobody waits for anybody.
    gang = group if together and mode is Mode.ENFORCE else None
    group_key = gang.key if gang is not None else None
    if group is not None and (group.facts is None or reserves or not agrees):
        group_key = group.key
    unread = None
    if request is None or not request.cards:
        unread = (facts.card_text, facts.selector, facts.devices)
    account = state.account(record.queue)
    kept_out = account and account.facts and not account.facts.admits(facts.namespace)
    key = ClassKey(
        request,
        mode,
        facts.namespace if kept_out else None,
        group_key,
        task_of(group, record) if gang is not None else "",
        gang is None,
        None if agrees else facts.own_queue,
        facts.problem,
        state.gets_group(facts),
        unread,
    )
    return key, gang
