"""What admission, decisions, reports and metrics may do with the ledger: ask."""

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol

from ..accounts.account import AccountReader
from ..amounts import Charge
from ..cards.card import Card
from ..cards.catalog import Catalog
from ..cards.shared_memory import CardMemory
from ..cards.vendor import Vendor
from ..cards.vendor_table import VendorTable
from ..kept_objects import KeptObjects
from ..nodes.node_cache import NodeCache
from ..pods.live_holdings import LiveHoldings
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest
from ..pods.pods_by_controller import PodsByController
from ..pods.queue_users import HeldCards, QueueUsers
from ..pods.reading import Reading
from ..pods.workload_cache import WorkloadCache
from ..vocabulary import Mode, Policy
from .groups.group_facts import NamespaceFacts
from .groups.job_groups import JobGroups
from .groups.pod_group_state import PodGroupState
from .groups.queue_groups import QueueGroups
from .shares import Shares


class LedgerReader(Protocol):
    """The ledger without all that charges, assumes, or takes events (section 6, "one writer").

    That admission never charges is therefore a matter of types: it is given no more than this.
    Not guaranteed: that what it hands out, such as the cache of nodes, cannot be changed.
    """

    @property
    def pods(self) -> Mapping[str, PodRecord]:
        """By uid: all that are not finished and use cards, or whose queue counts them."""

    @property
    def groups(self) -> Mapping[str, PodGroupState]:
        """By `namespace/name`."""

    @property
    def namespaces(self) -> Mapping[str, NamespaceFacts]:
        """By name."""

    @property
    def unknown_modes(self) -> Mapping[str, NamespaceFacts]:
        """The namespaces whose mode label says something that means nothing."""

    @property
    def misplaced(self) -> AbstractSet[str]:
        """Uids of bound pods whose stamp says other cards than they are charged for (E3)."""

    @property
    def unnoted(self) -> AbstractSet[str]:
        """Uids of pods that came past admission, on which it does not stand yet where they are
        charged, or that nothing was enforced there (I3).
        """

    @property
    def kept_pods(self) -> KeptObjects:
        """Pods without a node that no stamp charges, by uid (P8)."""

    @property
    def kept_groups(self) -> KeptObjects:
        """Pod groups of which nothing has begun, by `namespace/name`."""

    @property
    def kept_queues(self) -> KeptObjects:
        """Queues, by name."""

    @property
    def kept(self) -> Mapping[str, KeptObjects]:
        """All that have a limit together, by kind: `pods`, `podgroups`, `queues`, `workloads`."""

    def kept_pod_size(self, facts: PodFacts) -> int:
        """Bytes that are kept of a pod without a node."""

    @property
    def being_deleted(self) -> Collection[str]:
        """Uids of pods that are being deleted."""

    @property
    def catalog(self) -> Catalog:
        """The kinds of cards."""

    @property
    def nodes(self) -> NodeCache:
        """The nodes."""

    @property
    def card_memory(self) -> CardMemory:
        """Which card of its node each pod by memory holds."""

    @property
    def made_pods(self) -> PodsByController:
        """The pods, by what made them."""

    @property
    def held_cards(self) -> HeldCards:
        """Who holds the cards of each queue, by namespace and workload."""

    @property
    def queue_users(self) -> QueueUsers:
        """Whose pods use each queue, those that wait included."""

    @property
    def queue_groups(self) -> QueueGroups:
        """Which groups name each queue."""

    @property
    def job_groups(self) -> JobGroups:
        """Which groups Volcano has made for Jobs."""

    @property
    def reserved_groups(self) -> QueueGroups:
        """For which groups something is reserved in each queue."""

    @property
    def workloads(self) -> WorkloadCache:
        """What makes pods that concern us."""

    @property
    def live_holdings(self) -> LiveHoldings:
        """What ReplicaSets hold, and DaemonSets on each node."""

    @property
    def defaults(self) -> PodDefaults:
        """What pods get at creation that a template does not say."""

    @property
    def vendors(self) -> VendorTable:
        """The vendor table."""

    @property
    def shares(self) -> Shares:
        """What each queue deserves of each card (W1)."""

    @property
    def exempt_cpu_memory(self) -> bool:
        """Whether pods with cards are charged no cpu and memory (P6)."""

    @property
    def memory_by_row(self) -> bool:
        """Whether only queues with a row for card memory may have some (B9)."""

    @property
    def with_volcano(self) -> bool:
        """Whether Volcano schedules here."""

    def gets_group(self, facts: PodFacts) -> bool:
        """Whether Volcano will give the pod a group, which may be a gang (V8)."""

    @property
    def overdue(self) -> bool:
        """Whether an event changed pods that are still to be re-read."""

    def account(self, queue: str) -> AccountReader | None:
        """The totals of a queue, or of a name that pods are charged to without one."""

    def accounts(self) -> Iterator[AccountReader]:
        """All of them, the one outside every queue included."""

    def counts(self, resource: str) -> bool:
        """Whether a resource name counts cards."""

    def in_any_quota(self, card: str) -> bool:
        """Whether some queue has a row for this card."""

    def is_known(self, card: str) -> bool:
        """Whether a node, a Queue's status or a quota has this card."""

    def cluster_quota(self, card: str) -> int:
        """The quotas of all queues for one card, cards (Q3)."""

    def counts_for_groups(self, priority_class: str) -> bool:
        """Whether a group without pods has the priority of this class, if it names it (E6)."""

    def priority_of(self, priority_class: str) -> int:
        """The value of a priority class; 0 for one that is not known, or none."""

    def uses_cards(self, facts: PodFacts) -> bool:
        """Whether a pod asks for a card or names one."""

    def claims_devices(self, facts: PodFacts) -> bool:
        """Whether a pod claims devices that no quota counts (P7)."""

    def queue_of(self, facts: PodFacts) -> str:
        """The queue a pod belongs to, or OUTSIDE (section 2)."""

    def mode_in(self, namespace: str) -> Mode:
        """How strict we are with the pods of a namespace."""

    def policy_of(self, facts: PodFacts, queue: str) -> Policy:
        """What happens to a pod that is over quota now but could fit later (section 2)."""

    def policy_by_controller(self, facts: PodFacts) -> Policy:
        """The policy of a pod whose queue has none."""

    def request_of(self, facts: PodFacts, queue: str) -> PodRequest:
        """What an unbound pod asks of a queue."""

    def reading_of(self, facts: PodFacts, account: AccountReader | None) -> Reading:
        """What an unbound pod asks of a queue, and what is wrong with that."""

    def charge_of(self, record: PodRecord, cards: Charge) -> Charge:
        """What a pod would be charged with these cards, cpu and memory included (P6)."""

    def known_card(self, name: str, resource: str) -> Card:
        """The card's definition: as a node showed it, or else as its vendor's rule has it."""

    def vendor_of(self, resource: str) -> Vendor:
        """Whose cards a resource name counts."""
