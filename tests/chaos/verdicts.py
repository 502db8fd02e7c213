"""What must never be, looked for after every single change."""

from dataclasses import dataclass

from .history import Change
from .recount import Place, Pod, Recount


@dataclass(frozen=True)
class Violation:
    """Something that must never be, and when it was."""

    revision: int
    what: str

    def __str__(self) -> str:
        return f"revision {self.revision}: {self.what}"


class Judge:
    """Follows a recount, change by change."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._above: dict[tuple[str, Place], int] = {}
        self.violations: list[Violation] = []

    def after(self, change: Change, before: Pod | None, touched: set[Place]) -> None:
        """Judge the recount as it stands after this change; `before`: the pod until then."""
        for place in sorted(touched):
            self._over_quota(change, place)
        if change.kind != "pod":
            return
        pod = self._recount.pods.get(change.key)
        if pod is None or pod.gated or not pod.queue:
            return
        opened = before is None or before.uid != pod.uid or before.gated
        if opened:
            self._opened(change, before, pod)
        self._on_its_card(change, before, pod)

    def _over_quota(self, change: Change, place: Place) -> None:
        """I1; and with what is reserved for gangs, which never takes what is not there (E2)."""
        quota = self._recount.quota.get(place[0], {}).get(place[1], 0)
        held = self._recount.held[place]
        reserved = self._recount.reserved(place)
        for name, amount in (("holds", held), ("holds and reserves", held + reserved)):
            # Once per excess, and again only when it grows.
            worst = max(quota, self._above.get((name, place), quota))
            if amount > worst:
                self._say(change, f"{place[0]} {name} {amount} of {place[1]}, quota {quota}")
            self._above[name, place] = max(worst, amount) if amount > quota else quota
            if amount > quota:
                return

    def _opened(self, change: Change, before: Pod | None, pod: Pod) -> None:
        if pod.finished:
            return
        if pod.stamp is None or not pod.term:
            self._say(change, f"{pod.key} is let through and bears no decision")
            return
        if sum(pod.stamp.values()) != pod.amount or not set(pod.stamp) <= set(pod.cards):
            asked = f"{pod.amount} of {'|'.join(pod.cards)}"
            self._say(change, f"{pod.key} is charged {pod.stamp} and asks for {asked}")
        if pod.charged_queue != pod.queue:
            self._say(change, f"{pod.key} is charged to {pod.charged_queue}, not {pod.queue}")
        self._gang(change, pod)

    def _gang(self, change: Change, pod: Pod) -> None:
        """The write-ahead: no gate of a gang opens before its minimum is reserved, or runs."""
        group = self._recount.groups.get(pod.group)
        if group is None or group.minimum < 2 or group.reserved:
            return
        members = self._recount.members[group.key].values()
        let_through = sum(1 for m in members if not m.gated and (m.succeeded or not m.finished))
        if let_through <= group.minimum:
            self._say(change, f"{pod.key} is let through, and nothing is reserved for its gang")

    def _on_its_card(self, change: Change, before: Pod | None, pod: Pod) -> None:
        """E3: it runs on what it is charged for."""
        if not pod.node or (before is not None and before.node) or pod.finished:
            return
        card = self._recount.card_of(pod.node)
        if card and pod.stamp is not None and card not in pod.stamp:
            self._say(change, f"{pod.key} runs on {card} and is charged {pod.stamp}")

    def _say(self, change: Change, what: str) -> None:
        self.violations.append(Violation(change.revision, what))
