"""`cardquota cards`: read nodes and queues of files, or of a cluster as its user; count by the
operator's own state, print.

Guarantees: what is counted, by which resource name, and what is not counted and why, is what an
operator finds that starts now with the same configuration (D1-D9, Q3, Q4).

Not guaranteed: what a long-running operator remembers. Of two nodes that disagree about a card the
first stays (D7); here that is the first one that was put in.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

import msgspec
import typer
from rich.text import Text

from ...quota.accounts.queue_facts import own_status
from ...quota.ledger.ledger import Ledger
from ...quota.messages import report_messages
from ...quota.objects.cluster import DeviceClass
from ...quota.objects.queue import Queue
from ...quota.pods.pod_facts import DEVICE_CLASS_PREFIX
from ...quota.vocabulary import GPU_MEMORY
from ...quota.words import counted, listed, show
from ...settings import Settings
from ..output import ClusterChoice, Output
from ..printing import failed, print_data, print_lines, table
from ..read_ledger import ReadLedger, empty_ledger, kinds_of
from ..reading import NOT_FOUND, ClusterError, client_of, done, without_row
from ..simulate.inventory import sort_documents, struct_of
from ..simulate.yaml_files import YamlFileError, read_files

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


MOST_NAMED: Final = 4
"""Nodes, or cards, with the same problem that one line names. The rest are counted."""
_COLUMNS: Final = ("CARD", "RESOURCE", "ALLOCATABLE", "QUOTA", "QUEUES", "NODES", "OVERSOLD")
_WIDE_COLUMNS: Final = ("ALLOCATED", "INQUEUE", "QUOTA IN")
_NOTHING: Final = "-"


def cards(
    settings: Settings,
    *,
    files: Sequence[str],
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """List them. Errors: typer.Exit, if they could not be listed."""
    try:
        found = from_files(files, settings) if files else done(from_cluster(cluster, settings))
    except YamlFileError as error:
        raise typer.Exit(failed(error)) from None
    if output.is_data:
        print_data(msgspec.to_builtins(found), output)
    else:
        print_lines(lines(found, wide=output is Output.WIDE))


def lines(found: CardList, *, wide: bool = False) -> Iterator[Text]:
    """The list for people: notes, the cards, what is not counted, what is in no vendor row, what
    cannot be read, what is claimed from DeviceClasses, which labels have unknown values. `wide`: of
    each card also what is in use, and the queues that have a quota of it.
    """
    for note in found.notes:
        yield Text(f"note: {note}", style="dim")
    if found.notes:
        yield Text()
    if found.cards:
        head = _COLUMNS + _WIDE_COLUMNS if wide else _COLUMNS
        yield from table(
            [head, *(_row(card) + (_more(card) if wide else ()) for card in found.cards)]
        )
    else:
        yield Text("No cards.")
    yield from _headed("Not counted:", _alike("node", found.not_counted))
    yield from _headed("In no vendor row:", _alike("card", found.without_row))
    quotas = (f"{show(one['queue'])}: {one['problem']}" for one in found.unreadable_quotas)
    yield from _headed("Quotas that cannot be read:", quotas)
    claimed = (f"{show(one['device_class'])}: {one['problem']}" for one in found.claimed)
    yield from _headed("Claimed from DeviceClasses:", claimed)
    modes = (one["problem"] for one in found.unknown_modes)
    yield from _headed("Labels of namespaces that mean nothing:", modes)


def _headed(head: str, texts: Iterable[str]) -> Iterator[Text]:
    """Nothing where there is no text."""
    for number, text in enumerate(texts):
        if not number:
            yield Text()
            yield Text(head, style="yellow")
        yield Text(f"  {text}")


def _row(card: CardLine) -> tuple[str, ...]:
    def shown(amount: int | None) -> str:
        return _NOTHING if amount is None else str(amount)

    return (
        show(card.name),
        show(card.resource or _NOTHING),
        str(card.allocatable),
        shown(card.quota),
        shown(card.queues),
        str(card.nodes),
        shown(card.oversold or None),
    )


def _more(card: CardLine) -> tuple[str, ...]:
    amounts = (_NOTHING if one is None else str(one) for one in (card.allocated, card.inqueue))
    return (*amounts, listed(card.queue_names) if card.queue_names else _NOTHING)


def _alike(what: str, found: Iterable[Problem]) -> Iterator[str]:
    """One line for all nodes, or cards, with the same problem. The most frequent comes first."""
    alike: dict[str, list[str]] = {}
    for one in found:
        alike.setdefault(one["problem"], []).append(one[what])
    for problem, names in sorted(alike.items(), key=lambda item: -len(item[1])):
        yield f"{listed(names, most=MOST_NAMED)}: {problem}"


_COUNTED: Final = ("nodes", "queues")
_BESIDE: Final = ("namespaces", "deviceclasses")
"""Without them there is a list all the same."""


def from_files(files: Iterable[str], settings: Settings) -> CardList:
    """The cards of YAML files. Objects of other kinds are skipped. Raises YamlFileError."""
    count = CardCount(settings)
    every = kinds_of(count.read.ledger)
    kinds = {every[name].struct: every[name] for name in (*_COUNTED, *_BESIDE)}
    documents = read_files(files)
    ours = [one for one in documents if struct_of(one) in kinds]
    inventory = sort_documents(ours)
    count.notes += inventory.notes
    if len(ours) < len(documents):
        others = counted(len(documents) - len(ours), "object")
        count.notes.append(f"{others} of other kinds skipped: they say nothing of cards")
    for struct, kind in kinds.items():
        for found in inventory.of(struct):
            count.read.take(kind, found)
    return count.listed()


async def from_cluster(cluster: ClusterChoice, settings: Settings) -> CardList:
    """The cards of a cluster. Needs the right to list nodes.

    If Queues do not exist as a kind, or the user may not list them, they are left out with a note.
    Namespaces and DeviceClasses that the user may not list are left out without a note; if it is
    something else that keeps them from being listed, a note says what.
    Errors: AccessError, ClusterError.
    """
    count = CardCount(settings)
    kinds = kinds_of(count.read.ledger)
    async with client_of(cluster) as client:
        for name in _COUNTED:
            await count.read.read(client, kinds[name])
            count.read.need("nodes")
        for name in _BESIDE:
            try:
                await count.read.read(client, kinds[name])
            except ClusterError as error:
                count.notes.append(str(error))
    if (why := count.read.unread.get("queues")) is not None:
        none = "the cluster has no definition of Queue"
        count.notes.append(f"{none if why.status == NOT_FOUND else why}: no quotas are shown")
    return count.listed()
