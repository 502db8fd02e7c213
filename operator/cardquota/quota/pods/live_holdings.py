"""What the pods of each ReplicaSet hold of a queue, and those of each DaemonSet on each node: the
parts that a rolling update replaces one by the other (R6).
"""

from typing import Final, NamedTuple

from ..amounts import is_card
from ..selectors.selector import NODE_NAME, NODE_SELECTOR_IN, decode
from .pod_facts import PodFacts, State
from .pod_record import PodRecord

REPLICA_SET: Final = "ReplicaSet"
DAEMON_SET: Final = "DaemonSet"


class UpdatePart(NamedTuple):
    """What a pod is one of."""

    namespace: str
    kind: str
    """REPLICA_SET or DAEMON_SET."""
    name: str
    node: str = ""
    """The node that a DaemonSet's pod is on, or is made for."""


def part_of(facts: PodFacts) -> UpdatePart | None:
    """None: the pod is of nothing whose updates start a new pod first."""
    if facts.controller == REPLICA_SET:
        return UpdatePart(facts.namespace, REPLICA_SET, facts.controller_name)
    if facts.controller != DAEMON_SET:
        return None
    node = facts.node or _node_meant(facts.selector)
    return UpdatePart(facts.namespace, DAEMON_SET, facts.controller_name, node) if node else None


def _node_meant(selector: bytes) -> str:
    """The node that its controller has made a pod for; empty if it names none, or several."""
    terms = decode(selector).terms if selector else None
    named = {
        name
        for term in terms or ()
        for field in term.match_fields or ()
        if field.key == NODE_NAME and field.operator == NODE_SELECTOR_IN
        for name in field.values or ()
    }
    return named.pop() if len(named) == 1 else ""


class _Holding:
    """Of one part in one queue."""

    __slots__ = ("cards", "holders", "pods")

    def __init__(self) -> None:
        self.pods = 0
        """Those at the gate included."""
        self.holders = 0
        """Those that are let through or bound."""
        self.cards: dict[str, int] = {}
        """What these hold."""


class LiveHoldings:
    """Pods that are being deleted count for nothing here. Adding a pod, and each question, costs by
    the pod's own cards.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, UpdatePart], _Holding] = {}
        """By queue and part."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        self._count(record, 1)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        self._count(record, -1)

    def pods(self, queue: str, part: UpdatePart) -> int:
        """How many pods are there, those at the gate included."""
        found = self._found.get((queue, part))
        return found.pods if found is not None else 0

    def holders(self, queue: str, part: UpdatePart) -> int:
        """How many of them are let through or bound."""
        found = self._found.get((queue, part))
        return found.holders if found is not None else 0

    def held(self, queue: str, part: UpdatePart, card: str) -> int:
        """Cards that these hold."""
        found = self._found.get((queue, part))
        return found.cards.get(card, 0) if found is not None else 0

    def _count(self, record: PodRecord, sign: int) -> None:
        facts = record.facts
        part = part_of(facts) if not facts.terminating else None
        if part is None:
            return
        key = record.queue, part
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _Holding()
        found.pods += sign
        if facts.state is not State.GATED or record.assumed is not None:
            found.holders += sign
            for card, amount in record.charge:
                if is_card(card):
                    total = found.cards.pop(card, 0) + sign * amount
                    if total:
                        found.cards[card] = total
        if not found.pods:
            del self._found[key]
