"""The product with one of its safeguards taken out, to show that a run finds it.

What is broken is broken in the process of one replica, by a test: the product has no switches.
Every function is replaced where it is looked up: a name that was imported is broken in the module
that uses it.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import msgspec

from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.election import Elector, StoredTerm, TermObject, takeover
from cardquota.cluster.serving import MOST, BodyBudget
from cardquota.cluster.watch import (
    Delivery,
    ObjectIndex,
    Reflector,
    decode_identity,
    delivery,
    revision_of,
)
from cardquota.cluster.writes import pod_path
from cardquota.control import WorkloadWaker, leader_work
from cardquota.control.reclaim import EvictionAnswer, Evictor
from cardquota.control.release import (
    Chosen,
    GateAttempts,
    GateOpener,
    Opened,
    PodGroupWriter,
    ReservationTimeouts,
    gate,
)
from cardquota.extender import EnqueueAsk, EnqueueVotes
from cardquota.quota import (
    Charge,
    MutableAmounts,
    Outcome,
    Policy,
    Reservation,
    Stamp,
    Verdict,
    canonical,
)
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import AccountReader
from cardquota.quota.decisions import (
    EnqueueVerdict,
    RefusedWorkload,
    Vote,
    borrowing,
    create_judgement,
    judge_enqueue,
)
from cardquota.quota.ledger import Ledger, LedgerReader, PodAssessor, charges
from cardquota.quota.ledger.groups import GroupFacts, GroupRequest, PodGroupState
from cardquota.quota.pods import REPLICA_SET, HeldCards, PodFacts, PodMaker, PodRecord
from cardquota.quota.release import release_judge
from cardquota.quota.reports import Waiting, queue_report

from ..lengths import STANDS_STILL, Lengths
from . import broken_cards
from .breaker import Breaker

_LOST = 0.02
"""The share of watch events that are lost."""
_KEPT = 0.05
"""The share of pods that stay among the holders."""


@dataclass(frozen=True)
class Breakage:
    """One safeguard less."""

    apply: Callable[[Breaker], None]
    """Its name, with dashes, is that of the breakage."""
    without: tuple[str, ...] = ()
    """Bindings of policies that are taken away too."""
    of: str = ""
    """What must be there: `extender`, `volcano`, or nothing else."""
    faults: tuple[str, ...] = ("node labels gone",)
    """Those that it is the safeguard against, instead of all: by them it is likely to be found."""
    kill: str = ""
    """One kind of kill instead of each in turn."""

    @property
    def name(self) -> str:
        """As `BREAK=` has it."""
        return self.apply.__name__.strip("_").replace("_", "-")

    def focus(self, lengths: Lengths) -> Lengths:
        """The same run with these faults alone, each at least once, and kills as soon as they make
        sense. None need be where the faults keep them off.
        """
        shortest, longest = lengths.between_kills
        return replace(
            lengths,
            faults=self.faults,
            wanted=tuple(f"fault: {name}" for name in self.faults),
            kills=0 if STANDS_STILL in self.faults else lengths.kills,
            between_kills=(shortest / 2, longest / 2) if self.kill else lengths.between_kills,
            releases_before_a_kill=min(lengths.releases_before_a_kill, 50),
        )


def _no_fence(breaker: Breaker) -> None:
    """No fence in the API server, and no settle time."""
    whole = takeover.settle_and_catch_up

    async def at_once(
        elector: Elector,
        reflectors: Sequence[Reflector[Any]],
        client: Client,
        held: Callable[[], Awaitable[float]],
        *,
        settle: float = 3.0,
        renew_deadline: float = 8.0,
        optional_wait: float = 10.0,
    ) -> None:
        waits = {"settle": 0.0, "renew_deadline": 0.0, "optional_wait": optional_wait}
        await whole(elector, reflectors, client, held, **waits)

    breaker.replace(leader_work, "settle_and_catch_up", at_once)


def _no_eviction_fence(breaker: Breaker) -> None:
    """No fence in the API server for those that end."""
    ask = Evictor.ask

    async def whoever_leads(self: Any, facts: PodFacts, *, dry_run: bool = False) -> EvictionAnswer:
        return await ask(self, facts, dry_run=dry_run)

    breaker.replace(Evictor, "ask", whoever_leads)


def _frozen_parameter(breaker: Breaker) -> None:
    """The API server stays with the first leader's term."""
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
    """No uid and resourceVersion in the patch."""

    def nothing(facts: PodFacts) -> dict[str, Any]:
        return {}

    breaker.replace(gate, "precondition", nothing)


def _uncharged_by_reading(breaker: Breaker) -> None:
    """A patch of unknown outcome is un-charged once the pod is read gated."""

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
    """Take-over without catching up."""

    async def nothing(reflector: Reflector[Any], client: Client, named: int | None = None) -> None:
        pass

    breaker.replace(takeover, "_catch_up", nothing)


def _charged_after(breaker: Breaker) -> None:
    """A pod is charged after its patch, not before."""
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
    """A gang's reservation is not written."""

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
    """One in 50 watch events of pods is lost."""
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
    """A gang's reservation counts what its members hold in other queues."""

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
    """What was reserved for a group before its pods came is added to what they ask for."""
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
    """A group is enqueued whatever room there is for what it asks for."""

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
    """What a gang does not use in time, or cannot start with, is not given back."""
    over = ReservationTimeouts.over

    def never(self: Any, key: str) -> bool:
        if over(self, key):
            breaker.count(ReservationTimeouts, "over")
        return False

    breaker.replace(ReservationTimeouts, "over", never, always=False)


def _strangers_in_the_way(breaker: Breaker) -> None:
    """At create everybody at the gate counts, whatever they wait for."""
    could_go = create_judgement._could_go

    def whatever_it_waits_for(ledger: Ledger, record: PodRecord) -> bool:
        if not could_go(ledger, record):
            breaker.count(create_judgement, "_could_go")
        return True

    breaker.replace(create_judgement, "_could_go", whatever_it_waits_for, always=False)


def _forged_charge(breaker: Breaker) -> None:
    """Where nothing is enforced a pod counts before it is on a node."""
    counts = PodAssessor._counts

    def all_count(self: Any, record: PodRecord) -> bool:
        return counts(self, record) or not record.gated

    breaker.replace(PodAssessor, "_counts", all_count)


def _lent_to_all(breaker: Breaker) -> None:
    """What a queue lends to rolling updates is lent to all."""
    surplus = borrowing.is_surplus

    def anybody(ledger: LedgerReader, facts: PodFacts, queue: str, card: str, amount: int) -> bool:
        if not surplus(ledger, facts, queue, card, amount):
            breaker.count(borrowing, "is_surplus")
        return True

    def maker(facts: PodFacts) -> PodMaker:
        return PodMaker(facts.namespace, REPLICA_SET, facts.uid)

    breaker.replace(borrowing, "is_surplus", anybody, always=False)
    breaker.replace(borrowing, "surging_maker", maker)
    breaker.replace(charges, "surging_maker", maker)


def _unbounded_bodies(breaker: Breaker) -> None:
    """Bodies have room however many are in work."""

    def any_number(self: Any, more: int, size: int) -> None:
        if self.held + more > MOST:
            breaker.count(BodyBudget, "take")
        self.held += more

    breaker.replace(BodyBudget, "take", any_number, always=False)


def _sleepers_sleep(breaker: Breaker) -> None:
    """Nobody is woken that was refused."""

    def nobody(self: Any, one: RefusedWorkload, number: int) -> None:
        pass

    breaker.replace(WorkloadWaker, "_wake", nobody)


def _waiting_off_by_one(breaker: Breaker) -> None:
    """A queue's status says that one more waits than does."""
    counted = queue_report._waiting

    def one_more(account: AccountReader) -> Waiting:
        found = counted(account)
        return found._replace(pods=found.pods + 1)

    breaker.replace(queue_report, "_waiting", one_more)


def _holders_stay(breaker: Breaker) -> None:
    """One in 20 pods that change or end is kept among the holders."""
    discard = HeldCards.discard

    def sometimes_not(self: Any, record: PodRecord) -> None:
        if record.held and record.charge and random.random() < _KEPT:
            breaker.count(HeldCards, "discard")
            return
        discard(self, record)

    breaker.replace(HeldCards, "discard", sometimes_not, always=False)


def _volcano_vote_unreserved(breaker: Breaker) -> None:
    """Volcano makes pods of whoever asks; what fits may go to others meanwhile."""
    vote_now = EnqueueVotes._vote_now

    def as_soon_as_asked(self: Any, ask: EnqueueAsk) -> Vote:
        found = vote_now(self, ask)
        if found is not Vote.REJECT:
            return found
        breaker.count(EnqueueVotes, "_vote_now")
        return Vote.PERMIT

    breaker.replace(EnqueueVotes, "_vote_now", as_soon_as_asked, always=False)


def _volcano_refused_jobs(breaker: Breaker) -> None:
    """Where there is no room pods of Jobs are refused, as those of Deployments are."""
    policy_of = LedgerReader.policy_of

    def as_of_deployments(self: Any, facts: PodFacts, queue: str) -> Policy:
        if not facts.of_volcano_job:
            return policy_of(self, facts, queue)
        breaker.count(LedgerReader, "policy_of")
        return Policy.DENY

    breaker.replace(LedgerReader, "policy_of", as_of_deployments, always=False)


BREAKAGES = {
    one.name: one
    for one in (
        Breakage(
            _no_fence,
            without=tuple(f"cardquota-{name}" for name in v.TERM_POLICIES),
            kill="with patches on their way",
        ),
        Breakage(
            _no_eviction_fence,
            without=("cardquota-eviction-term",),
            faults=(STANDS_STILL,),
        ),
        Breakage(_frozen_parameter),
        Breakage(_no_precondition, faults=("patches held", "connections cut")),
        Breakage(_uncharged_by_reading, faults=("patches held",)),
        Breakage(_no_catch_up, kill="while the others are told nothing"),
        Breakage(_charged_after, faults=("connections cut",)),
        Breakage(_no_write_ahead, faults=("connections cut",)),
        Breakage(_dropped_event),
        Breakage(_phantom_reservation),
        Breakage(_unjudged_enqueue),
        Breakage(_added_reservation),
        Breakage(_endless_reservation),
        Breakage(_strangers_in_the_way),
        Breakage(_forged_charge),
        Breakage(_lent_to_all),
        Breakage(_unbounded_bodies, faults=("bodies at once",)),
        Breakage(_sleepers_sleep),
        Breakage(_waiting_off_by_one),
        Breakage(_holders_stay),
        Breakage(broken_cards.uncharged_binding, of="extender"),
        Breakage(broken_cards.unsettled_binding, of="extender", faults=("patches held",)),
        Breakage(broken_cards.unnamed_pod, of="extender", faults=("patches held",)),
        Breakage(broken_cards.kinds_meet, of="extender"),
        Breakage(broken_cards.broken_card, of="extender"),
        Breakage(_volcano_vote_unreserved, of="volcano"),
        Breakage(_volcano_refused_jobs, of="volcano"),
    )
}
