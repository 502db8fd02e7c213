"""The product with one of its safeguards taken out, to show that a run finds it.

What is broken is broken in the process of one replica, by a test: the product has no switches.
Every function is replaced where it is looked up: a name that was imported is broken in the module
that uses it.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from cardquota.cluster.api import (
    ApiError,
    Client,
    OutcomeUnknown,
    boottime,
    decode_identity,
    revision_of,
)
from cardquota.cluster.election import Elector, RevisionSource, StoredTerm, TermObject, takeover
from cardquota.cluster.serving import MOST, BodyBudget
from cardquota.cluster.watch import Delivery, ObjectIndex, delivery
from cardquota.cluster.writes import pod_path
from cardquota.control import WorkloadWaker, leadership
from cardquota.control.release import (
    Chosen,
    GateAttempts,
    GateOpener,
    Opened,
    PodGroupWriter,
    ReservationTimeouts,
    gate,
)
from cardquota.quota import (
    Charge,
    MutableAmounts,
    Outcome,
    Reservation,
    Stamp,
    Verdict,
    canonical,
)
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions import (
    EnqueueVerdict,
    RefusedWorkload,
    borrowing,
    create_judgement,
    judge_enqueue,
)
from cardquota.quota.ledger import Ledger, LedgerReader, PodAssessor, charges
from cardquota.quota.ledger.groups import GroupFacts, GroupRequest, PodGroupState
from cardquota.quota.pods import REPLICA_SET, PodFacts, PodRecord, UpdatePart
from cardquota.quota.release import release_judge

from . import broken_answers, broken_cards, broken_votes
from .breaker import Breaker

_LOST = 0.02
"""The share of watch events that are lost."""


@dataclass(frozen=True)
class Breakage:
    """One safeguard less."""

    what: str
    apply: Callable[[Breaker], None]
    without: tuple[str, ...] = ()
    """Bindings of policies that are taken away too."""
    of: str = ""
    """What must be there: `extender`, `volcano`, or nothing else."""


def _no_fence(breaker: Breaker) -> None:
    whole = takeover.settle_and_catch_up

    async def at_once(
        elector: Elector,
        reflectors: Sequence[RevisionSource],
        client: Client,
        held: Callable[[], Awaitable[float]],
        *,
        settle: float = 3.0,
        renew_deadline: float = 8.0,
        optional_wait: float = 10.0,
        clock: Callable[[], float] = boottime,
    ) -> None:
        waits = {"settle": 0.0, "renew_deadline": 0.0, "optional_wait": optional_wait}
        await whole(elector, reflectors, client, held, **waits, clock=clock)

    breaker.replace(leadership, "settle_and_catch_up", at_once)


def _frozen_parameter(breaker: Breaker) -> None:
    write = TermObject.write

    async def first_alone(
        self: Any, stored: StoredTerm | None, term: str, fault: str, timeout: float
    ) -> None:
        if stored is None:
            await write(self, stored, term, fault, timeout)
        else:
            breaker.count(TermObject, "write")

    breaker.replace(TermObject, "write", first_alone, always=False)


def _no_precondition(breaker: Breaker) -> None:
    def nothing(facts: PodFacts) -> dict[str, Any]:
        return {}

    breaker.replace(gate, "precondition", nothing)


def _uncharged_by_reading(breaker: Breaker) -> None:
    async def settle(self: Any, facts: PodFacts, stamp: Stamp) -> Opened:
        try:
            pod = gate._POD.decode(await self._settler.get(pod_path(facts)))
        except (ApiError, OutcomeUnknown):
            pod = None
        if pod and v.GATE not in [one.name for one in pod.spec.scheduling_gates or ()]:
            self._ledger.decisions.confirm(facts.uid, stamp, int(pod.metadata.resource_version))
            return Opened.YES
        self._ledger.decisions.retract(facts.uid, stamp, back_off=True)
        return Opened.NO

    breaker.replace(GateOpener, "settle", settle)


def _no_catch_up(breaker: Breaker) -> None:
    async def nothing(reflector: RevisionSource, client: Client, named: int | None = None) -> None:
        pass

    breaker.replace(takeover, "_catch_up", nothing)


def _charged_after(breaker: Breaker) -> None:
    send, opened = GateAttempts.send, GateOpener.open

    def send_uncharged(self: Any, pod: Chosen, slot: Any) -> Any:
        self._ledger.decisions.retract(pod.facts.uid, pod.stamp, back_off=True)
        return send(self, pod, slot)

    async def charge_what_landed(self: Any, facts: PodFacts, stamp: Stamp, resource: str) -> Opened:
        answer = await opened(self, facts, stamp, resource)
        record = self._ledger.pods.get(facts.uid)
        if answer is Opened.YES and record is not None and record.gated:
            self._ledger.decisions.assume(facts.uid, stamp)
        return answer

    breaker.replace(GateAttempts, "send", send_uncharged)
    breaker.replace(GateOpener, "open", charge_what_landed)


def _no_write_ahead(breaker: Breaker) -> None:
    async def reserve(
        self: Any,
        facts: GroupFacts,
        reservation: Reservation,
        *,
        unsure: object = None,
        objected: object = None,
    ) -> bool:
        return True

    breaker.replace(PodGroupWriter, "reserve", reserve)


def _dropped_event(breaker: Breaker) -> None:
    changed, deleted = Delivery.changed, Delivery.deleted

    def lost(self: Any, name: str) -> bool:
        found = self._kind == "pods" and random.random() < _LOST
        if found:
            breaker.count(Delivery, name)
        return found

    def sometimes(
        self: Any, raw: msgspec.Raw, *, newer_than: int = -1, listed: ObjectIndex | None = None
    ) -> int:
        if listed is None and lost(self, "changed"):
            return revision_of(decode_identity(raw).metadata.resource_version)
        return changed(self, raw, newer_than=newer_than, listed=listed)

    def sometimes_gone(self: Any, raw: msgspec.Raw) -> int:
        if lost(self, "deleted"):
            return revision_of(decode_identity(raw).metadata.resource_version)
        return deleted(self, raw)

    breaker.replace(delivery.Delivery, "changed", sometimes, always=False)
    breaker.replace(delivery.Delivery, "deleted", sometimes_gone, always=False)


def _phantom_reservation(breaker: Breaker) -> None:
    def of_all_queues(self: Any, queue: str, term: str, asked: Charge) -> Reservation:
        total = dict(asked)
        held = [record for record in self.members.values() if record.held]
        for record in held:
            for dimension, amount in record.charge:
                total[dimension] = total.get(dimension, 0) + amount
        if any(record.queue != queue and record.charge for record in held):
            breaker.count(PodGroupState, "reserve")
        # What was judged is not noted: the product's own recount must not be what finds it.
        self.assumed = Reservation(queue, term, canonical(total))
        return cast("Reservation", self.assumed)

    breaker.replace(PodGroupState, "reserve", of_all_queues, always=False)


def _added_reservation(breaker: Breaker) -> None:
    reserve = PodGroupState.reserve

    def beside_the_one_before(self: Any, queue: str, term: str, asked: Charge) -> Reservation:
        before = self.reservation if self.enqueued else None
        total: MutableAmounts = dict(asked)
        if before is not None and before.queue == queue:
            for dimension, amount in before.amounts:
                total[dimension] = total.get(dimension, 0) + amount
            breaker.count(PodGroupState, "reserve")
        return reserve(self, queue, term, canonical(total))

    breaker.replace(PodGroupState, "reserve", beside_the_one_before, always=False)


def _unjudged_enqueue(breaker: Breaker) -> None:
    def room_or_not(
        ledger: LedgerReader, facts: GroupFacts, request: GroupRequest | None = None
    ) -> EnqueueVerdict:
        found = judge_enqueue(ledger, facts, request)
        if found.verdict.outcome is not Outcome.WAITS:
            return found
        breaker.count(release_judge, "judge_enqueue")
        asked: MutableAmounts = {}
        for cards, number in (request or facts.request).cards:
            asked[cards[0]] = asked.get(cards[0], 0) + number
        return EnqueueVerdict(Verdict(Outcome.FITS, facts.queue), canonical(asked))

    breaker.replace(release_judge, "judge_enqueue", room_or_not, always=False)


def _endless_reservation(breaker: Breaker) -> None:
    over = ReservationTimeouts.over

    def never(self: Any, key: str) -> bool:
        if over(self, key):
            breaker.count(ReservationTimeouts, "over")
        return False

    breaker.replace(ReservationTimeouts, "over", never, always=False)


def _strangers_in_the_way(breaker: Breaker) -> None:
    could_go = create_judgement._could_go

    def whatever_it_waits_for(ledger: Ledger, record: PodRecord) -> bool:
        if not could_go(ledger, record):
            breaker.count(create_judgement, "_could_go")
        return True

    breaker.replace(create_judgement, "_could_go", whatever_it_waits_for, always=False)


def _forged_charge(breaker: Breaker) -> None:
    counts = PodAssessor._counts

    def all_count(self: Any, record: PodRecord) -> bool:
        return counts(self, record) or not record.gated

    breaker.replace(PodAssessor, "_counts", all_count)


def _lent_to_all(breaker: Breaker) -> None:
    surplus = borrowing.is_surplus

    def anybody(ledger: LedgerReader, facts: PodFacts, queue: str, card: str, amount: int) -> bool:
        if not surplus(ledger, facts, queue, card, amount):
            breaker.count(borrowing, "is_surplus")
        return True

    def part(facts: PodFacts) -> UpdatePart:
        return UpdatePart(facts.namespace, REPLICA_SET, facts.uid)

    breaker.replace(borrowing, "is_surplus", anybody, always=False)
    breaker.replace(borrowing, "part_of", part)
    breaker.replace(charges, "part_of", part)


def _unbounded_bodies(breaker: Breaker) -> None:
    def any_number(self: Any, more: int, size: int) -> None:
        if self.held + more > MOST:
            breaker.count(BodyBudget, "take")
        self.held += more

    breaker.replace(BodyBudget, "take", any_number, always=False)


def _sleepers_sleep(breaker: Breaker) -> None:
    def nobody(self: Any, one: RefusedWorkload, number: int) -> None:
        pass

    breaker.replace(WorkloadWaker, "_wake", nobody)


BREAKAGES = {
    "no-fence": Breakage(
        "no fence in the API server, and no settle time",
        _no_fence,
        ("cardquota-gate-term", "cardquota-reservation-term", "cardquota-binding-term"),
    ),
    "frozen-parameter": Breakage(
        "the API server stays with the first leader's term", _frozen_parameter
    ),
    "no-precondition": Breakage("no uid and resourceVersion in the patch", _no_precondition),
    "uncharged-by-reading": Breakage(
        "a patch of unknown outcome is un-charged once the pod is read gated",
        _uncharged_by_reading,
    ),
    "no-catch-up": Breakage("take-over without catching up", _no_catch_up),
    "charged-after": Breakage("a pod is charged after its patch, not before", _charged_after),
    "no-write-ahead": Breakage("a gang's reservation is not written", _no_write_ahead),
    "dropped-event": Breakage("one in 50 watch events of pods is lost", _dropped_event),
    "phantom-reservation": Breakage(
        "a gang's reservation counts what its members hold in other queues", _phantom_reservation
    ),
    "unjudged-enqueue": Breakage(
        "a group is enqueued whatever room there is for what it asks for", _unjudged_enqueue
    ),
    "added-reservation": Breakage(
        "what was reserved for a group before its pods came is added to what they ask for",
        _added_reservation,
    ),
    "endless-reservation": Breakage(
        "what a gang does not use in time, or cannot start with, is not given back",
        _endless_reservation,
    ),
    "strangers-in-the-way": Breakage(
        "at create everybody at the gate counts, whatever they wait for", _strangers_in_the_way
    ),
    "forged-charge": Breakage(
        "where nothing is enforced a pod counts before it is on a node", _forged_charge
    ),
    "lent-to-all": Breakage("what a queue lends to rolling updates is lent to all", _lent_to_all),
    "unbounded-bodies": Breakage("bodies have room however many are in work", _unbounded_bodies),
    "sleepers-sleep": Breakage("nobody is woken that was refused", _sleepers_sleep),
    "waiting-off-by-one": Breakage(
        "a queue's status says that one more waits than does", broken_answers.waiting_off_by_one
    ),
    "holders-stay": Breakage(
        "one in 20 pods that change or end is kept among the holders", broken_answers.holders_stay
    ),
    "uncharged-binding": Breakage(
        "what a pod gets of a card does not count before it is seen",
        broken_cards.uncharged_binding,
        of="extender",
    ),
    "unsettled-binding": Breakage(
        "a Binding of unknown outcome is un-charged at once",
        broken_cards.unsettled_binding,
        of="extender",
    ),
    "unnamed-pod": Breakage(
        "no uid and resourceVersion in a Binding", broken_cards.unnamed_pod, of="extender"
    ),
    "kinds-meet": Breakage(
        "nodes that offer both take pods by card and by memory at once",
        broken_cards.kinds_meet,
        of="extender",
    ),
    "broken-card": Breakage(
        "lists of broken cards are not heeded", broken_cards.broken_card, of="extender"
    ),
    "volcano-vote-unreserved": Breakage(
        "a vote permits what is not yet reserved", broken_votes.vote_unreserved, of="volcano"
    ),
    "volcano-refused-jobs": Breakage(
        "the policy Deny holds for pods of Volcano's Jobs, too",
        broken_votes.refused_jobs,
        of="volcano",
    ),
}
