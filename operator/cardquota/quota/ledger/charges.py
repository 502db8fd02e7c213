"""The charges of pods, and the totals and indexes that they are in.

To change a pod is to uncharge it, change it, and charge it.
"""

from collections.abc import Callable, Collection

from ..amounts import canonical, is_card
from ..cards.card_memory import MemoryPod
from ..pods.pod_facts import State
from ..pods.pod_record import ChargeState, PodRecord
from ..pods.pod_request import CardChoice, card_devices
from ..pods.queue_pods import surging_maker
from ..vocabulary import GPU_MEMORY, Mode
from .groups.group_holdings import count
from .groups.pod_group_state import PodGroupState
from .ledger_state import LedgerState
from .pod_assessor import PodAssessor, class_key_of, task_of

_Renamed = tuple[str, str | None, str | None]
"""A card, and the resource name that counted it, and that counts it now; None: any."""


class Charges:
    """Guarantees: `uncharge` is the inverse of `charge`; each costs in proportion to the pod's own
    dimensions, and to what its event makes pending.
    """

    def __init__(self, state: LedgerState) -> None:
        self._state = state
        self._assessor = PodAssessor(state)
        self.reassess: Callable[[Collection[str]], None]
        """Re-reads pods; set by `Reassessment`, which itself charges."""

    def charge(self, record: PodRecord) -> None:
        """Work out a pod's charge, add it to the totals, and put the pod into the indexes."""
        self._assessor.assess(record)
        self._index(record)
        if record.facts.plan is not None:
            self._state.plans[record.facts.uid] = record.facts.plan
        if record.facts.unschedulable:
            self._state.note_unplaced(record)
        self._post(record, 1)
        moved = self._hold(record, self._unshown(record))
        if record.releasable:
            key, gang = class_key_of(self._state, record)
            task = task_of(self._state.groups.get(record.facts.group), record)
            account = self._state.account_for(record.queue)
            account.pending.join(record, key, gang, task)
            self._state.note_waiting(account)
            if gang is None and account.facts is not None and account.facts.surge:
                maker = surging_maker(record.facts)
                if maker is not None:  # it may be of a rolling update (R6)
                    account.pending.borrowers.add(maker, record.facts.uid)
        elif record.refused:
            account = self._state.account_for(record.queue)
            account.pending.back_off(record)
            self._state.note_waiting(account)
        if moved:
            self._read_again(moved)

    def forget(self, record: PodRecord) -> None:
        """The pod is gone."""
        self.uncharge(record)
        if moved := self._hold(record, ()):
            self._read_again(moved)

    def uncharge(self, record: PodRecord) -> None:
        """Take a pod out of totals and indexes, by the facts it was charged with."""
        account = self._state.account(record.queue)
        if account is not None:
            account.pending.leave(record)
            self._state.note_waiting(account)
            if account.pending.borrowers and (maker := surging_maker(record.facts)) is not None:
                account.pending.borrowers.discard(maker, record.facts.uid)
        self._post(record, -1)
        self._unindex(record)

    def _post(self, record: PodRecord, sign: int) -> None:
        """Add a pod's charge to its queue and group, or take it away."""
        state = self._state
        charge_state, queue = record.charge_state, record.queue
        account = state.account_for(queue)
        group = state.groups.get(record.facts.group) if record.facts.group else None
        if sign < 0 and group is not None and charge_state is ChargeState.ALLOCATED:
            group.unbind(record)
        asked = state.shares.asked
        for dimension, amount in record.charge:
            account.add(dimension, charge_state, sign * amount)
            if dimension in asked:
                asked[dimension][queue] = None
            if record.offline:
                account.add_to(dimension, "offline", sign * amount)
            if group is None and record.leaves:
                # What will be free when it is gone (T4); of a group's member the group knows it.
                account.add_to(dimension, "leaving", sign * amount)
        if charge_state is ChargeState.RELEASED and record.facts.devices:
            for dimension, amount in record.charge:
                if is_card(dimension):
                    state.nodes.free.await_node(dimension, amount, sign)
        if group is not None:
            self._post_to_group(group, record, sign)
        state.dirty.mark_changed(queue)
        state.forget_unused(account)

    def _post_to_group(self, group: PodGroupState, record: PodRecord, sign: int) -> None:
        state = self._state
        if sign > 0 and record.charge_state is ChargeState.ALLOCATED:
            group.bind(record)
        if record.held:
            group.hold(record, sign)
            state.repost(group)
        elif record.gated and record.request is not None and record.request.amount:
            choice = CardChoice(record.request.cards, record.request.amount)
            count(group.waiting, choice, sign)
        state.mark_group(group)  # at last: it looks at what the members hold

    def _unshown(self, record: PodRecord) -> tuple[tuple[str, str], ...]:
        """The cards of its stamp that no node has shown, each with the resource name by which the
        pod asks. That name is the card's from now on (P4, D7).
        """
        state = self._state
        stamp, card = record.stamp, state.catalog.card
        cards = stamp.cards if stamp else ()
        names = [name for name, n in cards if n and card(name) is None]
        if not names:
            return ()
        devices = card_devices(record.facts, state)
        return tuple((name, devices[0][0]) for name in names) if len(devices) == 1 else ()

    def _hold(self, record: PodRecord, holds: tuple[tuple[str, str], ...]) -> list[_Renamed]:
        """Note which cards a pod holds by which resource names; none once the pod is gone. Returns
        those that another resource name counts from now on.
        """
        state = self._state
        before, record.holds = record.holds, holds
        if before == holds:
            return []
        known_as = {name: state.catalog.held_as(name) for name, _ in (*before, *holds)}
        for name, resource in holds:
            state.catalog.hold(name, resource, 1)
        for name, resource in before:
            state.catalog.hold(name, resource, -1)
        now = {name: state.catalog.held_as(name) for name in known_as}
        return [(n, known_as[n], now[n]) for n in now if now[n] != known_as[n]]

    def _read_again(self, renamed: list[_Renamed]) -> None:
        """Another resource name counts these cards, which no node has shown: who asks for one that
        counts them now, or did until now, is read again if no stamp charges it (P4).
        """
        state = self._state
        # Every queue that shows the card shows that resource name with it.
        state.dirty.cards.update(card for card, *_ in renamed)
        if known := {card for card, before, _ in renamed if before is not None}:
            # Who closes cards to others may ask for one that nobody knows now, and closes none.
            state.epoch += 1
            for account in state.waiting.values():
                if not known.isdisjoint(account.quota):
                    account.pending.activate_blocked()
                    state.dirty.pending.add(account.name)
        # All at once: one event re-reads a bounded number, however many queues have the card.
        self.reassess(
            {
                uid
                for card, before, now in renamed
                for queue in state.quotas.queues(card)
                for uid in state.account_for(queue).unstamped
                for resource, _ in state.pods[uid].facts.devices
                if (before in (None, resource)) != (now in (None, resource))
            }
        )

    def _index(self, record: PodRecord) -> None:
        state, facts = self._state, record.facts
        state.made_pods.add(record)
        state.held_cards.add(record)
        if facts.terminating:
            state.being_deleted[facts.uid] = None
        if record.assumed is not None or record.backed_off:
            state.unconfirmed[facts.uid] = None
        if facts.group:
            state.group_for(facts.group).join(record)
        if facts.devices and facts.state is State.BOUND:
            state.nodes.free.use(facts.node, facts.devices, 1)
            self._hold_on_node(record)
        stamp = record.stamp
        if stamp is not None:
            if facts.state is State.BOUND and facts.devices and not record.compared:
                state.nodes.wait_for(facts.node, facts.uid)
            if record.node_cards and canonical(record.on_node) != canonical(dict(stamp.cards)):
                state.misplaced.add(facts.uid)
                state.dirty.incorrect.add(facts.uid)
            return
        for name in {record.queue, record.named}:
            state.account_for(name).unstamped.add(facts.uid)
        if record.held:
            if not record.audited:
                state.account_for(record.queue).unadmitted.add(facts.uid, record.charge)
            self._note(record)
        state.nodes.register_pod(facts)
        if facts.state is State.BOUND and not record.node_cards and facts.devices:
            state.nodes.wait_for(facts.node, facts.uid)

    def _note(self, record: PodRecord) -> None:
        """What is still to be written on a pod that is charged without a stamp (I3). In `off` that
        is nothing, but for the queue in which it was charged before.
        """
        state, facts = self._state, record.facts
        off = state.mode_in(facts.namespace) is Mode.OFF
        if (off and not record.fixed) or not state.may_be_charged(facts):
            return
        let_by = record.audited and not facts.admitted_in_audit
        if let_by or (record.fixed is not None and facts.fixed_queue is None):
            state.unnoted.add(facts.uid)
            state.dirty.incorrect.add(facts.uid)

    def _hold_on_node(self, record: PodRecord) -> None:
        """A bound pod holds memory of one card of its node, or cards."""
        state, facts = self._state, record.facts
        state.card_memory.forget(facts.uid)
        if facts.placement is not None:
            pod = MemoryPod(facts.namespace, facts.name, facts.placement, facts.terminating)
            state.card_memory.hold(facts.node, facts.uid, pod)
        record.by_card = any(r != GPU_MEMORY and state.counts(r) for r, _ in facts.devices)
        if record.by_card:
            state.card_memory.hold_cards(facts.node, 1)

    def _release_on_node(self, record: PodRecord) -> None:
        """The inverse."""
        state, facts = self._state, record.facts
        if facts.placement is not None:
            state.card_memory.release(facts.node, facts.uid)
        if record.by_card:
            state.card_memory.hold_cards(facts.node, -1)

    def _unindex(self, record: PodRecord) -> None:
        state, facts = self._state, record.facts
        state.made_pods.discard(record)
        state.held_cards.discard(record)
        state.being_deleted.pop(facts.uid, None)
        state.plans.pop(facts.uid, None)
        state.unplaced.pop(facts.uid, None)
        if facts.group:
            state.leave_group(state.groups[facts.group], facts.uid)
        if facts.devices and facts.state is State.BOUND:
            state.nodes.free.use(facts.node, facts.devices, -1)
            self._release_on_node(record)
        for name in {record.queue, record.named}:
            account = state.account(name)
            if account is not None:
                account.unstamped.discard(facts.uid)
                account.unadmitted.discard(facts.uid)
                state.forget_unused(account)
        state.unconfirmed.pop(facts.uid, None)
        state.misplaced.discard(facts.uid)
        state.unnoted.discard(facts.uid)
        state.nodes.unregister_pod(facts)
        state.nodes.forget(facts.node, facts.uid)
