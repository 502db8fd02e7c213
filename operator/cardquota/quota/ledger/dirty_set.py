"""What the doors have yet to look at: sets of names, emptied by whoever looks."""

from collections.abc import Iterable


class DirtySet:
    """Bounded by what exists, as long as somebody takes it or `clear`s it now and then."""

    def __init__(self) -> None:
        self._changed: set[str] = set()
        self._stirred: set[str] = set()
        self._groups: set[str] = set()
        self._strangers: set[str] = set()
        self._to_correct: set[str] = set()

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

    def correct(self, uid: str) -> None:
        """Something is to be written on a pod that runs: its stamp says other cards than it is
        charged for (E3), or it does not say that audit mode let it by (I3).
        """
        self._to_correct.add(uid)

    def part(self, uid: str) -> None:
        """A pod is gone."""
        self._strangers.discard(uid)
        self._to_correct.discard(uid)

    def begin(
        self, queues: Iterable[str], groups: Iterable[str], to_correct: Iterable[str]
    ) -> None:
        """A term begins: look at everything once. Pods that came before are no news."""
        self._stirred.update(queues)
        self._groups.update(groups)
        self._to_correct.update(to_correct)
        self._strangers.clear()

    def clear(self) -> None:
        """Nobody here decides: a term begins with everything in any case."""
        every = (self._changed, self._stirred, self._groups, self._strangers, self._to_correct)
        for names in every:
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

    def take_to_correct(self) -> set[str]:
        """Uids of pods on which something is to be written; some may be right again."""
        taken, self._to_correct = self._to_correct, set()
        return taken
