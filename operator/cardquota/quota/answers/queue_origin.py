"""Why a pod is in the queue that it is in (section 2)."""

from enum import StrEnum
from typing import NamedTuple

from ..accounts.account import OUTSIDE
from ..ledger.ledger_reader import LedgerReader
from ..messages import origin_messages
from ..pods.pod_facts import PodFacts


class QueueSource(StrEnum):
    """What has named the queue."""

    STAMP = "Charged"
    GROUP = "PodGroup"
    OWN = "Annotation"
    NAMESPACE = "Namespace"
    CONFIGURATION = "Configuration"
    NOBODY = "None"


class QueueOrigin(NamedTuple):
    """`text` says it in words."""

    source: QueueSource
    text: str


def origin_of(ledger: LedgerReader, facts: PodFacts, queue: str) -> QueueOrigin:
    """Why a pod with these facts is in `queue`: in the order in which a queue is looked for."""
    if queue == OUTSIDE:
        return QueueOrigin(QueueSource.NOBODY, origin_messages.no_queue_named())
    if (facts.stamp or facts.fixed_queue) and ledger.queue_of(facts) != queue:
        return QueueOrigin(QueueSource.STAMP, origin_messages.queue_by_stamp(queue))
    group = ledger.groups.get(facts.group) if facts.group else None
    if group is not None and group.facts is not None and group.facts.queue == queue:
        return QueueOrigin(QueueSource.GROUP, origin_messages.queue_by_group(queue, group.key))
    if facts.own_queue == queue:
        return QueueOrigin(QueueSource.OWN, origin_messages.queue_by_annotation(queue))
    namespace = ledger.namespaces.get(facts.namespace)
    if namespace is not None and namespace.queue == queue:
        text = origin_messages.queue_by_namespace(queue, facts.namespace)
        return QueueOrigin(QueueSource.NAMESPACE, text)
    return QueueOrigin(QueueSource.CONFIGURATION, origin_messages.queue_by_configuration(queue))
