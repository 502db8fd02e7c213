"""What admission, decisions, reports and metrics may do with the ledger: ask."""

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE, AccountReader, QuotaTotals
from ..amounts import NO_AMOUNTS, Amounts, Charge, canonical
from ..cards.card import Card, Catalog
from ..cards.card_memory import CardMemory
from ..cards.vendor import Vendor, vendor_behind
from ..cards.vendor_table import VendorTable
from ..kept_objects import KeptObjects
from ..limits import (
    IDLE_GROUPS,
    IDLE_GROUPS_OF_ONE,
    QUEUES,
    WAITING_PODS,
    WAITING_PODS_OF_ONE,
)
from ..nodes.node_cache import NodeCache
from ..plan_record import PlanRecord
from ..pods.owner_kinds import POLICY_BY_OWNER
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord, kept_size
from ..pods.pod_request import PodRequest, Reading, Readings, card_devices
from ..pods.queue_pods import HeldCards, QueuePods
from ..pods.workload_cache import WorkloadCache
from ..pods.workload_facts import KINDS
from ..verdict import mode_of
from ..vocabulary import (
    CPU,
    GPU_MEMORY,
    MEMORY,
    NAMESPACE_UNCOVERED,
    SYSTEM_CLASSES,
    Mode,
    Policy,
    QueueState,
)
from .groups.group_facts import NamespaceFacts, made_for_pods
from .groups.pod_group_state import PodGroupState
from .lending import Lending
from .shares import Shares

_NAMED_QUEUE: Final = 7_000
"""Bytes of the account of a queue that only a pod names."""
_NAMED_GROUP: Final = 3_000
"""Bytes of a group that only a pod names."""


@dataclass(slots=True, frozen=True, kw_only=True)
class LedgerSettings:
    """The settings that decide how what is known is read."""

    default_queue: str = ""
    """Of pods with cards that name none (section 2)."""
    exempt_cpu_memory: bool = False
    """Whether pods with cards are charged no cpu and memory (P6)."""
    audit: bool = False
    """Whether nothing is enforced anywhere where a namespace does not ask for it."""
    exempt: frozenset[str] = frozenset()
    """Namespaces whose pods are never reviewed. As in audit mode nothing is enforced there."""
    labelled: bool = False
    """Whether only namespaces are covered whose label says so (section 2)."""
    require_namespaces: bool = False
    """Whether a queue without `card.namespaces` is open to no namespace."""
    enqueues: bool = True
    """Whether groups are enqueued before their pods are there (E1). Where Volcano runs, only those
    are that it asks about (V3)."""
    makes_groups: bool = False
    """Whether Volcano's controllers run, which give a group to pods without one (V8)."""
    policy_by_owner: Mapping[str, Policy] = field(default_factory=lambda: POLICY_BY_OWNER)
    """By kind of a pod's controller (section 2). Of kinds that are not in it pods are refused."""
    group_priority_classes: frozenset[str] = frozenset()
    """Those that count for groups without pods; none: all but those of the system (E6)."""
    memory_by_row: bool = False
    """Whether only queues with a row for card memory may have some (B9)."""
    lends_what_is_there: bool = False
    """Whether of every oversold card a queue gets more than it deserves only while that is there,
    also where nothing of it is kept for others (L2)."""


class KeptRoom(NamedTuple):
    """For whom cards are kept, since pods end for it (L5)."""

    namespace: str
    name: str
    group: bool
    """Whether it is a pod group."""
    cards: frozenset[str]
    queue: str = ""
    """In which alone they are kept; empty: in all queues."""

    @property
    def places(self) -> AbstractSet[tuple[str, str]]:
        """Each card, with that queue."""
        return {(card, self.queue) for card in self.cards}


class GroupIndex:
    """Pod groups by one thing that each of them has: the queue that it names, say. In the order in
    which they were first seen there; each group in one place. Each event costs a few steps.
    """

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        self._where: dict[str, str] = {}
        """By key of a group: where it is."""

    def see(self, key: str, where: str) -> None:
        """A group, by its `namespace/name`, is there now; empty: nowhere."""
        before = self._where.get(key, "")
        if where == before:
            return
        if before:
            del self._where[key]
            keys = self._keys[before]
            del keys[key]
            if not keys:
                del self._keys[before]
        if where:
            self._where[key] = where
            self._keys.setdefault(where, {})[key] = None

    def of(self, where: str) -> Collection[str]:
        """`namespace/name` of those that are there."""
        return self._keys.get(where, ())

    def all(self) -> Iterator[tuple[str, str]]:
        """Each group, with where it is."""
        return iter(self._where.items())


class LedgerReader:
    """The ledger without all that charges, assumes, or takes events (section 6, "one writer").

    That admission never charges is therefore a matter of types: it is given no more than this.
    Not guaranteed: that what it hands out, such as the cache of nodes, cannot be changed.
    """

    shares: Shares
    """What each queue deserves of each card (W1)."""
    lending: Lending
    """What each queue may hold of the cards that are lent (L2)."""
    pods: Mapping[str, PodRecord]
    """By uid: all that are not finished and use cards, or whose queue counts them."""
    groups: Mapping[str, PodGroupState]
    """By `namespace/name`."""
    namespaces: Mapping[str, NamespaceFacts]
    unknown_modes: Mapping[str, NamespaceFacts]
    """Those of them whose label says something that means nothing."""
    accounts_by_queue: Mapping[str, AccountReader]
    priorities: Mapping[str, int]
    """Values of priority classes."""
    misplaced: AbstractSet[str]
    """Uids of bound pods whose stamp says other cards than they are charged for (E3)."""
    unnoted: AbstractSet[str]
    """Uids of pods that came past admission, on which it does not stand yet where they are
    charged, or that nothing was enforced there (I3)."""
    being_deleted: Mapping[str, None]
    """Uids of pods that are being deleted."""
    plans: Mapping[str, PlanRecord]
    """By uid of a waiting pod, or `namespace/name` of a group: what ends for it, as stored (L5)."""
    kept_rooms: Mapping[str, KeptRoom]
    """By uid of the pod, or `namespace/name` of the group, for which alone cards are released now,
    in all queues or in one (L5)."""
    unplaced: Collection[str]
    """Uids of pods that we released, and for which a scheduler has found no node (L3)."""
    workloads: WorkloadCache
    """What makes pods that concern us. Nothing is charged for it."""

    def __init__(self, vendors: VendorTable, settings: LedgerSettings, *, bounded: bool) -> None:
        """`bounded`: whether the sums of what is kept have limits (P8)."""
        self.settings = settings
        self.vendors = vendors
        self.fixes_queues = False
        """Whether what came past admission is fixed in its queue when it is seen (I3)."""
        self.catalog = Catalog()
        """The kinds of cards."""
        self.device_classes: dict[str, str] = {}
        """By DeviceClass: its resource name beside the one that follows from its own (P7)."""
        self.quotas = QuotaTotals(memory_by_row=settings.memory_by_row)
        """Of all queues together."""
        self.nodes = NodeCache(self.catalog)
        self.card_memory = CardMemory()
        """Which card of its node each pod by memory holds."""
        self.made_pods = QueuePods()
        """The pods of each queue, by namespace and what made them."""
        self.held_cards = HeldCards()
        """Who holds the cards of each queue, by namespace and workload."""
        self.queue_groups = GroupIndex()
        """Which groups name each queue."""
        self.namespace_groups = GroupIndex()
        """Which groups exist in each namespace."""
        self.reserved_groups = GroupIndex()
        """For which groups something is reserved in each queue."""
        self.job_groups = GroupIndex()
        """Which groups Volcano has made for a Job, by `namespace/name` of that."""
        self.defaults = PodDefaults()
        """What pods get when they are created that a template does not say."""
        self.kept_pods = KeptObjects(WAITING_PODS, WAITING_PODS_OF_ONE, bounded=bounded)
        """Pods without a node that no stamp charges, by uid (P8)."""
        self.kept_groups = KeptObjects(IDLE_GROUPS, IDLE_GROUPS_OF_ONE, bounded=bounded)
        """Pod groups of which nothing has begun, by `namespace/name`."""
        self.kept_queues = KeptObjects(QUEUES, QUEUES, bounded=bounded)
        """Queues, by name."""
        self._readings = Readings()

    @property
    def overdue(self) -> bool:
        """Whether an event changed pods that are still to be re-read."""
        return False

    def account(self, queue: str) -> AccountReader | None:
        """The totals of a queue, or of a name that pods are charged to without one."""
        return self.accounts_by_queue.get(queue)

    def accounts(self) -> Iterator[AccountReader]:
        """All of them, the one outside every queue included."""
        return iter(self.accounts_by_queue.values())

    def counts(self, resource: str) -> bool:
        """Whether a resource name counts cards, by the vendor table or by a node. That of card
        memory does while some quota has a row for it (B10).
        """
        if resource == GPU_MEMORY:
            return self.quotas.limits_memory
        return self.vendors.owner(resource) is not None or self.catalog.counts(resource)

    def in_any_quota(self, card: str) -> bool:
        """Whether some queue has a row for this card."""
        return self.quotas.has(card)

    def is_known(self, card: str) -> bool:
        """Whether a node has shown this card, a Queue's status recorded it, or a quota has it. If
        not, it is a name that somebody wrote, and everybody may write another one.
        """
        return self.quotas.has(card) or self.catalog.resource(card) is not None

    def counts_for_groups(self, priority_class: str) -> bool:
        """Whether a group without pods has the priority of this class, if it names it (E6). No
        admission asks whether its writer may use the class.
        """
        if priority_class.startswith(SYSTEM_CLASSES):
            return False
        return (
            not self.settings.group_priority_classes
            or priority_class in self.settings.group_priority_classes
        )

    def uses_cards(self, facts: PodFacts) -> bool:
        """Whether a pod asks for a card or names one."""
        return facts.card_text is not None or bool(card_devices(facts, self))

    def claims_devices(self, facts: PodFacts) -> bool:
        """Whether a pod claims devices that no quota counts (P7).

        What counts as a card is none, though a DeviceClass has the same resource name: a vendor row
        or a node tells that it is one, or the pod, which then is led to nodes with that card alone.
        """
        if facts.claims_devices or not self.device_classes:
            return facts.claims_devices
        given = self.device_classes.values()
        others = dict(facts.devices).keys() - dict(card_devices(facts, self))
        return any(resource in given for resource in others)

    def queue_of(self, facts: PodFacts) -> str:
        """The queue a pod belongs to, or OUTSIDE (section 2)."""
        if facts.group:
            group = self.groups.get(facts.group)
            if group is not None and group.facts is not None and group.facts.queue:
                return group.facts.queue
        if facts.own_queue:
            return facts.own_queue
        namespace = self.namespaces.get(facts.namespace)
        if not self.uses_cards(facts) or self.mode_in(facts.namespace) is Mode.OFF:
            return OUTSIDE
        return (namespace.queue if namespace else "") or self.settings.default_queue

    def mode_in(self, namespace: str) -> Mode:
        """How strict we are with the pods of a namespace."""
        found = self.namespaces.get(namespace)
        audit = self.settings.audit or namespace in self.settings.exempt
        return mode_of(audit=audit, namespace=found.mode if found else "")

    def policy_of(self, facts: PodFacts, queue: str) -> Policy:
        """What happens to this pod when it is over quota now but could fit later (section 2)."""
        if facts.of_volcano_job:
            return Policy.GATE
        account = self.accounts_by_queue.get(queue)
        if account is not None and account.facts is not None and account.facts.policy is not None:
            return account.facts.policy
        return self.policy_by_controller(facts)

    def policy_by_controller(self, facts: PodFacts) -> Policy:
        """The policy of a pod whose queue has none."""
        group = self.groups.get(facts.group) if facts.group else None
        if group is not None and group.gang:
            return Policy.GATE
        return Policy.GATE if self.is_batch(facts) else Policy.DENY

    def is_batch(self, facts: PodFacts) -> bool:
        """Whether something made the pod whose pods wait by default."""
        if facts.of_batch_tool:
            return True
        return self.settings.policy_by_owner.get(facts.controller) is Policy.GATE

    def owner_unknown(self, facts: PodFacts, queue: str) -> bool:
        """Whether a pod is refused because nobody has said what its controller's kind is for."""
        account = self.accounts_by_queue.get(queue)
        unsaid = account is None or account.facts is None or account.facts.policy is None
        return unsaid and facts.controller not in self.settings.policy_by_owner

    def knows_queue_of(self, facts: PodFacts) -> bool:
        """Whether all was seen that decides which queue a pod names: its namespace and its group.
        Their news may come after the pod's. In a namespace that is not covered nothing decides it.
        """
        group = self.groups.get(facts.group)
        seen = not facts.group or (group is not None and group.facts is not None)
        namespace = self.namespaces.get(facts.namespace)
        return seen and namespace is not None and namespace.mode != NAMESPACE_UNCOVERED

    def may_be_charged(self, facts: PodFacts) -> bool:
        """Whether a queue is charged for the pod, or could be for what others write. A group that
        Volcano made gives no queue (V5).
        """
        group = facts.group.partition("/")[2]
        named = facts.own_queue or (group and not made_for_pods(group))
        return bool(named) or self.uses_cards(facts)

    def gets_group(self, facts: PodFacts) -> bool:
        """Whether Volcano will give the pod a group, which may be a gang (V8): a pod of a workload,
        as only the workload says how many start together. Whoever waits for it is told after a
        while.
        """
        waits = self.settings.makes_groups and facts.of_volcano and not facts.group
        return waits and facts.controller in KINDS

    def needs_nothing_yet(self, group: PodGroupState) -> bool:
        """Whether the pods of a group may be created without anything being reserved (E1): they are
        not all there, and it says nothing of what they will ask for, or nothing here would hold
        them up.
        """
        facts = group.facts
        if facts is None or not self.settings.enqueues or group.complete:
            return False
        if not facts.queue or self.mode_in(facts.namespace) is not Mode.ENFORCE:
            return True
        if facts.request:
            return False
        account = self.accounts_by_queue.get(facts.queue)
        queue = account.facts if account is not None else None
        if queue is None or queue.state is not QueueState.OPEN:
            return False
        return queue.admits(facts.namespace)

    def request_of(self, facts: PodFacts, queue: str) -> PodRequest:
        """What an unbound pod asks of a queue."""
        return self.reading_of(facts, self.accounts_by_queue.get(queue)).request

    def reading_of(self, facts: PodFacts, account: AccountReader | None) -> Reading:
        """What an unbound pod asks of a queue, and what is wrong with that."""
        quota, mark = (account.quota, account.quota_mark) if account else (NO_AMOUNTS, None)
        nodes = self.nodes
        version = (
            self.catalog.version,
            self.quotas.version,
            nodes.selection.version,
            nodes.counted_version,
        )
        free = self.settings.exempt_cpu_memory
        return self._readings.of(facts, quota, mark, self, version, exempt_cpu_memory=free)

    def with_cpu_memory(self, facts: PodFacts, queue: str, cards: Amounts) -> Charge:
        """These cards, and the pod's cpu and memory where its queue counts them (P6)."""
        amounts = dict(cards)
        free = self.settings.exempt_cpu_memory and any(amounts.values())
        if queue != OUTSIDE and not free:
            amounts[CPU], amounts[MEMORY] = facts.cpu, facts.memory
        return canonical(amounts)

    def known_card(self, name: str, resource: str) -> Card:
        """The card's definition: as a node showed it, or else as its vendor's rule has it."""
        card = self.catalog.card(name)
        if card is not None:
            return card
        # Never without labels: an open gate that asks for no card could lead to any (P5).
        return self.vendor_of(resource).card(name, resource)

    def vendor_of(self, resource: str) -> Vendor:
        """Whose cards a resource name counts, by the vendor table or else by the plain rule."""
        return self.vendors.owner(resource) or vendor_behind(resource)

    def is_missing(self, queue: str) -> bool:
        """Whether who names this queue waits for it, and is told so: also who asks for nothing."""
        account = self.accounts_by_queue.get(queue)
        return account is None or account.facts is None

    def rooms_kept_in(self, queue: str) -> Mapping[str, KeptRoom]:
        """By card that a queue does not release to all now: for whom it does (L5). There may be
        two: what other queues give is for one, what the queue gives to itself for another.
        """
        rooms = [room for room in self.kept_rooms.values() if room.queue in ("", queue)]
        return {card: room for room in rooms for card in room.cards}

    @property
    def kept(self) -> Mapping[str, KeptObjects]:
        """All that have a limit together, by kind: `pods`, `podgroups`, `queues`, `workloads`."""
        return {
            "pods": self.kept_pods,
            "podgroups": self.kept_groups,
            "queues": self.kept_queues,
            "workloads": self.workloads.kept,
        }

    def named_queue_size(self, queue: str) -> int:
        """Bytes that are kept of a queue that does not exist, for whoever names it."""
        return _NAMED_QUEUE if queue and self.is_missing(queue) else 0

    def kept_pod_size(self, facts: PodFacts) -> int:
        """Bytes that are kept of a pod without a node, and for what it alone names (P8)."""
        size = kept_size(facts) + self.named_queue_size(facts.own_queue)
        if facts.group:
            group = self.groups.get(facts.group)
            size += _NAMED_GROUP if group is None or group.facts is None else 0
        return size

    @property
    def with_volcano(self) -> bool:
        """Whether Volcano schedules here."""
        return not self.settings.enqueues
