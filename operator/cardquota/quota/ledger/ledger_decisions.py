"""What the release door decides, charged before it is sent and until it is seen."""

from collections.abc import Callable, Iterator

from ..stamp import Charge, Reservation, Stamp
from .ledger_charges import LedgerCharges
from .pod_group_state import PodGroupState


class LedgerDecisions(LedgerCharges):
    """Told by the leader's release door; on other replicas nothing is ever assumed."""

    def assume(self, uid: str, stamp: Stamp) -> None:
        """Charge a gated pod before its gate is opened."""
        record = self.pods[uid]
        self._uncharge(record)
        record.assumed = stamp
        self._charge(record)

    def confirm(self, uid: str, stamp: Stamp, revision: int) -> None:
        """The patch landed at `revision`: what is older is no news any more.

        Does nothing if the pod is not charged by this very stamp any more.
        """
        record = self.pods.get(uid)
        if record is not None and record.assumed is stamp:
            record.settled_revision = revision

    def retract(self, uid: str, stamp: Stamp, *, hold_back: bool = False) -> None:
        """The gate was not opened, and no patch of ours can open it any more.

        With `hold_back` the pod is not tried again before it changes or is `put_back`. A charge by
        another stamp is left alone, though that be equal: somebody else decided it since.
        """
        record = self.pods.get(uid)
        if record is not None and record.assumed is stamp:
            self._uncharge(record)
            record.assumed, record.settled_revision = None, 0
            record.held_back = hold_back
            self._charge(record)

    def hold_back(self, uid: str) -> None:
        """A gated pod is not to be tried before it changes or is `put_back`."""
        record = self.pods.get(uid)
        if record is not None and record.gated and not record.held_back:
            self._uncharge(record)
            record.held_back = True
            self._charge(record)

    def put_back(self, uid: str) -> None:
        """A pod that was held back may be tried again."""
        record = self.pods.get(uid)
        if record is not None and record.held_back:
            self._uncharge(record)
            record.held_back = False
            self._charge(record)

    def hold_back_gang(self, key: str) -> None:
        """A gang that has not started is not to be tried before it is put back."""
        book = self.groups.get(key)
        if book is not None and not book.held_back:
            book.held_back = True
            self._stir(book)

    def put_back_gang(self, key: str, queue: str) -> None:
        """A gang that was held back in a queue may be tried again."""
        book = self.groups.get(key)
        if book is not None and book.held_back:
            book.held_back = False
            self._stir(book)
            self.dirty.mark_pending(queue)

    def end_term(self) -> None:
        """We decide no longer: from here on only what is seen counts."""
        for _ in self.end_term_in_steps():
            pass

    def end_term_in_steps(self) -> Iterator[None]:
        """The same, to be iterated over to its end: a step for each pod and group that we decided
        on, none for all others. Events may be taken in between two steps.
        """
        decided = [
            (key, book)
            for key, book in self.groups.items()
            if book.assumed or book.unwritten or book.held_back
        ]
        for key, book in decided:
            for reservation in (*book.unwritten, book.assumed):
                if reservation is not None:
                    self.retract_reservation(key, reservation)
            if book.held_back:
                book.held_back = False
                self._stir(book)
            yield
        for uid in list(self._undone):
            record = self.pods.get(uid)
            if record is not None and record.assumed is not None:
                self.retract(uid, record.assumed)
            self.put_back(uid)
            yield

    def begin_term(self) -> None:
        """We decide from now on: everything is to be looked at once."""
        self.dirty.begin(self._accounts, self.groups, self.misplaced | self.unnoted)
        self.nodes.report_all()

    def decisions_seen(self) -> Callable[[], bool]:
        """A question to be asked at every event: was all seen again that is decided by now?

        To make it goes through all groups; to ask it, through what was on its way.
        """
        pods = [uid for uid in self._undone if self.pods[uid].assumed]
        groups = [key for key, book in self.groups.items() if book.assumed]

        def seen() -> bool:
            found = [self.pods[uid].assumed for uid in pods if uid in self.pods]
            return not any(found) and not any(
                self.groups[key].assumed for key in groups if key in self.groups
            )

        return seen

    def reserve(self, key: str, queue: str, term: str, asked: Charge) -> Reservation:
        """Charge a gang's minimum before its reservation is written (T2).

        `asked`: what the members that start are charged together, which was just judged to fit.
        """
        book = self.groups[key]
        reservation = book.reserve(queue, term, asked)
        self._posted_anew(book)
        return reservation

    def confirm_reservation(self, key: str, reservation: Reservation, revision: int) -> None:
        """The reservation that was charged last was written at `revision`.

        Of one that the group has lost since nothing remains: it may be made again under its name.
        """
        book = self.groups.get(key)
        if book is not None and book.decided(reservation):
            if book.assumed is reservation:
                book.settled_revision = revision
            self._written(book, reservation)

    def retract_reservation(self, key: str, reservation: Reservation) -> None:
        """The reservation was not written and cannot be any more; another one is left alone."""
        book = self.groups.get(key)
        if book is None:
            return
        pending = book.decided(reservation)
        if book.assumed is reservation:
            book.assumed, book.settled_revision = None, 0
            self._posted_anew(book)
        elif pending:
            self._written(book, reservation)

    def lose_place(self, key: str) -> None:
        """The time of a gang's reservation is over: those who fit go before it from now on (E8)."""
        book = self.groups.get(key)
        if book is not None:
            book.lost_place = True
            self._stir(book)

    def rest(self) -> None:
        """Nobody here decides: forget what is to be looked at, since a term begins with all."""
        self.dirty.clear()
        self.nodes.forget_reports()

    def _posted_anew(self, book: PodGroupState) -> None:
        self._stir(book)
        self._settle(book.repost(self._account))
