"""What must never be, looked for after every single change."""

from collections.abc import Sequence
from dataclasses import dataclass

from .history import Change
from .leeway import Lately, Leeway, Trouble
from .recount import Group, Place, Pod, Recount


@dataclass(frozen=True)
class Violation:
    """Something that must never be, and when it was."""

    revision: int
    what: str
    at: float = 0.0
    """Monotonic."""

    def __str__(self) -> str:
        return f"revision {self.revision}: {self.what}"


class Judge:
    """Follows a recount, change by change.

    What others than the product change (a quota, a group's queue, its minimum) is known to who
    decides only a moment later: of such, everything counts that was so lately.
    """

    def __init__(self, recount: Recount, troubles: Sequence[Trouble] = ()) -> None:
        """`troubles`: when views were old, or answers late."""
        self._recount = recount
        self._leeway = Leeway(troubles)
        self._since = 0.0
        self._quotas = Lately[Place, int]()
        self._amounts = Lately[tuple[str, Place], int]()
        """What was held, and held or reserved."""
        self._queues = Lately[str, str]()
        """Of groups, by key."""
        self._may_open = Lately[str, bool]()
        """Whether a gate of a group may open without more ado, by the group's key."""
        self._could_hold = Lately[tuple[str, Place], int]()
        """What the members of a group hold somewhere, or wait for."""
        self.violations: list[Violation] = []

    def after(
        self, change: Change, before: Pod | None, touched: set[Place], group: Group | None = None
    ) -> None:
        """Judge the recount as it stands after this change.

        `before`: the pod until then; `group`: the pod group until then.
        """
        self._since = self._leeway.since(change.at)
        for place in sorted(touched):
            self._over_quota(change, place)
        pod = self._recount.pods.get(change.key) if change.kind == "pod" else None
        if pod is not None and not pod.gated:
            self._let_through(change, before, pod)
        keys = {found.group for found in (before, pod) if found is not None and found.group}
        if change.kind == "group":
            keys = {f"{self._recount.namespace}/{change.key}"}
        for key in sorted(keys):
            self._note_group(change.at, key)
            if change.kind == "group":
                self._reservation(change, group, self._recount.groups.get(key))

    def _over_quota(self, change: Change, place: Place) -> None:
        """I1; and with what is reserved for gangs, which never takes what is not there (E2).

        A quota that is lowered evicts nothing; but then nothing more may come (Q7).
        """
        quota = self._recount.quota.get(place[0], {}).get(place[1], 0)
        self._quotas.note(place, change.at, quota)
        most = max(self._quotas.values(place, self._since))
        held = self._recount.held[place]
        reserved = self._recount.reserved(place)
        told = False
        for name, amount in (("holds", held), ("holds and reserves", held + reserved)):
            # Once per excess, and again only when it grows.
            worst = max((most, *self._amounts.values((name, place), self._since)))
            self._amounts.note((name, place), change.at, amount)
            if amount > worst and not told:
                told = True
                self._say(change, f"{place[0]} {name} {amount} of {place[1]}, quota {most}")

    def _let_through(self, change: Change, before: Pod | None, pod: Pod) -> None:
        if before is None or before.uid != pod.uid or before.gated:
            self._opened(change, pod)
        self._on_its_card(change, before, pod)

    def _opened(self, change: Change, pod: Pod) -> None:
        queues = self._queues.values(pod.group, self._since) if pod.group else []
        queues = [queue or pod.own_queue for queue in queues] or [pod.own_queue]
        if pod.finished or not any(queues):
            return
        if pod.stamp is None or not pod.term:
            self._say(change, f"{pod.key} is let through and bears no decision")
            return
        if sum(pod.stamp.values()) != pod.amount or not set(pod.stamp) <= set(pod.cards):
            asked = f"{pod.amount} of {'|'.join(pod.cards)}"
            self._say(change, f"{pod.key} is charged {pod.stamp} and asks for {asked}")
        if pod.charged_queue not in queues:
            found = " or ".join(dict.fromkeys(queues))
            self._say(change, f"{pod.key} is charged to {pod.charged_queue}, not {found}")
        if pod.group and not any(self._may_open.values(pod.group, self._since) or [True]):
            self._say(change, f"{pod.key} is let through, and nothing is reserved for its gang")

    def _on_its_card(self, change: Change, before: Pod | None, pod: Pod) -> None:
        """E3: it runs on what it is charged for."""
        if not pod.node or (before is not None and before.node) or pod.finished:
            return
        card = self._recount.card_of(pod.node)
        if card and pod.stamp and card not in pod.stamp:
            self._say(change, f"{pod.key} runs on {card} and is charged {pod.stamp}")

    # --- gangs --------------------------------------------------------------------------------

    def _note_group(self, at: float, key: str) -> None:
        group = self._recount.groups.get(key)
        if group is None:
            return  # what was decided before it went may still be stored
        self._queues.note(key, at, group.queue)
        # The write-ahead: no gate of a gang opens before its minimum is reserved, or runs.
        started = self._recount.started(key) >= group.minimum
        self._may_open.note(key, at, group.minimum < 2 or bool(group.reserved_in) or started)
        members = self._recount.members[key].values()
        queues = {queue for pod in members for queue, _ in pod.charge} | {group.queue}
        for queue in queues:
            for card in self._recount.quota.get(queue, ()):
                waiting = sum(pod.amount for pod in members if pod.waits and card in pod.cards)
                held = self._recount.held_by(key, (queue, card))
                self._could_hold.note((key, (queue, card)), at, held + waiting)

    def _reservation(self, change: Change, before: Group | None, group: Group | None) -> None:
        """What is written on a group was judged: in its queue, of what its members ask for there.

        That it fits is seen where everything is held against the quota.
        """
        if group is None or not group.reserved_in:
            return
        earlier = before if before is not None and before.uid == group.uid else None
        if earlier is not None and earlier.reserved_in != group.reserved_in:
            earlier = None
        if earlier is not None and earlier.reserved == group.reserved:
            return
        if group.reserved_in != group.queue:
            self._say(change, f"{group.key} of {group.queue} reserves in {group.reserved_in}")
        for place, amount in group.reserved.items():
            most = max(self._could_hold.values((group.key, place), self._since), default=0)
            if amount > most:
                there = f"{amount} of {place[1]} in {place[0]}"
                self._say(change, f"{group.key} reserves {there}; its members can hold {most}")
            grown = earlier is not None and amount > earlier.reserved.get(place, 0)
            if grown and earlier is not None and earlier.term == group.term:
                self._say(change, f"the reservation of {group.key} grows to {amount} of {place[1]}")

    def _say(self, change: Change, what: str) -> None:
        self.violations.append(Violation(change.revision, what, change.at))
