"""Pods that are being deleted, hold quota, and should have been gone for long (R7).

The time at which a pod should be gone stands on it: the grace period is counted in.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..messages import stuck_messages
from ..pods.pod_record import PodRecord
from .stuck_finding import StuckFinding, StuckKind

AT_A_TIME: Final = 256
"""Pods that one step looks at: a fraction of a millisecond."""


class NodeState(StrEnum):
    """How the node of such a pod stands. The value is the reason of the finding."""

    GONE = "NodeGone"
    NOT_READY = "NodeNotReady"
    READY = "StillStopping"
    NONE = "NeverBound"
    UNKNOWN = "NodeNotKnown"
    """It was not read."""


class StuckPod(NamedTuple):
    """A pod as it was when it was found. Between two steps it may change."""

    record: PodRecord
    since: int
    """Seconds since 1970."""
    age: int
    """Seconds."""


def late_to_end(ledger: LedgerReader, now: float, after: float) -> Iterator[StuckPod | None]:
    """Those that should have been gone for `after` seconds; None after each step. Costs by the
    pods that are being deleted.

    Left out are pods outside every queue, which hold nobody's quota, and those whose time cannot
    be read. `now`: seconds since 1970.
    """
    uids = list(ledger.being_deleted)
    for first in range(0, len(uids), AT_A_TIME):
        for uid in uids[first : first + AT_A_TIME]:
            record = ledger.pods.get(uid)
            if record is None or not record.held or record.queue == OUTSIDE:
                continue
            since = record.facts.gone_by
            if since is not None and now - since > after:
                yield StuckPod(record, since, int(now - since))
        yield None


def describe_late(ledger: LedgerReader, found: StuckPod, *, knows_nodes: bool) -> StuckFinding:
    """In words. `knows_nodes`: whether all nodes were read. If not, one that is
    not there need not be gone.
    """
    record, facts = found.record, found.record.facts
    state = node_state(ledger, facts.node)
    if state is NodeState.GONE and not knows_nodes:
        state = NodeState.UNKNOWN
    cards = {name: amount for name, amount in record.charge if is_card(name)}
    held = list(cards.items()) or list(record.charge)
    why, advice = _TEXTS[state]
    return StuckFinding(
        finding=StuckKind.TERMINATING,
        kind="Pod",
        namespace=facts.namespace,
        name=facts.name,
        queue=record.queue,
        cards=cards,
        since=found.since,
        age=found.age,
        node=facts.node,
        reason=state.value,
        what=stuck_messages.late_to_end(record.queue, held, found.age),
        why=stuck_messages.of_node(facts.node, why) if facts.node else why,
        advice=advice,
    )


def node_state(ledger: LedgerReader, node: str) -> NodeState:
    """How a node stands now."""
    if not node:
        return NodeState.NONE
    facts = ledger.nodes.get(node)
    if facts is None:
        return NodeState.GONE
    return NodeState.READY if facts.ready else NodeState.NOT_READY


_TEXTS: Final = {
    NodeState.GONE: (stuck_messages.NODE_GONE, stuck_messages.ADVICE_GONE_NODE),
    NodeState.NOT_READY: (stuck_messages.NODE_NOT_READY, stuck_messages.ADVICE_DEAD_NODE),
    NodeState.READY: (stuck_messages.NODE_READY, stuck_messages.ADVICE_READY_NODE),
    NodeState.NONE: (stuck_messages.NO_NODE, stuck_messages.ADVICE_NO_NODE),
    NodeState.UNKNOWN: (stuck_messages.NODE_NOT_KNOWN, stuck_messages.ADVICE_UNKNOWN_NODE),
}
