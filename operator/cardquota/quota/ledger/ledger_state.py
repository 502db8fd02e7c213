"""What the ledger knows, as its own parts change it."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..accounts.account import Account
from ..amounts import LARGEST
from ..cards.vendor_table import VendorTable
from ..kept_objects import KeptObjects
from ..limits import WORKLOADS, WORKLOADS_OF_ONE
from ..plan_record import PlanRecord
from ..pods.pod_record import PodRecord, SortKey
from ..pods.queue_pods import PodMaker
from ..pods.workload_cache import WorkloadCache
from ..pods.workload_facts import WorkloadFacts
from ..stamp import Reservation
from ..vocabulary import Mode
from .groups.group_facts import NamespaceFacts
from .groups.pod_group_state import Asks, PodGroupState
from .ledger_reader import KeptRoom, LedgerReader, LedgerSettings
from .lending import Lending
from .shares import Shares


class Marks(set[str]):
    """Names of what is to be looked at. Bounded by what exists, provided that they are taken, or
    cleared, now and then.
    """

    def __init__(self, settle: Callable[[], None] | None = None) -> None:
        """`settle` is called before any are taken: it may mark more."""
        super().__init__()
        self._settle = settle

    def take(self, most: int | None = None) -> set[str]:
        """At most `most` of them, which are marked no longer."""
        if self._settle is not None:
            self._settle()
        if most is None or len(self) <= most:
            taken = set(self)
            self.clear()
            return taken
        return {self.pop() for _ in range(most)}


class DirtySet:
    """What changed and was not looked at yet."""

    def __init__(
        self, showing: Callable[[set[str]], Iterable[str]], settle: Callable[[], None]
    ) -> None:
        """`showing`: the queues that show any of these cards. Called when changes are taken, and
        not for each mark: a bulk of n events about one card would cost n times n otherwise.
        `settle`: mark as pending who may hold more by what was charged; called for the same reason
        when these marks are taken.
        """
        self._showing = showing
        self.visible = Marks()
        """Queues of which users see other numbers or rules: see `take_changed`."""
        self.cards = Marks()
        """Cards of which they do, in all queues that show any of them, by quota or for what pods
        hold. A queue that does no longer when they are taken is to be marked by itself."""
        self.pending = Marks(settle)
        """Queues whose pending pods are to be judged again: one may fit that did not, or is new."""
        self.groups = Marks()
        """Groups whose members, minimum or reservation changed."""
        self.unadmitted = Marks()
        """Uids of pods that were first seen on a node, ungated and without a stamp of ours (I3)."""
        self.incorrect = Marks()
        """Uids of running pods whose annotations are to be corrected: the stamp names other cards
        than they are charged for (E3), or the note is missing that audit mode let them by (I3).
        Some may be right again."""

    def mark_changed(self, *queues: str) -> None:
        """Totals or rules of these queues changed: something may fit now, and users must see it."""
        self.visible.update(queues)
        self.pending.update(queues)

    def take_changed(self) -> set[str]:
        """Queues whose numbers or rules changed since the last call. Costs in proportion to them,
        and to all queues where the set of known cards has changed.
        """
        taken, shown = self.visible.take(), self.cards.take()
        return taken.union(self._showing(shown)) if shown else taken

    def clear(self) -> None:
        """Forget all marks. For replicas that do not lead: a term begins with everything."""
        for marks in (self.visible, self.cards, self.pending, self.groups, self.incorrect):
            marks.clear()
        self.unadmitted.clear()


class LedgerState(LedgerReader):
    """Everything that is held about the cluster. For the ledger's own parts: who only asks takes a
    `LedgerReader`.
    """

    def __init__(self, vendors: VendorTable, settings: LedgerSettings, *, bounded: bool) -> None:
        """`bounded`: whether the sums of what is kept have limits (P8)."""
        super().__init__(vendors, settings, bounded=bounded)
        self.pods: dict[str, PodRecord] = {}
        self.groups: dict[str, PodGroupState] = {}
        self.namespaces: dict[str, NamespaceFacts] = {}
        self.unknown_modes: dict[str, NamespaceFacts] = {}
        self.priorities: dict[str, int] = {}
        self.accounts_by_queue: dict[str, Account] = {}
        self.waiting: dict[str, Account] = {}
        """By name: the accounts in which pods wait, or groups to be enqueued."""
        self.last: dict[tuple[str, str], bool] = {}
        """Queues and namespaces of which reservations ended unused (E8): whether nothing is
        reserved for groups there now; else they go after all others."""
        self.epoch = 0
        """Changes whenever the set of known cards, or of cards with a row in some quota, does."""
        self.plans: dict[str, PlanRecord] = {}
        self.kept_rooms: Mapping[str, KeptRoom] = {}
        # Pods, by what is still to be done with them or by what they depend on.
        self.misplaced: set[str] = set()
        self.unnoted: set[str] = set()
        self.being_deleted: dict[str, None] = {}
        self.unplaced: dict[str, None] = {}
        self.unconfirmed: dict[str, None] = {}
        """Uids of pods whose decision is not yet seen in an event, or which are held back."""
        kept = KeptObjects(WORKLOADS, WORKLOADS_OF_ONE, bounded=bounded)
        self.workloads = WorkloadCache(kept, self._wishes)
        self.dirty = DirtySet(self._showing, lambda: self.lending.settle())
        self.shares = Shares(
            self.accounts_by_queue, self.quotas, self.nodes, self.dirty.visible.update
        )
        self.lending = Lending(
            self.accounts_by_queue,
            self.shares,
            self.nodes,
            self._may_hold_more,
            everywhere=settings.lends_what_is_there,
        )

    def account(self, queue: str) -> Account | None:
        """The totals of a queue, or of a name that pods are charged to without one."""
        return self.accounts_by_queue.get(queue)

    def accounts(self) -> Iterator[Account]:
        """All of them, the one outside every queue included."""
        return iter(self.accounts_by_queue.values())

    def _showing(self, cards: set[str]) -> Iterator[str]:
        """The names of accounts with a row of any of these cards. O(accounts)."""
        for account in self.accounts_by_queue.values():
            if not (cards.isdisjoint(account.quota) and cards.isdisjoint(account.rows)):
                yield account.name

    def _wishes(self, facts: WorkloadFacts) -> None:
        """A workload wants another number of pods, or has come or gone: pods of its that wait may
        borrow now (R6).
        """
        some = [facts, *self.workloads.owned_by(facts.uid, facts.namespace)]
        makers = [PodMaker(one.namespace, one.kind, one.name) for one in some]
        for queue in self.made_pods.queues_in(facts.namespace):
            account = self.account(queue)
            if account is not None and account.pending.borrowers.look_again(makers):
                self.dirty.pending.add(queue)

    def _may_hold_more(self, queues: Iterable[str]) -> None:
        """Of a lent card (L2): who waits there may fit now."""
        for queue in queues:
            account = self.accounts_by_queue.get(queue)
            if account is not None:
                account.changes += 1
                if queue in self.waiting:
                    self.dirty.pending.add(queue)

    def account_for(self, queue: str) -> Account:
        """The queue's account; a new one where there is none."""
        account = self.accounts_by_queue.get(queue)
        if account is None:
            account = self.accounts_by_queue[queue] = Account(queue, self.lending)
        return account

    def note_unplaced(self, record: PodRecord) -> None:
        """To be called after a pod was charged, or is said to have a node, or none."""
        if record.facts.unschedulable and record.facts.stamp is not None:
            self.unplaced[record.facts.uid] = None
        else:
            self.unplaced.pop(record.facts.uid, None)

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
        self.dirty.groups.add(group.key)
        for queue in group.queues:
            self.accounts_by_queue[queue].pending.gang_changed(group)
            self.dirty.pending.add(queue)
        self.ask(group)

    def repost(self, group: PodGroupState) -> None:
        """Bring what accounts count of a group up to date. Marks their queues, and drops unused
        accounts.
        """
        changes = group.to_post(group.reservation, group.replaced)
        self.reserved_groups.see(group.key, group.rests_in)
        if not changes:
            return
        for queue, dimension, counter, amount in changes:
            self.account_for(queue).add_to(dimension, counter, amount)
        queues = dict.fromkeys(queue for queue, *_ in changes)
        self.dirty.mark_changed(*queues)
        for queue in queues:
            self.forget_unused(self.accounts_by_queue.get(queue))

    def ask(self, group: PodGroupState) -> None:
        """Have a group wait to be enqueued, in its queue and at its place, or wait no longer (E1).

        To be called after whatever decides on that has changed: the group, its members, what a
        scheduler asks for it, its reservation, the mode of its namespace, the value of its priority
        class.
        """
        asks, before = self._asks(group), group.asks
        if asks == before:
            return
        group.asks = asks
        if before is not None and (asks is None or asks.queue != before.queue):
            account = self.account_for(before.queue)
            account.pending.retire(group)
            self.note_waiting(account)
            self.dirty.pending.add(before.queue)
            self.forget_unused(account)
        if asks is not None:
            dimensions = asks.request.dimensions
            account = self.account_for(asks.queue)
            account.pending.ask(group, asks.sort_key, dimensions)
            self.note_waiting(account)
            self.dirty.pending.add(asks.queue)

    def _asks(self, group: PodGroupState) -> Asks | None:
        facts = group.facts
        if facts is None or not group.to_be_enqueued:
            return None
        request = group.request if self.settings.enqueues else group.asked
        if request is None or not (request or self.is_missing(facts.queue)):
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

    def written(self, group: PodGroupState, reservation: Reservation) -> None:
        """The API server has the reservation. Marks its queue: members waited for that write."""
        self.mark_group(group)
        self.dirty.pending.add(reservation.queue)
