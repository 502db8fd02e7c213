"""What the ledger knows, and what can be asked of it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from sys import maxsize
from typing import Final

from ..accounts.account import OUTSIDE, Account, AccountReader
from ..accounts.quota_totals import QuotaTotals
from ..amounts import LARGEST, Amounts, Charge, canonical
from ..cards.card import Card
from ..cards.catalog import Catalog
from ..cards.shared_memory import CardMemory
from ..cards.vendor import Vendor, vendor_behind
from ..cards.vendor_table import VendorTable
from ..kept_objects import KeptObjects
from ..limits import (
    IDLE_GROUPS,
    IDLE_GROUPS_OF_ONE,
    QUEUES,
    WAITING_PODS,
    WAITING_PODS_OF_ONE,
    WORKLOADS,
    WORKLOADS_OF_ONE,
    Limit,
)
from ..nodes.node_cache import NodeCache
from ..pods.claims import DeviceClasses
from ..pods.live_holdings import LiveHoldings, UpdatePart
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord, SortKey
from ..pods.pod_request import PodRequest, card_devices
from ..pods.pods_by_controller import PodsByController
from ..pods.queue_users import HeldCards, QueueUsers
from ..pods.reading import Reading, Readings, kept_size
from ..pods.unstamped_pod_index import UnstampedPodIndex
from ..pods.workload_cache import WorkloadCache
from ..pods.workload_facts import KINDS, WorkloadFacts
from ..stamp import Reservation
from ..verdict import mode_of
from ..vocabulary import (
    CPU,
    GPU_MEMORY,
    MEMORY,
    NAMESPACE_OFF,
    SYSTEM_CLASSES,
    Mode,
    Policy,
    QueueState,
)
from .dirty_set import DirtySet
from .groups.group_facts import NamespaceFacts
from .groups.job_groups import JobGroups
from .groups.made_for_pods import made_for_pods
from .groups.pod_group_state import Asks, PodGroupState
from .groups.queue_groups import QueueGroups
from .groups.silent_groups import SilentGroups
from .shares import Shares

_NO_QUOTA: Final[Amounts] = {}
_NAMED_QUEUE: Final = 7_000
"""Bytes of the account of a queue that only a pod names."""
_NAMED_GROUP: Final = 3_000
"""Bytes of a group that only a pod names."""
JOB = "Job"
"""Controller kind whose pods wait rather than being refused, of any API group (section 2)."""


class LedgerState:
    """Everything that is held about the cluster, and the settings that decide how it is read.

    `default_queue`, `exempt_cpu_memory` and `audit` are settings (section 2, P6, mode). `enqueues`:
    whether groups are enqueued before their pods are there (E1). Where Volcano runs, only those
    are that it asks about (V3). `group_priority_classes`: that count for groups without pods; none:
    all but those of the system (E6). `memory_by_row`: whether only queues with a row for card
    memory may have some (B9).
    `makes_groups`: whether Volcano's controllers run, which give a group to pods without one (V8).
    `exempt`: namespaces whose pods are never reviewed. As in audit mode nothing is enforced there.
    `bounded`: whether the sums of what is kept have limits (P8).

    For the ledger's own parts, which change it. Who only asks takes a `LedgerReader`.
    """

    def __init__(
        self,
        vendors: VendorTable,
        *,
        default_queue: str = "",
        exempt_cpu_memory: bool = False,
        audit: bool = False,
        enqueues: bool = True,
        group_priority_classes: Collection[str] = (),
        memory_by_row: bool = False,
        makes_groups: bool = False,
        exempt: Iterable[str] = (),
        bounded: bool = True,
    ) -> None:
        self._exempt = frozenset(exempt)
        self.fixes_queues = False
        """Whether what came past admission is fixed in its queue when it is seen (I3)."""
        self.memory_by_row = memory_by_row
        self._group_priority_classes = frozenset(group_priority_classes)
        self.catalog = Catalog()
        self.nodes = NodeCache(self.catalog)
        self.card_memory = CardMemory()
        """Which card of its node each pod by memory holds."""
        self.device_classes = DeviceClasses()
        self.pods: dict[str, PodRecord] = {}
        self.groups: dict[str, PodGroupState] = {}
        self.namespaces: dict[str, NamespaceFacts] = {}
        self.unknown_modes: dict[str, NamespaceFacts] = {}
        """Those of them whose label says something that means nothing."""
        self.misplaced: set[str] = set()
        """Uids of bound pods whose stamp says other cards than they are charged for (E3)."""
        self.unnoted: set[str] = set()
        """Uids of pods that came past admission, on which it does not stand yet where they are
        charged, or that nothing was enforced there (I3)."""
        self.accounts_by_queue: dict[str, Account] = {}
        self.waiting: dict[str, Account] = {}
        """By name: the accounts in which pods wait, or groups to be enqueued."""
        self.priorities: dict[str, int] = {}
        """Values of priority classes."""
        self.last: dict[tuple[str, str], bool] = {}
        """Queues and namespaces of which reservations ended unused (E8): whether nothing is
        reserved for groups there now; else they go after all others."""
        self.requesting: dict[str, set[str]] = {}
        """By namespace: the keys of groups that say what their minimum will ask for (E1)."""
        self.quotas = QuotaTotals(memory_by_row=memory_by_row)
        """Of all queues together."""
        self._readings = Readings()
        self.unstamped = UnstampedPodIndex()
        """The pods whose charge may still change, by what it depends on."""
        self.made_pods = PodsByController()
        self.held_cards = HeldCards()
        """Who holds the cards of each queue."""
        self.queue_users = QueueUsers()
        """Whose pods use each queue."""
        self.queue_groups = QueueGroups()
        """Which groups name each queue."""
        self.job_groups = JobGroups()
        """Which groups Volcano has made for Jobs."""
        self.reserved_groups = QueueGroups()
        """For which groups something is reserved in each queue."""
        self.defaults = PodDefaults()
        """What pods get when they are created that a template does not say."""
        self.workloads = WorkloadCache(_kept(WORKLOADS, WORKLOADS_OF_ONE, bounded=bounded))
        """What makes pods that concern us. Nothing is charged for it."""
        self.live_holdings = LiveHoldings()
        """What ReplicaSets hold, and DaemonSets on each node."""
        self.borrowing: dict[str, None] = {}
        """Queues that lend cards, and in which pods of these wait (R6)."""
        self.workloads.listen_to_wishes(self._wishes)
        self.being_deleted: dict[str, None] = {}
        """Uids of pods that are being deleted."""
        self.kept_pods = _kept(WAITING_PODS, WAITING_PODS_OF_ONE, bounded=bounded)
        """Pods without a node that no stamp charges, by uid (P8)."""
        self.kept_groups = _kept(IDLE_GROUPS, IDLE_GROUPS_OF_ONE, bounded=bounded)
        """Pod groups of which nothing has begun, by `namespace/name`."""
        self.kept_queues = _kept(QUEUES, QUEUES, bounded=bounded)
        """Queues, by name."""
        self.unconfirmed: dict[str, None] = {}
        """Uids of pods whose decision is not yet seen in an event, or which are held back."""
        self.epoch = 0
        """Changes whenever the set of known cards, or of cards with a row in some quota, does."""
        self.dirty = DirtySet(self.quotas.queues, self._showing)
        self.shares = Shares(
            self.accounts_by_queue, self.quotas, self.nodes, self.dirty.mark_visible
        )
        """What each queue deserves of each card (W1)."""
        self.vendors = vendors
        self._default_queue = default_queue
        self.exempt_cpu_memory = exempt_cpu_memory
        self._audit = audit
        self._enqueues = enqueues
        self._makes_groups = makes_groups
        self.silent_groups = SilentGroups()

    def _showing(self, cards: set[str]) -> Iterator[str]:
        """The names of accounts with a row of any of these cards. O(accounts)."""
        for account in self.accounts_by_queue.values():
            if not (cards.isdisjoint(account.quota) and cards.isdisjoint(account.rows)):
                yield account.name

    def account(self, queue: str) -> Account | None:
        """The totals of a queue, or of a name that pods are charged to without one."""
        return self.accounts_by_queue.get(queue)

    def accounts(self) -> Iterator[Account]:
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

    def cluster_quota(self, card: str) -> int:
        """The quotas of all queues for one card, cards (Q3)."""
        return self.quotas.of(card)

    def priority_of(self, priority_class: str) -> int:
        """The value of a priority class; 0 for one that is not known, or none."""
        return self.priorities.get(priority_class, 0)

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
        cards = {resource for resource, _ in card_devices(facts, self)}
        gives = self.device_classes.gives
        return any(gives(resource) and resource not in cards for resource, _ in facts.devices)

    def queue_of(self, facts: PodFacts) -> str:
        """The queue a pod belongs to, or OUTSIDE (section 2)."""
        if facts.group:
            group = self.groups.get(facts.group)
            if group is not None and group.facts is not None and group.facts.queue:
                return group.facts.queue
        if facts.own_queue:
            return facts.own_queue
        namespace = self.namespaces.get(facts.namespace)
        if not self.uses_cards(facts) or (namespace and namespace.mode == NAMESPACE_OFF):
            return OUTSIDE
        return (namespace.queue if namespace else "") or self._default_queue

    def mode_in(self, namespace: str) -> Mode:
        """How strict we are with the pods of a namespace."""
        found = self.namespaces.get(namespace)
        audit = self._audit or namespace in self._exempt
        return mode_of(audit=audit, namespace=found.mode if found else "")

    def knows_queue_of(self, facts: PodFacts) -> bool:
        """Whether all was seen that decides which queue a pod names: its namespace and its group.
        Their news may come after the pod's.
        """
        group = self.groups.get(facts.group)
        seen = not facts.group or (group is not None and group.facts is not None)
        return seen and facts.namespace in self.namespaces

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
        waits = facts.controller == JOB or (group is not None and group.gang)
        return Policy.GATE if waits else Policy.DENY

    def request_of(self, facts: PodFacts, queue: str) -> PodRequest:
        """What an unbound pod asks of a queue."""
        return self.reading_of(facts, self.accounts_by_queue.get(queue)).request

    def reading_of(self, facts: PodFacts, account: AccountReader | None) -> Reading:
        """What an unbound pod asks of a queue, and what is wrong with that."""
        quota, mark = (account.quota, account.quota_mark) if account else (_NO_QUOTA, None)
        nodes = self.nodes
        version = (
            self.catalog.version,
            self.quotas.version,
            nodes.picks_version,
            nodes.counted_version,
        )
        free = self.exempt_cpu_memory
        return self._readings.of(facts, quota, mark, self, version, exempt_cpu_memory=free)

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
        return _NAMED_QUEUE if queue and self._is_missing(queue) else 0

    def kept_pod_size(self, facts: PodFacts) -> int:
        """Bytes that are kept of a pod without a node, and for what it alone names (P8)."""
        size = kept_size(facts) + self.named_queue_size(facts.own_queue)
        if facts.group:
            group = self.groups.get(facts.group)
            size += _NAMED_GROUP if group is None or group.facts is None else 0
        return size

    def charge_of(self, record: PodRecord, cards: Charge) -> Charge:
        """What a pod would be charged with these cards, cpu and memory included (P6)."""
        return self.with_cpu_memory(record.facts, record.queue, dict(cards))

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

    def with_cpu_memory(self, facts: PodFacts, queue: str, cards: Amounts) -> Charge:
        """These cards, and the pod's cpu and memory where its queue counts them (P6)."""
        amounts = dict(cards)
        free = self.exempt_cpu_memory and any(amounts.values())
        if queue != OUTSIDE and not free:
            amounts[CPU], amounts[MEMORY] = facts.cpu, facts.memory
        return canonical(amounts)

    # --- accounts and groups come and go ----

    def account_for(self, queue: str) -> Account:
        """The queue's account; a new one where there is none."""
        account = self.accounts_by_queue.get(queue)
        if account is None:
            account = self.accounts_by_queue[queue] = Account(queue)
        return account

    def note_waiting(self, account: Account) -> None:
        """To be called after a pod or a group has begun to wait in a queue, or has ended that."""
        if account.pending or account.pending.groups:
            self.waiting[account.name] = account
        else:
            self.waiting.pop(account.name, None)

    def forget_unused(self, account: Account | None) -> None:
        """Drop an account that neither a queue nor a charge needs."""
        if (
            account is not None
            and account.unused
            and self.accounts_by_queue.get(account.name) is account
        ):
            del self.accounts_by_queue[account.name]

    def group_for(self, key: str) -> PodGroupState:
        """The group with this key; a new one where there is none."""
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = PodGroupState(key)
        return group

    def leave_group(self, group: PodGroupState, uid: str) -> None:
        """The pod is no member any more. Drops a group that nothing needs."""
        group.leave(uid)
        if group.unused:
            del self.groups[group.key]
        else:
            self.ask(group)

    def mark_group(self, group: PodGroupState) -> None:
        """The group's members, minimum or reservation changed. Marks as pending the group and each
        queue in which a member waits.
        """
        self.dirty.mark_group(group.key)
        for pending in group.queues:
            pending.gang_changed(group)
            self.dirty.mark_pending(pending.queue)
        self.ask(group)

    def repost(self, group: PodGroupState) -> set[str]:
        """Bring the rest of a group's reservation up to date in the accounts. Returns their queues,
        which are still to be marked.
        """
        queues = group.repost(self.account_for)
        self.reserved_groups.see(group.key, group.rests_in)
        return queues

    def note_request(self, group: PodGroupState) -> None:
        """To be called after what a group asks for has changed, by itself or for a scheduler (V3):
        from then on it is looked at again whenever the mode of its namespace changes.
        """
        namespace = group.key.partition("/")[0]
        if group.facts is not None and group.request:
            self.requesting.setdefault(namespace, set()).add(group.key)
        elif group.key in (keys := self.requesting.get(namespace, set())):
            keys.discard(group.key)
            if not keys:
                del self.requesting[namespace]
        else:
            return
        self.ask(group)

    def ask(self, group: PodGroupState) -> None:
        """Have a group wait to be enqueued, in its queue and at its place, or wait no longer (E1).

        To be called after whatever decides on that has changed: the group, its members and its
        reservation, the mode of its namespace, the value of its priority class.
        """
        asks, before = self._asks(group), group.asks
        if asks == before:
            return
        group.asks = asks
        if before is not None and (asks is None or asks.queue != before.queue):
            account = self.account_for(before.queue)
            account.pending.retire(group)
            self.note_waiting(account)
            self.dirty.mark_pending(before.queue)
            self.forget_unused(account)
        if asks is not None:
            dimensions = asks.request.dimensions
            account = self.account_for(asks.queue)
            account.pending.ask(group, asks.sort_key, dimensions)
            self.note_waiting(account)
            self.dirty.mark_pending(asks.queue)

    def _asks(self, group: PodGroupState) -> Asks | None:
        facts = group.facts
        if facts is None or not group.to_be_enqueued:
            return None
        request = group.request if self._enqueues else group.asked
        if request is None or not (request or self._is_missing(facts.queue)):
            return None
        if self.mode_in(facts.namespace) is not Mode.ENFORCE:
            return None
        last = self.last.get((facts.queue, facts.namespace))
        if last:
            return None
        priority = group.priority if last is None else -LARGEST
        if priority is None:
            counts = self.counts_for_groups(facts.priority_class)
            priority = self.priorities.get(facts.priority_class, 0) if counts else 0
        place = SortKey.alone(-priority, facts.created, facts.name, facts.key)
        return Asks(facts.queue, place, request)

    def counts_for_groups(self, priority_class: str) -> bool:
        """Whether a group without pods has the priority of this class, if it names it (E6). No
        admission asks whether its writer may use the class.
        """
        if priority_class.startswith(SYSTEM_CLASSES):
            return False
        return not self._group_priority_classes or priority_class in self._group_priority_classes

    @property
    def with_volcano(self) -> bool:
        """Whether Volcano schedules here."""
        return not self._enqueues

    def gets_group(self, facts: PodFacts) -> bool:
        """Whether Volcano will give the pod a group, which may be a gang (V8): a pod of a workload,
        as only the workload says how many start together. Whoever waits for it is told after a
        while.
        """
        waits = self._makes_groups and facts.of_volcano and not facts.group
        return waits and facts.controller in KINDS

    def _is_missing(self, queue: str) -> bool:
        """Whether who names this queue waits for it, and is told so: also who asks for nothing."""
        account = self.accounts_by_queue.get(queue)
        return account is None or account.facts is None

    def needs_nothing_yet(self, group: PodGroupState) -> bool:
        """Whether the pods of a group may be created without anything being reserved (E1): they are
        not all there, and it says nothing of what they will ask for, or nothing here would hold
        them up.
        """
        facts = group.facts
        if facts is None or not self._enqueues or group.complete:
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

    def look_at_phases(self, keys: Iterable[str]) -> None:
        """Have these groups looked at, as far as their pods are still to come."""
        for key in keys:
            if not self.groups[key].complete:
                self.dirty.mark_group(key)

    def written(self, group: PodGroupState, reservation: Reservation) -> None:
        """The API server has the reservation. Marks its queue: members waited for that write."""
        self.mark_group(group)
        self.dirty.mark_pending(reservation.queue)

    def mark_queues(self, queues: Iterable[str]) -> None:
        """A group holds something else in these queues. Marks them, and drops unused accounts."""
        self.dirty.mark_changed(*queues)
        for queue in queues:
            self.forget_unused(self.accounts_by_queue.get(queue))

    def _wishes(self, facts: WorkloadFacts) -> None:
        """A workload wants another number of pods, or has come or gone: pods of its that wait may
        borrow now (R6).
        """
        if not self.borrowing:
            return
        some = [facts, *self.workloads.owned_by(facts.uid, facts.namespace)]
        for queue in self.borrowing:
            borrowers = self.accounts_by_queue[queue].pending.borrowers
            parts = (UpdatePart(one.namespace, one.kind, one.name) for one in some)
            if borrowers.look_again(parts):
                self.dirty.mark_pending(queue)

    def may_be_charged(self, facts: PodFacts) -> bool:
        """Whether a queue is charged for the pod, or could be for what others write. A group that
        Volcano made gives no queue (V5).
        """
        group = facts.group.partition("/")[2]
        named = facts.own_queue or (group and not made_for_pods(group))
        return bool(named) or self.uses_cards(facts)


def _kept(together: Limit, of_one: Limit, *, bounded: bool) -> KeptObjects:
    if bounded:
        return KeptObjects(together, of_one)
    return KeptObjects(together._replace(most=maxsize), of_one._replace(most=maxsize))
