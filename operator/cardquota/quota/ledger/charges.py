"""How one pod is read, charged and indexed, and which pods an event about something else changes.

`_charge` and `_uncharge` are inverse. To change a pod is to uncharge it, change it, and charge it.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Final

from ..assignment.claim import claim_of
from ..cards.card import model_of
from ..limits import KIB
from ..pending.gang import Gang
from ..pods.charge_state import ChargeState
from ..pods.pod_facts import PodFacts, State
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest, card_devices
from ..stamp import Charge, Reservation, Stamp, canonical
from ..vocabulary import CPU, MEMORY, Mode, Policy
from .account import OUTSIDE, Account
from .ledger_state import LedgerView
from .pod_group_state import PodGroupState

_USUAL: Final = KIB
"""Bytes of a selector as pods usually have them; a longer one counts as several pods."""
_FEW: Final = 8
"""The same of alternatives, and of devices that it asks for."""


class LedgerCharges(LedgerView):
    """The charges of pods, and the accounts, groups and indexes that they are in. For the ledger
    itself.
    """

    # --- one pod's charge -----------------------------------------------------------------

    def _charge(self, record: PodRecord) -> None:
        """Work out a pod's charge, add it to the totals, and put the pod into the indexes."""
        facts, stamp = record.facts, record.stamp
        bound = facts.state is State.BOUND
        if stamp is not None:
            record.queue, record.request, record.claim = stamp.queue, None, None
            record.elsewhere = False
            record.charge = self._with_cpu_memory(
                facts, stamp.queue, self._stamped_cards(record, stamp)
            )
        else:
            record.queue = self.queue_of(facts)
            record.charge = self._unstamped_charge(record, bound=bound)
        record.charge_state = self._charge_state(record, bound=bound)
        record.offline = bound and self.policy_by_controller(facts) is Policy.GATE
        record.priority = self._priority(facts)
        self._index(record)
        self._post(record, 1)
        self._hold(record, self._unshown(record))
        if record.releasable:
            self._account(record.queue).pending.join(record, *self._class_key(record))

    def _uncharge(self, record: PodRecord) -> None:
        """The inverse of `_charge`."""
        account = self._accounts.get(record.queue)
        if account is not None:
            account.pending.leave(record)
        self._post(record, -1)
        self._unindex(record)

    def _post(self, record: PodRecord, sign: int) -> None:
        """Add a pod's charge to its queue and group, or take it away."""
        charge_state, queue = record.charge_state, record.queue
        account = self._account(queue)
        group = self.groups.get(record.facts.group) if record.facts.group else None
        if sign < 0 and group is not None and charge_state is ChargeState.ALLOCATED:
            group.unbind(record, self._account)
        for dimension, amount in record.charge:
            account.add(dimension, charge_state, sign * amount)
        if record.offline:
            for dimension, amount in record.charge:
                account.add_offline(dimension, sign * amount)
        if record.claim is not None and charge_state is ChargeState.RELEASED and queue != OUTSIDE:
            account.claim(*record.claim, sign)
        if charge_state is ChargeState.RELEASED and record.facts.devices:
            for dimension, amount in record.charge:
                if dimension not in (CPU, MEMORY):
                    self.nodes.free.await_node(dimension, amount, sign)
        if group is not None:
            self._post_to_group(group, record, sign)
        self.dirty.mark_changed(queue)
        self._forget_unused(account)

    def _post_to_group(self, group: PodGroupState, record: PodRecord, sign: int) -> None:
        self._mark_group(group)
        if sign > 0 and record.charge_state is ChargeState.ALLOCATED:
            group.bind(record, self._account)
        if record.held:
            group.hold(record.queue, record.charge, sign)
            self._settle(group.repost(self._account))
        elif record.gated and record.request is not None and record.request.amount:
            group.wait(claim_of(record.request.cards, record.request.amount), sign)

    def _unshown(self, record: PodRecord) -> tuple[tuple[str, str], ...]:
        """Of what a pod was let through for, the cards that no node has shown: the resource name
        by which it asks is theirs from now on (P4, D7).
        """
        stamp, card = record.stamp, self.catalog.card
        names = [name for name, n in stamp.cards if n and card(name) is None] if stamp else ()
        if not names:
            return ()
        devices = card_devices(record.facts, self)
        return tuple((name, devices[0][0]) for name in names) if len(devices) == 1 else ()

    def _hold(self, record: PodRecord, holds: tuple[tuple[str, str], ...]) -> None:
        """Note by which resource names a pod holds cards; nothing for one that is gone."""
        before, record.holds = record.holds, holds
        if before == holds:
            return
        moved = [self.catalog.hold(name, resource, 1) for name, resource in holds]
        moved += [self.catalog.hold(name, resource, -1) for name, resource in before]
        if any(moved):
            cards = {name for name, _ in (*before, *holds)}
            for account in self._accounts.values():
                if cards.isdisjoint(account.quota):
                    continue
                if self._may_let_pass(account) or account.pending.blocked:
                    account.pending.activate_blocked()
                    self.dirty.mark_pending(account.name)

    def _may_let_pass(self, account: Account) -> bool:
        """What is known of cards changed: in a fifo queue one that waits for room, and holds up
        others, may be an invalid request now, and then holds up nobody. So all are judged again.
        """
        fifo = account.facts is not None and account.facts.fifo and bool(account.pending)
        if fifo:
            account.pending.invalidate_needs()
        return fifo

    # --- which pods an event can change -----------------------------------------------------

    def _index(self, record: PodRecord) -> None:
        facts = record.facts
        self.made_pods.add(record)
        if record.assumed is not None or record.held_back:
            self._unconfirmed[facts.uid] = None
        if facts.group:
            self._group(facts.group).members[facts.uid] = record
        if facts.devices and facts.state is State.BOUND:
            self.nodes.free.use(facts.node, facts.devices, 1)
        stamp = record.stamp
        if stamp is not None:
            if facts.state is State.BOUND and facts.devices and not record.compared:
                self.nodes.wait_for(facts.node, facts.uid)
            if record.node_cards and canonical(record.on_node) != canonical(dict(stamp.cards)):
                self.misplaced.add(facts.uid)
                self.dirty.mark_incorrect(facts.uid)
            return
        account = self._account(record.queue)
        account.unstamped.add(facts.uid)
        if record.held:
            in_audit = self.mode_in(facts.namespace) is Mode.AUDIT
            record.audited = record.audited or facts.let_by or in_audit
            if not record.audited:
                account.unadmitted.add(facts.uid, record.charge)
            elif not (facts.let_by or facts.mirror) and self._may_be_charged(record):
                self.unnoted.add(facts.uid)
                self.dirty.mark_incorrect(facts.uid)
        self._unstamped.add(facts)
        self.nodes.register_pod(facts)
        if facts.state is State.BOUND and not record.node_cards and facts.devices:
            self.nodes.wait_for(facts.node, facts.uid)

    def _unindex(self, record: PodRecord) -> None:
        facts = record.facts
        self.made_pods.discard(record)
        if facts.group:
            self._leave_group(self.groups[facts.group], facts.uid)
        if facts.devices and facts.state is State.BOUND:
            self.nodes.free.use(facts.node, facts.devices, -1)
        account = self._accounts.get(record.queue)
        if account is not None:
            account.unstamped.discard(facts.uid)
            account.unadmitted.discard(facts.uid)
            self._forget_unused(account)
        self._unconfirmed.pop(facts.uid, None)
        self.misplaced.discard(facts.uid)
        self.unnoted.discard(facts.uid)
        self._unstamped.discard(facts)
        self.nodes.unregister_pod(facts)
        self.nodes.forget(facts.node, facts.uid)

    def _may_be_charged(self, record: PodRecord) -> bool:
        """To a queue: to one now, or to its namespace's when that gets one."""
        return record.queue != OUTSIDE or self.uses_cards(record.facts)

    def read_overdue(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Read anew the pods that an event has left to this, until all are, or it is `enough`."""
        while self.overdue and not enough():
            stamped = bool(self._overdue_stamped)
            uids = self._overdue_stamped if stamped else self._overdue
            self._read_anew(uids.pop(), stamped=stamped)

    def read_first(self, uids: Iterable[str]) -> bool:
        """Read anew those of these pods that are overdue, of many only some; whether none was.

        To be asked before something is decided on them: what they were judged by may not hold.
        """
        if not self._overdue and not self._overdue_stamped:
            return True
        found = [uid for uid in uids if uid in self._overdue or uid in self._overdue_stamped]
        left = inf if self._at_once is None else self._at_once
        for uid in found:
            if left <= 0:
                break
            self._overdue.discard(uid)
            self._overdue_stamped.discard(uid)
            left -= self._read_anew(uid, stamped=True)
        return not found

    def _reassess(
        self, uids: Collection[str], *, stamped: bool = False, at_once: bool = False
    ) -> None:
        """Read these pods anew; those with a stamp, whose charge stays, only if asked for.

        Of many, or of large ones, only some `at_once`, the others when somebody lets us
        `read_overdue`.
        """
        if at_once or self._at_once is None:
            for uid in sorted(uids):
                self._read_anew(uid, stamped=stamped)
            return
        left, overdue = self._at_once, self._overdue_stamped if stamped else self._overdue
        some = sorted(uids) if len(uids) <= left else list(islice(uids, left))
        if len(some) < len(uids):
            # As a whole: one by one it would take ten times as long.
            overdue.update(uids)
        for place, uid in enumerate(some):
            if left <= 0:
                overdue.update(some[place:])
                return
            overdue.discard(uid)
            left -= self._read_anew(uid, stamped=stamped)

    def _read_anew(self, uid: str, *, stamped: bool) -> int:
        """Returns as how many pods it counts in what may be read at once."""
        record = self.pods.get(uid)
        if record is None or not (stamped or record.stamp is None):
            return 1
        self._uncharge(record)
        self._charge(record)
        return _weight(record.facts)

    def _reassess_class(self, name: str) -> None:
        named = [b for b in self.groups.values() if b.facts and b.facts.priority_class == name]
        self._reassess(set().union(*(group.members for group in named)))

    def _learned(self, resources: Iterable[str]) -> None:
        """New kinds of cards are known: pods that ask for their resource may be read anew."""
        for resource in set(resources):
            self._reassess(self._unstamped.asking_for(resource))

    # --- how a pod is read -------------------------------------------

    def _class_key(self, record: PodRecord) -> tuple[Hashable, Gang | None]:
        """The key of its class: pods have the same if they are alike in all that `judgement` reads.

        Beside it its gang, or its group that has a reservation, if it is in one.
        """
        facts, request = record.facts, record.request
        group = self.groups.get(facts.group) if facts.group else None
        agrees = facts.own_queue in ("", record.queue)
        # What a reservation covers changes with every other member, of a gang or not any more.
        together = group is not None and (group.gang or group.reservation is not None)
        mode = self.mode_in(facts.namespace)
        # Where nothing is enforced nobody waits for anybody.
        gang = group if together and mode is Mode.ENFORCE else None
        group_key = gang.key if gang is not None else ""
        if group is not None and (
            group.facts is None or group.reservation is not None or not agrees
        ):
            group_key = group.key
        odd: Hashable = None
        if request is None or not request.cards:
            odd = (facts.card_text, facts.selector, facts.devices)
        own = "" if agrees else facts.own_queue
        account = self._accounts.get(record.queue)
        kept_out = account and account.facts and not account.facts.admits(facts.namespace)
        namespace = facts.namespace if kept_out else ""
        return (request, mode, namespace, group_key, gang is None, own, facts.problem, odd), gang

    def _stamped_cards(self, record: PodRecord, stamp: Stamp) -> dict[str, int]:
        """The cards of a stamp; but of a pod that somebody bound to a node with cards of another
        model, those of that node (E3): it holds them, whatever it was let through for.

        Looked at once, when it is bound (D8), as soon as the node shows a card of a resource that
        the pod asks for. What is found is written into the stamp for those who start later: of a
        pod that runs when it is first seen nobody can tell any more what its node was. By the model
        alone: how a node divides its cards may change before the pod starts.
        """
        facts, cards = record.facts, dict(stamp.cards)
        if facts.state is not State.BOUND:
            return cards
        if not record.compared:
            models = {model_of(name) for name, amount in cards.items() if amount}
            found = self._cards_on_node(facts)
            record.compared = bool(found) or not models
            record.node_cards = tuple(
                (r, card) for r, card in found if models and model_of(card) not in models
            )
        return record.on_node if record.node_cards else cards

    def _cards_on_node(self, facts: PodFacts) -> tuple[tuple[str, str], ...]:
        """By the resource names that a bound pod asks for: the cards that its node shows."""
        found = ((r, self.nodes.card_of(facts.node, r)) for r, _ in facts.devices)
        return tuple((r, card) for r, card in found if card is not None)

    def _unstamped_charge(self, record: PodRecord, *, bound: bool) -> Charge:
        """What a pod is charged that no stamp of ours charges.

        Notes on the record what it asks for, and the cards of its node, which stay (D8).
        """
        facts = record.facts
        record.claim, record.elsewhere = None, False
        if bound and not record.node_cards:
            record.node_cards = self._cards_on_node(facts)
        if record.node_cards:
            record.request = None
            return self._with_cpu_memory(facts, record.queue, record.on_node)
        cards: dict[str, int] = {}
        account = self._accounts.get(record.queue)
        quota = account.quota if account else {}
        reading = self.reading_of(facts, account)
        record.request = reading.request
        if record.gated and reading.elsewhere is not None:
            record.elsewhere = True
            card = _first_in(quota, reading.elsewhere)
            cards = {card: record.request.amount} if card else cards
            return self._with_cpu_memory(facts, record.queue, cards)
        for request in self._one_by_one(facts, record.queue, record.request):
            card = _first_in(quota, request.cards)
            if card:
                cards[card] = cards.get(card, 0) + request.amount
            if len(request.cards) > 1 and request.amount and request is record.request:
                record.claim = (claim_of(request.cards, request.amount), card)
        return self._with_cpu_memory(facts, record.queue, cards)

    def _one_by_one(self, facts: PodFacts, queue: str, whole: PodRequest) -> list[PodRequest]:
        """With two card resources a pod is refused; one that came past us is counted by each."""
        devices = card_devices(facts, self) if len(facts.devices) > 1 else []
        if len(devices) < 2:
            return [whole]
        return [self.request_of(replace(facts, devices=(one,)), queue) for one in devices]

    def _charge_state(self, record: PodRecord, *, bound: bool) -> ChargeState:
        if bound:
            return ChargeState.ALLOCATED
        if not record.gated:
            return ChargeState.RELEASED
        policy = self.policy_of(record.facts, record.queue)
        waits = policy is Policy.GATE or record.elsewhere
        return ChargeState.GATED_GATE if waits else ChargeState.GATED_DENY

    def _priority(self, facts: PodFacts) -> int:
        group = self.groups.get(facts.group) if facts.group else None
        if group is None or group.facts is None:
            return facts.priority
        return max(facts.priority, self._priorities.get(group.facts.priority_class, facts.priority))

    # --- accounts and groups ------------------------------------------------------------------

    def _account(self, queue: str) -> Account:
        account = self._accounts.get(queue)
        if account is None:
            account = self._accounts[queue] = Account(queue)
        return account

    def _forget_unused(self, account: Account | None) -> None:
        if account is not None and account.unused and self._accounts.get(account.name) is account:
            del self._accounts[account.name]

    def _group(self, key: str) -> PodGroupState:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = PodGroupState(key)
        return group

    def _leave_group(self, group: PodGroupState, uid: str) -> None:
        group.leave(uid)
        if group.unused:
            del self.groups[group.key]

    def _mark_group(self, group: PodGroupState) -> None:
        """Members, minimum or reservation of a group changed: mark it, and the queues in which
        members of it wait, as pending.
        """
        self.dirty.mark_group(group.key)
        for pending in group.queues:
            pending.gang_changed(group)
            self.dirty.mark_pending(pending.queue)

    def _written(self, group: PodGroupState, reservation: Reservation) -> None:
        """A reservation is written: its queue is pending, for members that waited for that."""
        self._mark_group(group)
        self.dirty.mark_pending(reservation.queue)

    def _settle(self, queues: Iterable[str]) -> None:
        """A group changed what it holds in these queues: mark them, and drop unused accounts."""
        self.dirty.mark_changed(*queues)
        for queue in queues:
            self._forget_unused(self._accounts.get(queue))


def _weight(facts: PodFacts) -> int:
    """As how many pods of usual length one counts: what it costs to read goes by that."""
    alternatives = facts.card_text.count("|") if facts.card_text else 0
    return 1 + len(facts.selector) // _USUAL + (alternatives + len(facts.devices)) // _FEW


def _first_in(quota: Mapping[str, int], cards: Sequence[str]) -> str:
    """The first alternative with a quota, or else the first; empty where there is none."""
    for card in cards:
        if quota.get(card):
            return card
    return cards[0] if cards else ""
