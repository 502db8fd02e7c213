"""What must never be, looked for after every single change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..history import Change
from .enqueues import Enqueues
from .leeway import Calm, Lately, Leeway, Trouble
from .recount import Recount
from .starts import Starts
from .stored import Group, QueuePosition, StoredPod
from .volcano_judge import VOTED, VolcanoEnqueues

RESERVATION_TIMEOUT = 300.0
"""Seconds, where nothing else is set."""


@dataclass(frozen=True)
class Violation:
    """Something that must never be, and when it was."""

    revision: int
    what: str
    at: float = 0.0
    """Monotonic."""

    def __str__(self) -> str:
        return f"revision {self.revision}: {self.what}"


@dataclass(frozen=True)
class _Standing:
    """What a group is at some time, for the next of its gates."""

    queue: str
    minimum: int
    started: int
    reserved_in: str
    """Empty too while it is enqueued: that is replaced before a gate of it opens (T2)."""
    reserved: frozenset[tuple[QueuePosition, int]]

    @property
    def one_by_one(self) -> bool:
        """Whether a gate may open without more ado: it is no gang, or runs."""
        return self.minimum < 2 or self.started >= self.minimum


_MOMENT: Final = 2.0
"""Seconds within which the gates of one decision open."""


class Judge:
    """Follows a recount, change by change.

    What others than the product change (a quota, a group's queue, its minimum) is known to who
    decides only a moment later: of such, everything counts that was so lately.
    """

    def __init__(
        self,
        recount: Recount,
        troubles: Sequence[Trouble] = (),
        calm: Calm | None = None,
        *,
        reservation_timeout: float = RESERVATION_TIMEOUT,
    ) -> None:
        """`troubles`: when views were old, or answers late. `reservation_timeout`: seconds."""
        self._recount = recount
        self._leeway = Leeway(troubles)
        self._since = 0.0
        self._quotas = Lately[QueuePosition, int]()
        self._amounts = Lately[tuple[str, QueuePosition], int]()
        """What was held, and held or reserved."""
        """By queue and several of its cards: what is reserved of them and cannot be given out."""
        self._queues = Lately[str, str]()
        """Of groups, by key."""
        self._versions = Lately[str, frozenset[str]]()
        """Of Deployments, by the beginning of their ReplicaSets' names: those that have pods."""
        self._updated: dict[QueuePosition, float] = {}
        """When a pod of a rolling update was last released there."""
        self._standings = Lately[str, _Standing | None]()
        """Of groups, by key; None: the group is not there."""
        self._starts = Starts(recount, calm or Calm(), reservation_timeout)
        self._enqueues = Enqueues(recount)
        self._of_volcano = VolcanoEnqueues(recount) if recount.volcano else None
        self._could_hold = Lately[tuple[str, QueuePosition], int]()
        """What the members of a group hold somewhere, or wait for."""
        self.violations: list[Violation] = []

    @property
    def enqueued_by_volcano(self) -> int:
        """Groups that Volcano has enqueued, and of which that was judged."""
        return self._of_volcano.seen if self._of_volcano is not None else 0

    def after(
        self,
        change: Change,
        before: StoredPod | None,
        touched: set[QueuePosition],
        group: Group | None = None,
    ) -> None:
        """Judge the recount as it stands after this change.

        `before`: the pod until then; `group`: the pod group until then.
        """
        self._since = self._leeway.since(change.at)
        if change.kind == "job" and self._of_volcano is not None:
            self._of_volcano.job(change.key, gone=change.object is None)
        for what in self._starts.too_long(change.at):
            self._say(change, what)
        for place in sorted(touched):
            self._over_quota(change, place)
        pod = self._recount.pods.get(change.key) if change.kind == "pod" else None
        for one in (before, pod):
            if one is not None and one.maker:
                of = one.maker.rpartition("-")[0]
                self._versions.note(of, change.at, self._recount.versions(one))
        if pod is not None and not pod.gated:
            self._released(change, before, pod)
        keys = {found.group for found in (before, pod) if found is not None and found.group}
        if change.kind == "group":
            keys = {f"{self._recount.namespace}/{change.key}"}
        for key in sorted(keys):
            self._note_group(change.at, key)
            self._enqueues.note(key, change.at)
            self._starts.after(key, change.at)
            if self._of_volcano is not None:
                self._of_volcano.note(key, change.at)
            if change.kind == "group":
                self._reservation(change, group, self._recount.groups.get(key))
                self._by_volcano(change, group, self._recount.groups.get(key))

    def _over_quota(self, change: Change, place: QueuePosition) -> None:
        """I1; and with what is reserved for gangs, which never takes what is not there (E2).

        A quota that is lowered evicts nothing; but then nothing more may come (Q7). What is
        reserved for groups that are enqueued may stand over what is elastic: what was decided
        before that may be stored after it.
        """
        quota = self._recount.quota.get(place[0], {}).get(place[1], 0)
        self._quotas.note(place, change.at, quota)
        most = max(self._quotas.values(place, self._since)) + self._recount.lent.get(place[0], 0)
        held, reserved = self._recount.held[place], self._recount.reserved(place)
        over = self._recount.reserved(place, enqueued=True)
        now = self._recount.elastic(place[0]).get(place[1], 0) if over else 0
        lately = self._enqueues.elastic(place, self._since) if over else 0
        told = False
        for name, amount, least in (
            ("holds", held, held),
            (
                "holds and reserves",
                held + reserved - min(over, now),
                held + reserved - min(over, lately),
            ),
        ):
            # Once per excess, and again only when it grows.
            worst = max((most, *self._amounts.values((name, place), self._since)))
            self._amounts.note((name, place), change.at, amount)
            if least > worst and not told and (name == "holds" or not self._enqueued(change)):
                told = True
                self._say(change, f"{place[0]} {name} {least} of {place[1]}, quota {most}")

    def _quotas_lately(self, queue: str) -> dict[str, int]:
        """By card: the largest that it was."""
        cards = self._recount.quota.get(queue, ())
        return {c: max(self._quotas.values((queue, c), self._since), default=0) for c in cards}

    def _enqueued(self, change: Change) -> bool:
        """Whether this is a change of a group that is enqueued now: that is judged by itself."""
        key = f"{self._recount.namespace}/{change.key}" if change.kind == "group" else ""
        return key in self._recount.groups and self._recount.groups[key].enqueued

    def _released(self, change: Change, before: StoredPod | None, pod: StoredPod) -> None:
        if before is None or before.uid != pod.uid or before.gated:
            self._opened(change, before, pod)
        self._on_its_card(change, before, pod)

    def _opened(self, change: Change, before: StoredPod | None, pod: StoredPod) -> None:
        queues = self._queues.values(pod.group, self._since) if pod.group else []
        queues = [queue or pod.own_queue for queue in queues] or [pod.own_queue]
        was_gated = before is not None and before.uid == pod.uid
        if pod.finished or not (any(queues) or was_gated):
            return
        if pod.group:
            self._member(change, pod)
        if not any(queues):
            return
        if pod.stamp is None or not pod.term:
            self._say(change, f"{pod.key} is released and bears no decision")
            return
        if sum(pod.stamp.values()) != pod.amount or not set(pod.stamp) <= set(pod.cards):
            asked = f"{pod.amount} of {'|'.join(pod.cards)}"
            self._say(change, f"{pod.key} is charged {pod.stamp} and asks for {asked}")
        for place in pod.charge:
            self._beyond(change, pod, place)
        if pod.charged_queue not in queues:
            found = " or ".join(dict.fromkeys(queues))
            self._say(change, f"{pod.key} is charged to {pod.charged_queue}, not {found}")

    def _beyond(self, change: Change, pod: StoredPod, place: QueuePosition) -> None:
        """R6: what is lent is for rolling updates alone. Gates of one moment open in any order: who
        borrows may have come before who fits.
        """
        held, quotas = self._recount.held[place], self._quotas.values(place, self._since)
        if not self._recount.lent.get(place[0]):
            return
        lately = self._versions.values(pod.maker.rpartition("-")[0], self._since)
        if pod.maker and len(frozenset().union(*lately)) >= 2:
            self._updated[place] = change.at
        elif held > max(quotas) and change.at - self._updated.get(place, -_MOMENT) >= _MOMENT:
            told = f"{pod.key} is released beyond the quota of {place[0]}"
            self._say(change, f"{told}, and is of no rolling update")

    def _on_its_card(self, change: Change, before: StoredPod | None, pod: StoredPod) -> None:
        """E3: it runs on what it is charged for."""
        if not pod.node or (before is not None and before.node) or pod.finished:
            return
        card = self._recount.card_of(pod.node)
        if card and pod.stamp and card not in pod.stamp:
            self._say(change, f"{pod.key} runs on {card} and is charged {pod.stamp}")

    # --- gangs --------------------------------------------------------------------------------

    def _member(self, change: Change, pod: StoredPod) -> None:
        """A gate opens whose group is there. One of a gang that does not run has to be reserved
        before (the write-ahead), and the others that are missing open with it.
        """
        lately = self._standings.values(pod.group, self._since)
        standings = [standing for standing in lately if standing is not None]
        if not standings:
            self._say(change, f"{pod.key} is released, and its group is not there")
        if not standings or any(standing.one_by_one for standing in standings):
            return
        self._starts.begun(pod.group, change.at, self._since)
        if any(self._covers(standing, pod) for standing in standings):
            return
        if any(standing.reserved_in for standing in standings):
            what = "is not covered by what is reserved for its gang"
            self._say(change, f"{pod.key} is released, and {what}")
        else:
            self._say(change, f"{pod.key} is released, and nothing is reserved for its gang")

    def _covers(self, standing: _Standing, pod: StoredPod) -> bool:
        """Whether what is reserved is enough for this member and, where all are alike, for all that
        run in its queue. Where they are not, who was meant by it cannot be told from outside.
        """
        if not standing.reserved_in == standing.queue == pod.charged_queue:
            return False
        members = self._recount.members[pod.group].values()
        alike = len({(member.cards, member.amount) for member in members}) == 1
        reserved = dict(standing.reserved)
        return all(
            reserved.get(place, 0) >= (self._recount.held_by(pod.group, place) if alike else amount)
            for place, amount in pod.charge.items()
            if amount
        )

    def _note_group(self, at: float, key: str) -> None:
        group = self._recount.groups.get(key)
        if group is None:
            # What was decided before it went may still be stored.
            self._standings.note(key, at, None)
            return
        self._queues.note(key, at, group.queue)
        standing = _Standing(
            group.queue,
            group.minimum,
            self._recount.started(key),
            "" if group.enqueued else group.reserved_in,
            frozenset(() if group.enqueued else group.reserved.items()),
        )
        self._standings.note(key, at, standing)
        members = self._recount.members[key].values()
        queues = {queue for pod in members for queue, _ in pod.charge} | {group.queue}
        for queue in queues:
            for card in self._recount.quota.get(queue, ()):
                waiting = sum(pod.amount for pod in members if pod.waits and card in pod.cards)
                held = self._recount.held_by(key, (queue, card))
                self._could_hold.note((key, (queue, card)), at, held + waiting)

    def _reservation(self, change: Change, before: Group | None, group: Group | None) -> None:
        """What is written on a group was judged: in its queue, of what its members ask for there,
        or, while these are not there, of what it says.

        That it fits is seen where everything is held against the quota.
        """
        if group is None or not group.reserved_in:
            return
        earlier = before if before is not None and before.uid == group.uid else None
        if earlier is not None and earlier.reserved_in != group.reserved_in:
            earlier = None
        if earlier is not None and earlier.enqueued != group.enqueued:
            earlier = None  # the one replaces the other
        if earlier is not None and earlier.reserved == group.reserved:
            return
        if group.reserved_in != group.queue:
            self._say(change, f"{group.key} of {group.queue} reserves in {group.reserved_in}")
        if group.enqueued:
            quota = self._quotas_lately(group.reserved_in)
            for what in self._enqueues.wrong(group, self._since, quota):
                self._say(change, what)
            if earlier is not None:
                self._say(change, f"{group.key} is enqueued anew before that was given back")
            return
        for place, amount in group.reserved.items():
            most = max(self._could_hold.values((group.key, place), self._since), default=0)
            if amount > most:
                there = f"{amount} of {place[1]} in {place[0]}"
                self._say(change, f"{group.key} reserves {there}; its members can hold {most}")
            grown = earlier is not None and amount > earlier.reserved.get(place, 0)
            if grown and earlier is not None and earlier.term == group.term:
                self._say(change, f"the reservation of {group.key} grows to {amount} of {place[1]}")

    def _by_volcano(self, change: Change, before: Group | None, group: Group | None) -> None:
        """What it has enqueued was permitted (V3)."""
        if self._of_volcano is None or group is None:
            return
        since = min(self._since, change.at - VOTED)
        if what := self._of_volcano.wrong(group, before, since):
            self._say(change, what)

    def _say(self, change: Change, what: str) -> None:
        self.violations.append(Violation(change.revision, what, change.at))
