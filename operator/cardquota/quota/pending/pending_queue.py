"""The pods that wait at a queue's gate, so that a decision costs by what can be released.

Equal pods form a class. A class, or the classes of a gang that starts whole, is a candidate. An
*active* candidate is to be tried: something about it changed. A candidate that was tried and lacks
room is *inadmissible* until there is as much as it needs. A candidate that waits for anything else
is *blocked* until that changes, which makes it active.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ..amounts import add_to
from ..pods.pod_record import ChargeState, PodRecord, SortKey
from ..vocabulary import Reason
from .candidate import (
    ANYTHING,
    ORDINARY,
    Candidate,
    Gang,
    InadmissibleClass,
    PodClass,
    Precedence,
    Shortage,
    precedence_of,
)
from .candidate_order import ActiveCandidates, Borrowers, InadmissibleClasses
from .pending_notices import PendingNotices, WaitTimes

_DENY: Final = ChargeState.GATED_DENY
AT_A_TIME: Final = 64
"""Candidates that one step activates."""
MOST_COUNTED: Final = 1_000
"""Candidates that a count looks at one by one, and inadmissible classes."""
_REASONS_OF_CARDS: Final = (
    *(Reason.INVALID_CARD, Reason.CARD_NOT_IN_QUOTA),
    *(Reason.NODE_WITHOUT_CARD, Reason.CARD_UNCLEAR),
)
"""Reasons that may end when another card becomes known."""


@dataclass(slots=True)
class _Members:
    """The members of one gang that wait in a queue."""

    classes: dict[Hashable, PodClass] = field(default_factory=dict)
    changed: dict[PodClass, None] = field(default_factory=dict)
    """Classes that a pod joined or left since their candidates were built."""
    one_by_one: Hashable = None
    """The gang's `one_by_one` at that time."""
    precedence: Precedence = ORDINARY
    """That of the gang at that time."""


class PendingQueue:
    """The pods at the gate of one queue."""

    def __init__(self, queue: str = "") -> None:
        self.queue = queue
        self.classes: dict[Hashable, PodClass] = {}
        self.deny_classes: dict[Hashable, int] = {}
        """Keys of the classes with pods of policy Deny, and how many such pods each has."""
        self.borrowers = Borrowers()
        """Pods to which the queue may lend cards, if they are of a rolling update (R6)."""
        self.groups: dict[Gang, Candidate] = {}
        """Groups that wait to be enqueued, before their pods are there (E1)."""
        self.asked_by_groups: dict[str, int] = {}
        """By dimension, how many of these groups ask for it."""
        self._asked: dict[Gang, Collection[str]] = {}
        """For what each of them asks."""
        self.refused = PodClass()
        """Pods whose gate somebody refused to open, and that are not tried for now. They wait, and
        are no candidates."""
        self.refused.waits_for = Reason.GATE_REFUSED
        self.inadmissible = InadmissibleClasses()
        self.waits = WaitTimes()
        """Since when the pods wait."""
        self.active = ActiveCandidates()
        """Candidates to try whatever room there is."""
        self._blocked: dict[Candidate, None] = {}
        self._blocked_on_cards: dict[Candidate, None] = {}
        """Candidates to be tried when another card becomes known."""
        self._to_activate: dict[Candidate, None] = {}
        """Candidates that are still to be activated."""
        self._by_gang: dict[Gang, _Members] = {}
        self._changed_gangs: dict[Gang, None] = {}
        """Gangs that changed: their members may now go together, or one by one."""
        self._epoch = 0
        self._needs_outdated = False
        self._refreshing: Iterator[None] | None = None
        self.pending_notices = PendingNotices()
        """Classes that are inadmissible or blocked and have pods to be told."""

    def __len__(self) -> int:
        return len(self.waits)

    @property
    def blocked_on_cards(self) -> bool:
        """Whether a candidate waits until another card becomes known."""
        return bool(self._blocked_on_cards or self._to_activate)

    def class_of(self, record: PodRecord) -> PodClass | None:
        """The class of a pod that waits here; None if it does not."""
        return self.refused if record.refused else self.classes.get(record.class_key)

    def classes_of(self, gang: Gang) -> Iterable[PodClass]:
        """The classes of a gang's members that wait here."""
        members = self._by_gang.get(gang)
        return members.classes.values() if members else ()

    def numbers_of(self, gang: Gang) -> Counter[str]:
        """How many members of a gang wait here, by task. Costs a step for each class of them."""
        found = Counter[str]()
        for pod_class in self.classes_of(gang):
            found[pod_class.task] += len(pod_class.sort_keys)
        return found

    def uids(self) -> Iterator[str]:
        """The uids of all waiting pods."""
        return (
            sort_key.uid
            for pod_class in (*self.classes.values(), self.refused)
            for sort_key in pod_class.sort_keys
        )

    def join(
        self,
        record: PodRecord,
        key: Hashable,
        gang: Gang | None = None,
        task: str = "",
    ) -> None:
        """A pod begins waiting in a class. The pods of a class have the same gang, or none, and the
        same `task`, if their gang needs some of it to start.
        """
        pod_class = self.classes.get(key)
        if pod_class is None:
            pod_class = self.classes[key] = PodClass(gang, key, task)
        record.class_key = pod_class.key
        self._begin(pod_class, record.sort_key)
        if record.charge_state is _DENY:
            add_to(self.deny_classes, key, 1)
        if gang is None:
            self.activate(pod_class.candidate or Candidate([pod_class]))
            return
        members = self._by_gang.get(gang)
        if members is None:
            members = self._by_gang[gang] = _Members()
        members.classes[key] = pod_class
        members.changed[pod_class] = None
        gang.queues[self.queue] = None
        self._changed_gangs[gang] = None

    def back_off(self, record: PodRecord) -> None:
        """A pod begins waiting that is `refused`."""
        self._begin(self.refused, record.sort_key)

    def _begin(self, pod_class: PodClass, sort_key: SortKey) -> None:
        pod_class.join(sort_key)
        self.waits.add(sort_key.made)
        self.pending_notices.count(pod_class, 1)

    def leave(self, record: PodRecord) -> None:
        """A pod no longer waits. Call this with the facts that it joined with."""
        key, record.class_key = record.class_key, None
        if key is None:
            if record.refused:
                self._end(self.refused, record.sort_key)
            return
        pod_class = self.classes[key]
        self._end(pod_class, record.sort_key)
        if record.charge_state is _DENY:
            add_to(self.deny_classes, key, -1)
        if not pod_class.sort_keys:
            del self.classes[key]
            self.pending_notices.discard(pod_class)
        if pod_class.gang is not None:
            self._leave_gang(pod_class.gang, key, pod_class)
        elif pod_class.candidate is not None:
            self._drop(pod_class.candidate)
            if pod_class.sort_keys:
                self.activate(pod_class.candidate)
            else:
                pod_class.candidate = None  # breaks the reference cycle

    def _end(self, pod_class: PodClass, sort_key: SortKey) -> None:
        pod_class.leave(sort_key)
        self.waits.discard(sort_key.made)
        self.pending_notices.count(pod_class, -1)

    def tell_all_again(self) -> None:
        """Have all pods and groups that wait here told once more why, in the words of now. Where
        nobody was told yet, the words are kept.
        """
        groups = [place for candidate in self.groups.values() for place in candidate.classes]
        for pod_class in (*self.classes.values(), *groups):
            if len(pod_class.pending_notices) < len(pod_class.sort_keys):
                pod_class.tell_all_again()
                candidate = pod_class.candidate
                if candidate is not None and candidate not in self.active:
                    # One that is active, or that is being built again, is told once it was tried.
                    self.pending_notices.ask(pod_class)

    def ask(self, group: Gang, sort_key: SortKey, dimensions: Collection[str]) -> None:
        """A group waits to be enqueued, or asks for something else than before. `dimensions`: of
        what it asks for any, each once.
        """
        self.retire(group)
        self._asked[group] = dimensions
        for dimension in dimensions:
            add_to(self.asked_by_groups, dimension, 1)
        pod_class = PodClass()
        pod_class.join(sort_key)
        candidate = self.groups[group] = Candidate([pod_class], group_to_enqueue=group)
        self.activate(candidate)

    def retire(self, group: Gang) -> None:
        """A group no longer waits to be enqueued. Does nothing for one that did not."""
        candidate = self.groups.pop(group, None)
        if candidate is None:
            return
        self._dissolve(candidate)
        for dimension in self._asked.pop(group):
            add_to(self.asked_by_groups, dimension, -1)

    def judge_groups_anew(self) -> None:
        """The queue changed: have the groups that wait to be enqueued judged again, step by step.

        Pods that may be released are read anew when their queue changes, and join again.
        """
        if self.groups:
            self.activate_blocked()
            self.invalidate_needs()

    def gang_changed(self, gang: Gang) -> None:
        """A gang's minimum, reservation or members changed."""
        self._changed_gangs[gang] = None

    def candidate_of(self, gang: Gang) -> Candidate | None:
        """The group that waits to be enqueued, or the gang that starts whole. None: it is neither,
        or it is being built again.
        """
        asks = self.groups.get(gang)
        members = self._by_gang.get(gang)
        if asks is not None or members is None:
            return asks
        candidate = next(iter(members.classes.values())).candidate
        return candidate if candidate is not None and candidate.gang is gang else None

    def place_of(self, candidate: Candidate) -> tuple[int, int]:
        """Its place in the order of all that wait in the queue, whatever they wait for, from 1, and
        how many wait. A group counts once, and so do equal pods without a group that starts
        together. If there is too much to count: 0, and at least so many.

        Costs a step for each candidate that does not wait for room and each inadmissible class, up
        to a limit.
        """
        others: tuple[Collection[Candidate], ...]
        others = self.active, self._blocked, self._blocked_on_cards, self._to_activate
        if len(self.inadmissible) + sum(len(some) for some in others) > MOST_COUNTED:
            return 0, MOST_COUNTED
        place, before, together = candidate.indexed_key, 0, 0
        for inadmissible in self.inadmissible:
            before += inadmissible.before(place)
            together += len(inadmissible)
        for some in others:
            for other in some:
                # One that lacks room may also wait for another card; a group that waits to be
                # enqueued may have members already.
                if other.inadmissible is None and other.gang not in self.groups:
                    before += other.indexed_key < place
                    together += 1
        return before + 1, max(together, before + 1)

    # --- candidates to be tried ---------------------------------------------------------------

    def refresh(self, epoch: int, limit: Callable[[str], int | None]) -> bool:
        """Activate candidates whose answer may have changed, and order those to try; some in each
        call.

        Returns whether there are more. Then none may be tried yet: one of the rest may come before
        the first active one. `epoch` differs from the last one if the known cards have changed.
        `limit`: what the queue may hold of a dimension.
        """
        if epoch != self._epoch:
            self._epoch = epoch
            if self._to_activate:
                self._to_activate.update(self._blocked_on_cards)
            else:
                self._to_activate = self._blocked_on_cards
            self._blocked_on_cards = {}
        if self._refreshing is None:
            self._refreshing = self._refresh(limit)
        if sum(1 for _ in islice(self._refreshing, AT_A_TIME)) == AT_A_TIME:
            return True
        self._refreshing = None
        # An event between two steps may have added work for a loop that had already ended.
        return bool(
            self._changed_gangs
            or self._needs_outdated
            or self._to_activate
            or self.active.unordered
        )

    def _refresh(self, limit: Callable[[str], int | None]) -> Iterator[None]:
        """One candidate after the other. Events between two steps may add more."""
        while self._changed_gangs:
            yield from self._rebuild_candidates(self._changed_gangs.popitem()[0], limit)
        if self._needs_outdated:
            self._needs_outdated = False
            for inadmissible in self.inadmissible:
                if inadmissible:
                    shortage = inadmissible.shortage._replace(needs=ANYTHING)
                    self.inadmissible.set_shortage(inadmissible, shortage)
                yield
        while self._to_activate:
            self.activate(self._to_activate.popitem()[0])
            yield
        while self.active.put_one_in_order():
            yield

    def _rebuild_candidates(self, gang: Gang, limit: Callable[[str], int | None]) -> Iterator[None]:
        """Build a gang's candidates again: one of all classes together, or one of each class.

        If members go one by one and nothing that concerns all of them changed, only the changed
        classes are built again. Else every member that goes would have all others tried again. If
        only the gang's precedence changed, the others get another place, and are not tried again.
        """
        members, started = self._by_gang[gang], gang.started
        before, members.one_by_one = members.one_by_one, gang.one_by_one
        alike = before is not None and before == members.one_by_one
        precedence = precedence_of(gang, self.queue, limit)
        moved = alike and precedence != members.precedence
        members.precedence = precedence
        changed = members.changed
        others = [one for one in members.classes.values() if one not in changed] if moved else ()
        classes = list(changed if alike else members.classes.values())
        members.changed = {}
        for pod_class in classes:
            if pod_class.candidate is not None:
                self._dissolve(pod_class.candidate)
            if started and pod_class.sort_keys:
                self.activate(Candidate([pod_class], precedence=precedence))
            yield
        for pod_class in others:
            if pod_class.candidate is not None:
                self._move(pod_class.candidate, precedence)
            yield
        left = [] if started else [pod_class for pod_class in classes if pod_class.sort_keys]
        if left:
            self.activate(Candidate(left, gang, precedence=precedence))

    def _move(self, candidate: Candidate, precedence: Precedence) -> None:
        """A candidate of one class has another precedence."""
        candidate.precedence = precedence
        if candidate in self.active:
            self.active.add(candidate)
        else:
            self.inadmissible.move(candidate)

    def set_inadmissible(
        self, candidate: Candidate, signature: Hashable, asked: frozenset[str], shortage: Shortage
    ) -> None:
        """The candidate was tried and lacks room, or waits behind others that do."""
        self._drop(candidate)
        self.inadmissible.put(candidate, signature, asked, shortage)
        if shortage.reason in _REASONS_OF_CARDS:
            # another known card may also mean there is room
            self._blocked_on_cards[candidate] = None

    def block(self, candidate: Candidate, reason: Reason | None) -> None:
        """The candidate was tried and waits for something other than room."""
        self._drop(candidate)
        (self._blocked_on_cards if reason in _REASONS_OF_CARDS else self._blocked)[candidate] = None

    def activate_class(self, inadmissible: InadmissibleClass) -> None:
        """Have all candidates of a class tried: their reason to wait has changed."""
        self._to_activate.update(dict.fromkeys(inadmissible))

    def invalidate_needs(self) -> None:
        """Have the first of every inadmissible class tried whatever room there is: the noted needs
        no longer hold.
        """
        self._needs_outdated = True

    def activate_blocked(self) -> None:
        """Have those candidates tried that wait, or may wait, for something other than room."""
        for some in (self._blocked, self._blocked_on_cards):
            self._to_activate.update(some)
            some.clear()

    # --- state --------------------------------------------------------------------------------

    def _leave_gang(self, gang: Gang, key: Hashable, pod_class: PodClass) -> None:
        self._changed_gangs[gang] = None
        members = self._by_gang[gang]
        if pod_class.sort_keys:
            members.changed[pod_class] = None
            return
        if pod_class.candidate is not None:
            # A candidate with an empty class cannot be judged.
            self._dissolve(pod_class.candidate)
        del members.classes[key]
        members.changed.pop(pod_class, None)
        if not members.classes:
            del self._by_gang[gang]
            self._changed_gangs.pop(gang)
            del gang.queues[self.queue]

    def _dissolve(self, candidate: Candidate) -> None:
        """Its classes will join other candidates. Until then their pods are told nothing."""
        self._drop(candidate)
        for pod_class in candidate.classes:
            self.pending_notices.discard(pod_class)
            pod_class.candidate = None

    def activate(self, candidate: Candidate) -> None:
        """Have a candidate tried: it may fit now, or have to wait for another reason."""
        self._drop(candidate)
        for pod_class in candidate.classes:
            self.pending_notices.discard(pod_class)
        self.active.add(candidate)

    def _drop(self, candidate: Candidate) -> None:
        self.inadmissible.take(candidate)
        self._to_activate.pop(candidate, None)
        if not self.active.discard(candidate):
            self._blocked.pop(candidate, None)
            self._blocked_on_cards.pop(candidate, None)
