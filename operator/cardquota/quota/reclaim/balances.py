"""What queues hold and may have, as one plan after the other changes that (L3, L4)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ..decisions.queue_room import QueueRoom
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import ChargeState, PodRecord
from .beneficiaries import is_owed
from .plan import Beneficiary, ReclaimWay
from .victims import Member, QueueCard, gives_quota


class QueueBalances:
    """To be told of each plan. Costs nothing for queues that nobody asks about."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._going = Counter[QueueCard]()
        """What bound pods hold that are being deleted."""
        self._coming: dict[str, Counter[str]] = {}
        """By card and queue: the part of quotas that is free when all are gone that are being
        deleted."""
        self._ended = Counter[QueueCard]()
        """What bound pods hold that end by plans."""
        self._quota = Counter[QueueCard]()
        """What is left more of the quota, by all plans."""
        self._owed: dict[str, Counter[str]] = {}
        """By queue: what those get who are owed it, of each card."""
        self._held: dict[QueueCard, int] = {}
        """What is bound and not being deleted, beyond what the queue deserves; before all plans."""

    def note_leaving(self, record: PodRecord, *, is_room: bool) -> None:
        """A pod is being deleted. `is_room`: whether it goes soon enough to count on."""
        certain = is_room and gives_quota(self._ledger, record)
        for card, amount in record.charge:
            if record.charge_state is ChargeState.ALLOCATED:
                self._going[record.queue, card] += amount
            if certain:
                self._coming.setdefault(card, Counter())[record.queue] += amount

    # --- who is above its share ---------------------------------------------------------------

    def above(self, card: str) -> dict[QueueCard, int]:
        """The queues that hold more of a card than they deserve, by rank: the first are most above
        their share.
        """
        shares: dict[str, Fraction | None] = {}
        for account in self._ledger.accounts():
            # No plan can take what is charged under the name of a queue that does not exist.
            more = (
                self.beyond((account.name, card)) if account.facts and card in account.rows else 0
            )
            if more > 0:
                deserved = self._ledger.shares.shown(account.name, card)
                shares[account.name] = Fraction(more, deserved) if deserved else None
        levels = sorted({one for one in shares.values() if one is not None}, reverse=True)
        ranks: dict[Fraction | None, int] = {share: n for n, share in enumerate(levels, 1)}
        ranks[None] = 0  # above any share: it deserves none
        return {(queue, card): ranks[share] for queue, share in shares.items()}

    def beyond(self, key: QueueCard) -> int:
        """What a queue still holds beyond what it deserves, of what is bound and stays."""
        found = self._held.get(key)
        if found is None:
            account = self._ledger.account(key[0])
            row = account.row(key[1]).by_charge_state if account is not None else (0,)
            found = row[ChargeState.ALLOCATED] - self._going[key]
            found = self._held[key] = found - self._ledger.shares.shown(*key)
        return found - self._ended[key]

    # --- what those get who wait --------------------------------------------------------------

    def is_owed(self, members: Sequence[PodRecord]) -> bool:
        """Whether their queue deserves what they ask for, beside what others of it get (L3)."""
        return is_owed(self._ledger, members, self._owed.get(members[0].queue))

    def lacking(
        self,
        one: Beneficiary,
        members: Sequence[PodRecord],
        asked: Mapping[str, int],
        *,
        now: bool = False,
    ) -> Mapping[str, int]:
        """How many cards its queue's quota lacks, of each; nothing for who is owed them. `now`:
        without what pods that are being deleted give back.
        """
        account = self._ledger.account(one.queue)
        if one.way is ReclaimWay.RECLAIM or account is None:
            return {}
        group = self._ledger.groups.get(members[0].facts.group) if members[0].facts.group else None
        room, found, nothing = QueueRoom(account, group), {}, Counter[str]()
        for card, amount in asked.items():
            coming = nothing if now else self._coming.get(card, nothing)
            left = room.left(card) - account.given_to_others(card, coming)
            left += self._quota[one.queue, card] + coming[one.queue]
            if amount > left:
                found[card] = amount - left
        return found

    def promise(self, one: Beneficiary, asked: Mapping[str, int]) -> None:
        """It gets these cards."""
        for card, amount in asked.items():
            if one.way is ReclaimWay.PREEMPT:
                self._quota[one.queue, card] -= amount
            else:
                self._owed.setdefault(one.queue, Counter())[card] += amount

    def give_back(self, members: Iterable[Member]) -> None:
        """These end by a plan."""
        for member in members:
            for key, amount in member.holds:
                self._quota[key] += amount if member.gives_quota else 0
                self._ended[key] += amount if member.bound else 0
