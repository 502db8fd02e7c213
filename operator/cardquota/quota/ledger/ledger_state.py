"""What can be asked of the ledger, and how a pod is read against what is known.

No total changes here.

Admission and release read through this; `Ledger` builds on it and takes in events.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from ..cards.card import Card
from ..cards.catalog import Catalog
from ..cards.device_classes import DeviceClasses
from ..cards.quota_totals import QuotaTotals
from ..cards.vendor import Vendor, vendor_behind
from ..cards.vendor_table import VendorTable
from ..effect import mode_of
from ..nodes.node_cache import NodeCache
from ..pods.kept_text import KeptText
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest, card_devices
from ..pods.pods_by_controller import PodsByController
from ..pods.reading import Reading, Readings
from ..pods.unstamped_pod_index import UnstampedPodIndex
from ..stamp import Charge, canonical
from ..vocabulary import CPU, MEMORY, NAMESPACE_OFF, Mode, Policy
from .account import OUTSIDE, Account
from .dirty_set import DirtySet
from .group_facts import NamespaceFacts
from .pod_group_state import PodGroupState

_NO_QUOTA: Final[Mapping[str, int]] = {}
JOB = "Job"
"""Controller kind whose pods wait rather than being refused, of any API group (section 2)."""


class LedgerView:
    """The ledger's state, and the settings that decide how it is read.

    `default_queue`, `free_cpu_memory` and `audit` are settings (section 2, P6, mode).
    """

    def __init__(
        self,
        vendors: VendorTable,
        *,
        default_queue: str = "",
        free_cpu_memory: bool = False,
        audit: bool = False,
        at_once: int | None = None,
    ) -> None:
        """`at_once`: how many pods one event may have read anew before the others are left to
        `read_overdue`, a large one counting as several; None: all of them.
        """
        self.catalog = Catalog()
        self.nodes = NodeCache(self.catalog)
        self.device_classes = DeviceClasses()
        self.pods: dict[str, PodRecord] = {}
        self.groups: dict[str, PodGroupState] = {}
        self.namespaces: dict[str, NamespaceFacts] = {}
        self.unknown_modes: dict[str, NamespaceFacts] = {}
        """Those of them whose label says something that means nothing."""
        self.misplaced: set[str] = set()
        """Uids of bound pods whose stamp says other cards than they are charged for (E3)."""
        self.unnoted: set[str] = set()
        """Uids of pods that audit mode let by, on which that does not stand yet (I3)."""
        self._accounts: dict[str, Account] = {}
        self._priorities: dict[str, int] = {}
        self._quotas = QuotaTotals()
        self._readings = Readings()
        self._unstamped = UnstampedPodIndex()
        self._kept_text = KeptText()
        self.made_pods = PodsByController()
        self.defaults = PodDefaults()
        """What pods get when they are created that a template does not say."""
        self._unconfirmed: dict[str, None] = {}
        """Uids of pods whose decision is not yet seen in an event, or which are held back."""
        self._succeeded: dict[str, str] = {}
        """Uids of succeeded pods that still exist, with their group."""
        self._at_once = at_once
        self._overdue = set[str]()
        """Pods that are to be read anew, unless a stamp of ours charges them."""
        self._overdue_stamped = set[str]()
        """The same, whatever charges them."""
        self.epoch = 0
        """Different whenever a kind of card is known that was not, or otherwise; or has a row in
        some quota that had none, or none any more.
        """
        self.dirty = DirtySet()
        self.vendors = vendors
        self._default_queue = default_queue
        self.free_cpu_memory = free_cpu_memory
        self._audit = audit

    @property
    def overdue(self) -> bool:
        """Whether an event has changed pods that are still to be read anew: see `read_overdue`.

        Until then they wait, or are charged, by what was known before it, as if it had come later
        for them. Pods that a stamp of ours charges keep their charge in any case.
        """
        return bool(self._overdue or self._overdue_stamped)

    def account(self, queue: str) -> Account | None:
        """The totals of a queue, or of a name that pods are charged to without one."""
        return self._accounts.get(queue)

    def accounts(self) -> Iterator[Account]:
        """All of them, the one outside every queue included."""
        return iter(self._accounts.values())

    def counts(self, resource: str) -> bool:
        """Whether a resource name counts cards, by the vendor table or by a node."""
        return self.vendors.owner(resource) is not None or self.catalog.counts(resource)

    def in_any_quota(self, card: str) -> bool:
        """Whether some queue has a row for this card."""
        return self._quotas.has(card)

    def is_known(self, card: str) -> bool:
        """Whether a node has shown this card, a Queue's status recorded it, or a quota has it. If
        not, it is a name that somebody wrote, and everybody may write another one.
        """
        return self._quotas.has(card) or self.catalog.resource(card) is not None

    def cluster_quota(self, card: str) -> int:
        """The quotas of all queues for one card, cards (Q3)."""
        return self._quotas.of(card)

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
        return mode_of(audit=self._audit, namespace=found.mode if found else "")

    def policy_of(self, facts: PodFacts, queue: str) -> Policy:
        """What happens to this pod when it is over quota now but could fit later (section 2)."""
        account = self._accounts.get(queue)
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
        return self.reading_of(facts, self._accounts.get(queue)).request

    def reading_of(self, facts: PodFacts, account: Account | None) -> Reading:
        """What an unbound pod asks of a queue, and what is wrong with that."""
        quota, mark = (account.quota, account.quota_mark) if account else (_NO_QUOTA, None)
        version = (self.catalog.version, self._quotas.version, self.nodes.picks_version)
        free = self.free_cpu_memory
        return self._readings.of(facts, quota, mark, self, version, free_cpu_memory=free)

    def charge_of(self, record: PodRecord, cards: Charge) -> Charge:
        """What a pod would be charged with these cards, cpu and memory included (P6)."""
        return self._with_cpu_memory(record.facts, record.queue, dict(cards))

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

    def _with_cpu_memory(self, facts: PodFacts, queue: str, cards: Mapping[str, int]) -> Charge:
        amounts = dict(cards)
        free = self.free_cpu_memory and any(amounts.values())
        if queue != OUTSIDE and not free:
            amounts[CPU], amounts[MEMORY] = facts.cpu, facts.memory
        return canonical(amounts)
