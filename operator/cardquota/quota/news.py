"""What the doors have yet to look at: sets of names, emptied by whoever looks."""

from collections.abc import Iterable


class News:
    """Bounded by what exists, as long as somebody takes it or `clear`s it now and then."""

    def __init__(self) -> None:
        self._changed: set[str] = set()
        self._stirred: set[str] = set()
        self._groups: set[str] = set()
        self._strangers: set[str] = set()

    def touch(self, *queues: str) -> None:
        """Totals or rules of these queues changed: something may fit now, and people shall see."""
        self._changed.update(queues)
        self._stirred.update(queues)

    def show(self, queues: Iterable[str]) -> None:
        """What people see of these queues changed, and nothing that could let a pod through."""
        self._changed.update(queues)

    def stir(self, queue: str) -> None:
        """Have a queue looked at again."""
        self._stirred.add(queue)

    def stir_group(self, key: str) -> None:
        """Have a group looked at (again): its members, minimum or reservation changed."""
        self._groups.add(key)

    def meet(self, uid: str) -> None:
        """A pod was first seen ungated and without a stamp of ours (I3)."""
        self._strangers.add(uid)

    def part(self, uid: str) -> None:
        """A pod is gone."""
        self._strangers.discard(uid)

    def begin(self, queues: Iterable[str], groups: Iterable[str]) -> None:
        """A term begins: look at everything once. Pods that came before are no news."""
        self._stirred.update(queues)
        self._groups.update(groups)
        self._strangers.clear()

    def clear(self) -> None:
        """Nobody here decides: a term begins with everything in any case."""
        for names in (self._changed, self._stirred, self._groups, self._strangers):
            names.clear()

    def take_changed(self) -> set[str]:
        """Queues whose numbers or rules changed since the last call."""
        taken, self._changed = self._changed, set()
        return taken

    def take_stirred(self) -> set[str]:
        """Queues in which something may fit now that did not before, or is new."""
        taken, self._stirred = self._stirred, set()
        return taken

    def take_groups(self) -> set[str]:
        """Groups to be looked at."""
        taken, self._groups = self._groups, set()
        return taken

    def take_strangers(self, most: int | None = None) -> set[str]:
        """Uids of pods that came ungated and without a stamp of ours; of all, or some of them."""
        if most is None or len(self._strangers) <= most:
            taken, self._strangers = self._strangers, set()
            return taken
        return {self._strangers.pop() for _ in range(most)}

    @property
    def strangers(self) -> int:
        """How many of them were not taken yet."""
        return len(self._strangers)
