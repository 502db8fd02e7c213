"""The cards of a cluster, by the operator's own state: nodes and queues in, a list out.

Guarantees: what is counted, by which resource name, and what is not counted and why, is what an
operator finds that starts now with the same configuration (D1-D9, Q3, Q4). No I/O.

Not guaranteed: what a long-running operator remembers. Of two nodes that disagree about a card the
first stays (D7); here that is the first one that was put in.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

from ...quota.accounts.queue_facts import own_status
from ...quota.ledger.ledger import Ledger
from ...quota.messages import report_messages
from ...quota.objects.cluster import DeviceClass
from ...quota.objects.queue import Queue
from ...quota.pods.pod_facts import DEVICE_CLASS_PREFIX
from ...quota.vocabulary import GPU_MEMORY
from ...settings import Settings
from ..read_ledger import ReadLedger, empty_ledger
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
    """Counts what is read of a cluster, or of files."""

    def __init__(self, settings: Settings) -> None:
        self.notes: list[str] = []
        """What the reader of the list has to know."""
        noted: dict[str, Callable[[Any], None]] = {
            "queues": self._note_published,
            "deviceclasses": self._note_class,
        }
        self.read: Final = ReadLedger(empty_ledger(settings), noted=noted)
        self._ledger = self.read.ledger
        self._classes: dict[str, str] = {}
        self._allocated: Counter[str] = Counter()
        self._inqueue: Counter[str] = Counter()

    def _note_published(self, queue: Queue) -> None:
        for row in own_status(queue).cards or ():
            for total, published in (self._allocated, row.allocated), (self._inqueue, row.inqueue):
                if published is not None:
                    total[row.name] += _amount(published)

    def _note_class(self, found: DeviceClass) -> None:
        self._classes[found.metadata.name] = found.spec.extended_resource_name or ""

    def listed(self) -> CardList:
        """The list, each part sorted by name."""
        nodes, readable = self._ledger.nodes, "queues" not in self.read.unread
        spread = nodes.nodes_with()
        rows: dict[str, dict[str, int]] = {}
        for account in self._ledger.accounts():
            for card, amount in account.quota.items():
                rows.setdefault(card, {})[account.name] = amount
        problems = [{"node": node, "problem": problem} for node, problem in nodes.problems]
        cards = sorted(spread.keys() | rows.keys())
        return CardList(
            nodes=self.read.number["nodes"],
            queues=self.read.number["queues"] if readable else None,
            cards=[self._line(card, spread.get(card, 0), rows.get(card, {})) for card in cards],
            not_counted=sorted([*problems, *self._left_out("node")], key=itemgetter("node")),
            without_row=[
                {"card": card, "resource": resource, "problem": without_row(resource)}
                for card, resource in cards_without_row(self._ledger, cards)
            ],
            unreadable_quotas=sorted(
                [*self._unreadable(), *self._left_out("queue")], key=itemgetter("queue")
            ),
            claimed=list(self._claimed()),
            unknown_modes=list(self._unknown_modes()),
            notes=list(self.notes),
        )

    def _left_out(self, what: str) -> Iterator[Problem]:
        for one in self.read.unreadable:
            if one.kind == f"{what}s":
                yield {what: one.name, "problem": f"the {what} cannot be read: {one.error}"}

    def _unreadable(self) -> Iterator[Problem]:
        for account in self._ledger.accounts():
            facts = account.facts
            if facts is not None and facts.quota_problem:
                text = report_messages.quota_unreadable(
                    facts.quota_problem, kept=bool(facts.recorded)
                )
                yield {"queue": facts.name, "problem": text}

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
        readable = "queues" not in self.read.unread
        allocatable = self._ledger.nodes.total(card)
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
