"""What changed and was not looked at yet: sets of names, emptied by the reader."""

from collections.abc import Callable, Iterable


class DirtySet:
    """Bounded by what exists, provided that it is taken or cleared now and then."""

    def __init__(self, showing: Callable[[set[str]], Iterable[str]]) -> None:
        """`showing`: the queues that show any of these cards. Called when changes are taken, and
        not for each mark: a bulk of n events about one card would cost n times n otherwise.
        """
        self._showing = showing
        self._changed: set[str] = set()
        self._shown_cards: set[str] = set()
        self._pending: set[str] = set()
        self._groups: set[str] = set()
        self._unadmitted: set[str] = set()
        self._incorrect: set[str] = set()

    def mark_changed(self, *queues: str) -> None:
        """Totals or rules of these queues changed: something may fit now, and users must see it."""
        self._changed.update(queues)
        self._pending.update(queues)

    def mark_visible(self, queues: Iterable[str]) -> None:
        """What users see of these queues changed, but nothing by which a pod may be released."""
        self._changed.update(queues)

    def mark_showing(self, cards: Iterable[str]) -> None:
        """The same of all queues that show any of these cards, by quota or for what pods hold. One
        that does no longer when they are taken is to be marked by itself.
        """
        self._shown_cards.update(cards)

    def mark_pending(self, queue: str) -> None:
        """Have a queue's pending pods judged again."""
        self._pending.add(queue)

    def mark_group(self, key: str) -> None:
        """Have a group looked at (again): its members, minimum or reservation changed."""
        self._groups.add(key)

    def mark_unadmitted(self, uid: str) -> None:
        """A pod without a stamp of ours was first seen on a node (I3)."""
        self._unadmitted.add(uid)

    def mark_incorrect(self, uid: str) -> None:
        """The annotations of a running pod are to be corrected: its stamp names other cards than it
        is charged for (E3), or the note is missing that audit mode let it by (I3).
        """
        self._incorrect.add(uid)

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._unadmitted.discard(uid)
        self._incorrect.discard(uid)

    def begin(self, queues: Iterable[str], groups: Iterable[str], incorrect: Iterable[str]) -> None:
        """A term begins: look at everything once. Pods that came before are not reported."""
        self._pending.update(queues)
        self._groups.update(groups)
        self._incorrect.update(incorrect)
        self._unadmitted.clear()

    def clear(self) -> None:
        """Forget all marks. For replicas that do not lead: a term begins with everything."""
        every = (self._changed, self._pending, self._groups, self._unadmitted, self._incorrect)
        for names in (*every, self._shown_cards):
            names.clear()

    def take_changed(self) -> set[str]:
        """Queues whose numbers or rules changed since the last call. Costs in proportion to them,
        and to all queues where the set of known cards has changed.
        """
        taken, self._changed = self._changed, set()
        shown, self._shown_cards = self._shown_cards, set()
        if shown:
            taken.update(self._showing(shown))
        return taken

    def take_pending(self) -> set[str]:
        """Queues in which a pod may fit that did not before, or is new."""
        taken, self._pending = self._pending, set()
        return taken

    def take_groups(self) -> set[str]:
        """Groups to look at."""
        taken, self._groups = self._groups, set()
        return taken

    def take_unadmitted(self, most: int | None = None) -> set[str]:
        """Uids of pods first seen ungated and without a stamp of ours, at most `most` of them."""
        if most is None or len(self._unadmitted) <= most:
            taken, self._unadmitted = self._unadmitted, set()
            return taken
        return {self._unadmitted.pop() for _ in range(most)}

    @property
    def pending(self) -> int:
        """How many queues are marked as pending."""
        return len(self._pending)

    @property
    def unadmitted(self) -> int:
        """How many pods of `take_unadmitted` are left."""
        return len(self._unadmitted)

    def take_incorrect(self) -> set[str]:
        """Uids of pods whose annotations are to be corrected. Some may be right again."""
        taken, self._incorrect = self._incorrect, set()
        return taken
