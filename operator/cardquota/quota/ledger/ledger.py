"""The ledger: everything that is charged, to whom, kept exact event by event.

Guarantees
- Totals follow the facts at once and equal a recount of them (I2); whole numbers only.
- An event about one pod costs in proportion to that pod's own dimensions. Events about a queue,
  group, namespace or a new kind of card cost in proportion to the pods they can change: those
  that are not yet charged by a stamp.
- A repeated event changes nothing, and neither does one older than what is known of a pod.
- What a pod was stamped with, and the card its node had when it was bound, stay (D8, E10). Where
  somebody bound it to another model than its stamp says, it is charged by its node (E3).

Not guaranteed
- It does no I/O, has no clock and no locks: one event loop alone touches it.
- An event about a pod after the pod was reported gone would bring it back: the reflector never
  sends one.

Everything is keyed as Kubernetes does: pods by uid, nodes, queues and namespaces by name, groups
by `namespace/name`.
"""

from collections.abc import Collection, Hashable
from dataclasses import replace
from sys import intern, maxsize
from typing import Final

from ..accounts.account import Account
from ..accounts.queue_facts import QueueFacts
from ..amounts import Amounts
from ..cards.vendor_table import VendorTable
from ..kept_objects import LeftOut
from ..messages import report_messages, request_messages
from ..nodes.node_facts import NodeFacts
from ..pods.pod_facts import PodFacts, State
from ..pods.pod_record import PodRecord, without_texts
from ..vocabulary import Mode
from .charges import Charges
from .groups.group_facts import GroupFacts, NamespaceFacts, job_of
from .groups.pod_group_state import PodGroupState
from .ledger_reader import LedgerSettings
from .ledger_state import LedgerState
from .reassessment import CardChanges, Reassessment
from .release_decisions import ReleaseDecisions

_DEFAULTS: Final = LedgerSettings()


class Ledger(LedgerState):
    """See the module's text."""

    def __init__(
        self,
        vendors: VendorTable,
        settings: LedgerSettings = _DEFAULTS,
        *,
        bounded: bool = True,
        at_once: int = maxsize,
    ) -> None:
        """`at_once`: how many pods one event re-reads, a large one counting as several; the others
        are overdue (`Reassessment`).
        """
        super().__init__(vendors, settings, bounded=bounded)
        self._charges = Charges(self)
        self.reassessment = Reassessment(self, self._charges, at_once)
        self._cards = CardChanges(self, self._charges, self.reassessment)
        self.decisions = ReleaseDecisions(self, self._charges, self.reassessment)
        """What the leader's release decides."""
        self._reassess = self.reassessment.reassess
        self._finished: dict[str, tuple[str, State]] = {}
        """Uids of finished pods that still exist, with their group and how they ended."""

    def pod_seen(self, facts: PodFacts) -> None:
        """A pod was added or changed."""
        record = self.pods.get(facts.uid)
        known = self.kept_pods.left_out(facts.uid) if record is None else record.facts
        if known is not None and facts.revision < known.revision:
            return
        if facts.state.finished or not facts.concerns_us:
            self._ended(record, facts)
        elif record is None or facts.revision >= record.settled_revision:
            kept = self._kept_of_pod(record, facts)
            if kept is not None:
                self._take_in(self.pods.get(facts.uid), kept)

    def _ended(self, record: PodRecord | None, facts: PodFacts) -> None:
        """A pod has finished, or does not concern us any more."""
        self.kept_pods.forget(facts.uid)
        if record is not None:
            self.pod_gone(facts.uid)
        self._finish(facts.uid, facts if facts.state.finished and facts.group else None)

    def _take_in(self, record: PodRecord | None, facts: PodFacts) -> None:
        if record is None:
            self._finish(facts.uid, None)  # if somebody has set its phase back
            newly_bound = facts.state is State.BOUND
            record = self.pods[facts.uid] = PodRecord(facts)
        else:
            newly_bound = facts.state is State.BOUND and record.facts.state is not State.BOUND
            news = facts.revision > record.facts.revision and record.backed_off
            if facts == record.facts and record.assumed is None and not news:
                record.facts.revision = facts.revision
                if facts.unschedulable is not record.facts.unschedulable:
                    record.facts.unschedulable = facts.unschedulable
                    self.note_unplaced(record)
                return
            self._charges.uncharge(record)
            under_way = _still_under_way(record, facts)
            record.facts = facts
            record.backed_off = record.backed_off and not news
            if not under_way:
                record.assumed = None
        if newly_bound and facts.stamp is None:
            self.dirty.unadmitted.add(facts.uid)
        self._charges.charge(record)
        if record.held and facts.group:
            self.kept_groups.want(facts.group)  # by its minimum it is known what is elastic

    def _kept_of_pod(self, record: PodRecord | None, facts: PodFacts) -> PodFacts | None:
        """As much of a pod as is kept: None if that is its name alone (P8). What is charged is
        always kept.
        """
        uid, kept = facts.uid, self.kept_pods
        if facts.state is State.BOUND:
            kept.forget(uid)
            return facts
        under_way = record is not None and (record.assumed is not None or record.backed_off)
        if facts.stamp is not None or under_way:
            kept.forget(uid)
            return facts
        size = self.kept_pod_size(facts)
        too_much = kept.keep(uid, facts.namespace, size)
        if too_much is None:
            return facts
        fixed = facts.fixed_queue is not None or (record is not None and record.fixed is not None)
        enforced = self.mode_in(facts.namespace) is Mode.ENFORCE
        # Any other counts once it is bound, or released.
        if facts.state is not State.GATED and (fixed or enforced):
            kept.forget(uid)
            return without_texts(
                facts, request_messages.too_much_kept(too_much.limit, too_much.found)
            )
        if record is not None:
            self.pod_gone(uid)
        where, made_by = (facts.namespace, facts.name, uid), (facts.workload_kind, facts.workload)
        queue = self.queue_of(facts)
        kept.leave_out(uid, LeftOut(*where, facts.revision, size, queue, made_by))
        return None

    def fix_queues(self) -> None:
        """From now on a pod that came past admission is charged where it was when it was seen (I3).
        To be called when everything was read: before that nobody knows which queue a pod names.
        """
        self.fixes_queues = True
        self._reassess([uid for uid, one in self.pods.items() if not one.gated])

    def pod_gone(self, uid: str) -> None:
        """A pod was deleted, or has finished (T1)."""
        self.kept_pods.forget(uid)
        record = self.pods.pop(uid, None)
        self.dirty.unadmitted.discard(uid)
        self.dirty.incorrect.discard(uid)
        self.card_memory.forget(uid)
        if record is not None:
            self._charges.forget(record)
        self._finish(uid, None)

    def node_seen(self, facts: NodeFacts) -> None:
        """A node was added or changed. Pods bound to it keep the card it had (D8)."""
        self.card_memory.node_seen(facts.name, facts.memory, facts.whole)
        learned = self.nodes.see(facts)
        self._cards.cards_changed()
        self._reassess(self.nodes.take_unresolved(facts.name), stamped=True, at_once=True)
        self._reassess(self.nodes.selection.take_moved())
        if learned:
            self.reassessment.cards_learned()
        self._cards.follow_resource_changes()

    def node_gone(self, name: str) -> None:
        """A node was deleted."""
        self.card_memory.node_gone(name)
        learned = self.nodes.drop(name)
        self._cards.cards_changed()
        self._reassess(self.nodes.selection.take_moved())
        if learned:
            self.reassessment.cards_learned()
        self._cards.follow_resource_changes()

    @property
    def overdue(self) -> bool:
        """Whether an event changed pods that are still to be re-read: see `Reassessment`.

        Until then they wait, or are charged, by what was known before it, as if it had come later
        for them. Pods that a stamp of ours charges keep their charge in any case.
        """
        return self.reassessment.overdue

    @property
    def behind(self) -> bool:
        """Whether gated pods may still be in classes for the nodes as they were: see `catch_up`."""
        return self.nodes.selection.more

    def catch_up(self) -> None:
        """Re-read some of the pods that a change of nodes moved. Takes some milliseconds.

        Every node event does this once. Pods that are left are judged by the nodes as they are now;
        only their class and the shown request may be old.
        """
        self.nodes.selection.go_on()
        self._reassess(self.nodes.selection.take_moved())

    def queue_seen(self, facts: QueueFacts) -> None:
        """A queue was added or changed."""
        account = self.account_for(facts.name)
        before = account.facts
        facts = account.facts = self._kept_of_queue(facts.after(before))
        learned = [
            self.nodes.record(card, resource)
            for card, (resource, _) in facts.recorded.items()
            if resource
        ]
        if any(learned):
            self.reassessment.cards_learned()
        self._cards.cards_changed()
        self._cards.follow_resource_changes()
        if before is not None:
            self._cards.forget(before.recorded.keys() - facts.recorded.keys())
        if before == facts:
            return
        if before is None or _entry(before) != _entry(facts):
            self._entry_changed(facts.name)
        self._cards.set_quota(account, _quota_in_force(account, before, facts))
        self._cards.reweigh(account, before, facts)
        self._cards.owe(account, before, facts)
        self._reassess(account.unstamped)
        account.pending.judge_groups_anew()
        self.dirty.mark_changed(facts.name)

    def _kept_of_queue(self, facts: QueueFacts) -> QueueFacts:
        """The queue as it is kept: as one that cannot be read, if all take too much (P8, Q4)."""
        kept, size = self.kept_queues, facts.kept_size
        too_much = kept.keep(facts.name, "", size)
        if too_much is None:
            return facts
        kept.leave_out(facts.name, LeftOut("", facts.name, facts.uid, facts.revision, size))
        problem = report_messages.too_much_of_queues(too_much.limit, too_much.found)
        return replace(facts, quota=None, quota_problem=problem, namespaces=())

    def queue_gone(self, name: str) -> None:
        """A queue was deleted. Charges to its name stay visible."""
        self.kept_queues.forget(name)
        account = self.accounts_by_queue.get(name)
        if account is None:
            return
        before, account.facts = account.facts, None
        self._entry_changed(name)
        self._cards.set_quota(account, {})
        self._cards.owe(account, before, None)
        self._reassess(account.unstamped)
        account.pending.judge_groups_anew()
        self.dirty.mark_changed(name)
        self.forget_unused(account)

    def group_seen(self, facts: GroupFacts) -> None:
        """A pod group was added or changed."""
        if not self._keeps_group(facts):
            return
        group = self.group_for(facts.key)
        if group.facts is not None and group.facts.uid != facts.uid:
            self.group_gone(facts.key)
            group = self.group_for(facts.key)
        elif group.facts is not None:
            if facts.revision < max(group.facts.revision, group.settled_revision):
                return
            if facts == group.facts and group.assumed is None:
                if facts.revision > group.facts.revision:
                    # Our write under the older version was in vain: look again.
                    self.dirty.groups.add(group.key)
                group.facts.revision, group.facts.stored = facts.revision, facts.stored
                return
        if facts.revision >= group.settled_revision > 0 or (
            group.assumed is not None and facts.reservation == group.assumed
        ):
            seen = group.assumed
            if seen is not None and (group.decided(seen) or group.to_be_replaced):
                self.written(group, seen)
            group.assumed, group.settled_revision = None, 0
        self._see_group(group, facts)

    def _keeps_group(self, facts: GroupFacts) -> bool:
        """Whether a group is kept, or only its name (P8): then its members wait for it. One for
        which something is reserved, or whose members hold something, is always kept.
        """
        key, kept, group = facts.key, self.kept_groups, self.groups.get(facts.key)
        known = kept.left_out(key) or (group.facts if group is not None else None)
        if known is not None and known.uid == facts.uid and facts.revision < known.revision:
            return False
        if facts.reservation is not None or (group is not None and _has_begun(group)):
            kept.forget(key)
            return True
        size = facts.kept_size + self.named_queue_size(facts.queue)
        if kept.keep(key, facts.namespace, size) is None:
            return True
        if group is not None and group.facts is not None:
            self.group_gone(key)
        where = facts.namespace, facts.name, facts.uid
        kept.leave_out(key, LeftOut(*where, facts.revision, size, intern(facts.queue)))
        if key in self.groups:
            self.mark_group(self.groups[key])
        return False

    def group_gone(self, key: str) -> None:
        """A pod group was deleted, and with it its reservation."""
        self.kept_groups.forget(key)
        group = self.groups.get(key)
        if group is not None:
            group.assumed, group.settled_revision, group.lost_place = None, 0, False
            self._see_group(group, None)
            if group.unused and self.groups.get(key) is group:
                del self.groups[key]

    def namespace_seen(self, facts: NamespaceFacts) -> None:
        """A namespace was added or changed: its default queue and its mode."""
        if self.namespaces.get(facts.name) != facts:
            self.namespaces[facts.name] = facts
            self.unknown_modes.pop(facts.name, None)
            if facts.unknown_mode:
                self.unknown_modes[facts.name] = facts
            self._mode_changed(facts.name)

    def namespace_gone(self, name: str) -> None:
        """A namespace was deleted."""
        self.unknown_modes.pop(name, None)
        if self.namespaces.pop(name, None) is not None:
            self._mode_changed(name)

    def _mode_changed(self, namespace: str) -> None:
        self._reassess(self.made_pods.unstamped_in(namespace))
        self._look_at_groups(self.namespace_groups.of(namespace))

    def priority_class_seen(self, name: str, value: int) -> None:
        """A priority class was added or changed; pod groups may name it."""
        if self.priorities.get(name) != value:
            self.priorities[name] = value
            self.reassessment.ask_groups_of_class(name)

    def priority_class_gone(self, name: str) -> None:
        """A priority class was deleted."""
        if self.priorities.pop(name, None) is not None:
            self.reassessment.ask_groups_of_class(name)

    def put_last(self, queue: str, namespace: str, *, held: bool | None) -> None:
        """What groups of a namespace ask a queue for in advance goes after all others (E8); `held`:
        none of it is reserved at all. None: they have their places again. For the leader alone.
        """
        if held is None:
            self.last.pop((queue, namespace), None)
        else:
            self.last[queue, namespace] = held
        self.reassessment.ask_again(self.namespace_groups.of(namespace))

    def device_class_seen(self, name: str, resource: str) -> None:
        """A DeviceClass was added or changed; `resource`: its extended resource name, or empty."""
        if resource:
            self.device_classes[name] = resource
        else:
            self.device_class_gone(name)

    def device_class_gone(self, name: str) -> None:
        """A DeviceClass was deleted."""
        self.device_classes.pop(name, None)

    # --- what more than one of them does ----

    def _finish(self, uid: str, facts: PodFacts | None) -> None:
        """The pod counts as finished for its group; None: for none. Marks the groups: the number of
        members that they lack may have changed, or how many are shown as failed.
        """
        before = self._finished.get(uid)
        if before == ((facts.group, facts.state) if facts is not None else None):
            return
        if before is not None:
            del self._finished[uid]
            group = self.groups[before[0]]
            self.leave_group(group, uid)
            self.mark_group(group)
        if facts is not None:
            self._finished[uid] = facts.group, facts.state
            group = self.group_for(facts.group)
            if facts.state is State.SUCCEEDED:
                group.succeed(uid, facts.task)
            else:
                group.failed.add(uid)
            self.mark_group(group)

    def _entry_changed(self, queue: str) -> None:
        """The queue is there, open, or open to others, or no longer: groups that ask for nothing
        wait for that alone (E1).
        """
        keys = self.queue_groups.of(queue)
        self._look_at_groups([key for key in keys if not self.groups[key].request])

    def _look_at_groups(self, keys: Collection[str]) -> None:
        """Have these looked at, as far as their pods are still to come, and asked what they wait
        for.
        """
        for key in keys:
            if not self.groups[key].complete:
                self.dirty.groups.add(key)
        self.reassessment.ask_again(keys)

    def _see_group(self, group: PodGroupState, facts: GroupFacts | None) -> None:
        """Costs in proportion to the members only if a field changed that they are read by. Phases
        and counts are none: we write them ourselves while a gang binds.
        """
        self.dirty.groups.add(group.key)
        before, gang = _as_read(group), group.gang
        start = _start_of(group)
        group.see(facts)
        self.repost(group)
        self.ask(group)
        self.queue_groups.see(group.key, facts.queue if facts is not None else "")
        self.namespace_groups.see(group.key, facts.namespace if facts is not None else "")
        self.job_groups.see(group.key, job_of(group.key) if facts is not None else "")
        if facts is not None and facts.plan is not None:
            self.plans[group.key] = facts.plan
        else:
            self.plans.pop(group.key, None)
        if _as_read(group) == before and start == _start_of(group):
            return
        self.mark_group(group)
        self.dirty.mark_changed(*{record.queue for record in group.members.values()})
        if _as_read(group) != before:
            # Whether it is a gang says of those that run, too, whether they are off-line.
            self._reassess(group.members, stamped=gang != group.gang)


def _has_begun(group: PodGroupState) -> bool:
    """Whether we reserve something for it, or members of it hold something or have ended."""
    return bool(group.assumed is not None or group.unwritten or group.released)


def _start_of(group: PodGroupState) -> Hashable:
    """The part of a group by which its members start together."""
    return group.minimum, tuple(group.tasks.items()), group.reservation


def _as_read(group: PodGroupState) -> Hashable:
    """The part of a group that its members are read by: queue, policy, tasks."""
    facts = group.facts
    if facts is None:
        return None
    return facts.queue, group.gang, group.reservation is None, *group.tasks


def _still_under_way(record: PodRecord, facts: PodFacts) -> bool:
    """Whether what was decided on a pod, and charged, is not shown by these new facts either."""
    return facts.state is State.GATED and not facts.revision > record.settled_revision > 0


def _entry(facts: QueueFacts) -> Hashable:
    """The part of a queue by which it takes groups of a namespace, or none."""
    return facts.state, facts.namespaces


def _quota_in_force(account: Account, before: QueueFacts | None, facts: QueueFacts) -> Amounts:
    """The quota as written, or the last good one where it cannot be read (Q4)."""
    if facts.quota is not None:
        return dict(facts.quota)
    if before is not None:
        return dict(account.quota)
    return {name: quota for name, (_, quota) in facts.recorded.items() if quota}
