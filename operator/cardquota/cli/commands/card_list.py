"""The cards of a cluster, by the operator's own state: nodes and queues in, a list out.

Guarantees: what is counted, by which resource name, and what is not counted and why, is what an
operator finds that starts now with the same configuration (D1-D9, Q3, Q4). No I/O.

Not guaranteed: what a long-running operator remembers. Of two nodes that disagree about a card the
first stays (D7); here that is the first one that was put in.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...quota.accounts.queue_facts import own_status, queue_facts
from ...quota.cards.vendor_table import VendorTable
from ...quota.ledger.groups.group_facts import namespace_facts
from ...quota.ledger.ledger import Ledger
from ...quota.messages import report_messages
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.cluster import DeviceClass, Namespace
from ...quota.objects.node import Node
from ...quota.objects.queue import Queue
from ...quota.pods.pod_facts import DEVICE_CLASS_PREFIX
from ...quota.vocabulary import GPU_MEMORY
from ..reading import without_row

Problem = dict[str, str]
"""What is wrong, as `problem`, with what is named, as the list is printed for programs."""


@dataclass(frozen=True, slots=True)
class CardLine:
    """One card. Amounts are cards."""

    name: str
    resource: str | None
    """What Kubernetes counts for it. None: known from no node and no queue's status."""
    allocatable: int
    nodes: int
    """The number of nodes that offer it."""
    quota: int | None
    """Of all queues together (Q3). None, here and below: the queues could not be read."""
    queues: int | None
    """The number of queues with a quota above zero."""
    oversold: int | None
    """The quota beyond what is allocatable."""
    allocated: int | None = None
    """Of all queues together, as the operator has published it; also None if it has not."""
    inqueue: int | None = None
    """The same of what is reserved for pod groups."""
    queue_names: tuple[str, ...] | None = ()
    """Those with a quota above zero, by name."""


@dataclass(frozen=True, slots=True)
class CardList:
    """The whole list. Each part is sorted by name, a node's problems in the order of its event."""

    nodes: int
    """The number of nodes, with or without cards."""
    queues: int | None
    """The number of queues. None: they could not be read."""
    cards: list[CardLine] = field(default_factory=list)
    not_counted: list[Problem] = field(default_factory=list)
    """By `node`: why cards of it are not counted, in the words of its event (D7, D9)."""
    without_row: list[Problem] = field(default_factory=list)
    """By `card`: its `resource` is in no vendor row, and the consequence (D6)."""
    unreadable_quotas: list[Problem] = field(default_factory=list)
    """By `queue`: why its quota cannot be read, in the words of its condition (Q4)."""
    claimed: list[Problem] = field(default_factory=list)
    """By `device_class`: the resource names that claim its devices, which no quota counts (P7)."""
    unknown_modes: list[Problem] = field(default_factory=list)
    """By `namespace`: why its label enforces nothing, in the words of its event."""
    notes: list[str] = field(default_factory=list)


class CardCount:
    """Takes objects of all kinds in any order. An unreadable one affects no other."""

    def __init__(self, vendors: VendorTable) -> None:
        self.notes: list[str] = []
        """What the reader of the list has to know."""
        self.queues_readable = True
        self._ledger = Ledger(vendors)
        self._nodes = self._queues = 0
        self._not_counted: list[Problem] = []
        self._unreadable: list[Problem] = []
        self._classes: dict[str, str] = {}
        self._allocated: Counter[str] = Counter()
        self._inqueue: Counter[str] = Counter()

    def take_node(self, node: Node) -> None:
        """Count the cards of a node."""
        try:
            self._ledger.node_seen(node_facts(node, self._ledger.vendors))
            self._nodes += 1
        except (ValueError, TypeError) as error:
            self.leave_out_node(node.metadata.name, str(error))

    def take_queue(self, queue: Queue) -> None:
        """Count the quota of a queue."""
        try:
            facts = queue_facts(queue)
        except (ValueError, TypeError) as error:
            self.leave_out_queue(queue.metadata.name, str(error))
            return
        self._ledger.queue_seen(facts)
        self._queues += 1
        for row in own_status(queue).cards or ():
            for total, published in (self._allocated, row.allocated), (self._inqueue, row.inqueue):
                if published is not None:
                    total[row.name] += _amount(published)
        if facts.quota_problem:
            text = report_messages.quota_unreadable(facts.quota_problem, kept=bool(facts.recorded))
            self._unreadable.append({"queue": facts.name, "problem": text})

    def take_device_class(self, found: DeviceClass) -> None:
        """Note the resource names that claim devices of a class."""
        self._classes[found.metadata.name] = found.spec.extended_resource_name or ""

    def take_namespace(self, found: Namespace) -> None:
        """Note an unknown value of the label."""
        self._ledger.namespace_seen(namespace_facts(found))

    def leave_out_node(self, name: str, error: str) -> None:
        """The node exists, but nothing of it can be read."""
        self._nodes += 1
        self._not_counted.append({"node": name, "problem": f"the node cannot be read: {error}"})

    def leave_out_queue(self, name: str, error: str) -> None:
        """The queue exists, but nothing of it can be read."""
        self._queues += 1
        self._unreadable.append({"queue": name, "problem": f"the queue cannot be read: {error}"})

    def listed(self) -> CardList:
        """The list, each part sorted by name."""
        nodes = self._ledger.nodes
        spread = nodes.nodes_with()
        rows: dict[str, dict[str, int]] = {}
        for account in self._ledger.accounts():
            for card, amount in account.quota.items():
                rows.setdefault(card, {})[account.name] = amount
        problems = [{"node": node, "problem": problem} for node, problem in nodes.problems]
        cards = sorted(spread.keys() | rows.keys())
        return CardList(
            nodes=self._nodes,
            queues=self._queues if self.queues_readable else None,
            cards=[self._line(card, spread.get(card, 0), rows.get(card, {})) for card in cards],
            not_counted=sorted([*problems, *self._not_counted], key=lambda found: found["node"]),
            without_row=[
                {"card": card, "resource": resource, "problem": without_row(resource)}
                for card, resource in cards_without_row(self._ledger, cards)
            ],
            unreadable_quotas=sorted(self._unreadable, key=lambda found: found["queue"]),
            claimed=list(self._claimed()),
            unknown_modes=list(self._unknown_modes()),
            notes=list(self.notes),
        )

    def _claimed(self) -> Iterator[Problem]:
        """Leaves out a class's resource name that also counts a card: it counts as that card."""
        for name, resource in sorted(self._classes.items()):
            resources = [DEVICE_CLASS_PREFIX + name]
            if resource and not self._ledger.counts(resource):
                resources.append(resource)
            problem = (
                f"no quota counts devices asked for as {' or '.join(resources)}; pods that ask for "
                "them are refused in namespaces labelled `enforced`, and admitted elsewhere"
            )
            yield {"device_class": name, "problem": problem}

    def _unknown_modes(self) -> Iterator[Problem]:
        for name, facts in sorted(self._ledger.unknown_modes.items()):
            problem = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
            yield {"namespace": name, "problem": problem}

    def _line(self, card: str, nodes: int, rows: dict[str, int]) -> CardLine:
        readable, allocatable = self.queues_readable, self._ledger.nodes.total(card)
        quota = sum(rows.values())
        named = tuple(sorted(name for name, amount in rows.items() if amount > 0))
        return CardLine(
            name=card,
            resource=self._ledger.catalog.resource(card),
            allocatable=allocatable,
            nodes=nodes,
            quota=quota if readable else None,
            queues=len(named) if readable else None,
            oversold=max(0, quota - allocatable) if readable else None,
            allocated=self._allocated.get(card) if readable else None,
            inqueue=self._inqueue.get(card) if readable else None,
            queue_names=named if readable else None,
        )


def _amount(published: object) -> int:
    """What cannot be an amount counts as none."""
    return published if type(published) is int and published > 0 else 0


def cards_without_row(ledger: Ledger, cards: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Of these cards those whose resource name is in no vendor row, each with that name: for them
    the API server does not recognise pods without annotations (D6).
    """
    for card in cards:
        resource = ledger.catalog.resource(card)
        if resource is None or resource == GPU_MEMORY:  # that is recognised by itself (B10)
            continue
        if ledger.vendors.owner(resource) is None:
            yield card, resource
