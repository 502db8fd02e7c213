"""The pods at a queue's gate that may borrow, if they are of a rolling update (R6)."""

from collections.abc import Hashable, Iterable
from itertools import islice

from ..limits import BORROWERS


class Borrowers:
    """By what makes them: of the pods of one maker the first is looked at. Adding costs a step or
    two.
    """

    __slots__ = ("_found", "_seen", "to_look_at")

    def __init__(self) -> None:
        self._found: dict[Hashable, dict[str, None]] = {}
        """By maker: uids."""
        self._seen: object = None
        self.to_look_at: dict[Hashable, None] = {}
        """Makers whose pods were not looked at since something has changed."""

    def __len__(self) -> int:
        return len(self._found)

    def add(self, maker: Hashable, uid: str) -> None:
        """A pod waits. Does nothing where there are too many to keep it (P8)."""
        if maker in self._found or len(self._found) < BORROWERS.most:
            self._found.setdefault(maker, {})[uid] = None
            self.to_look_at[maker] = None

    def discard(self, maker: Hashable, uid: str) -> None:
        """It waits no longer. Does nothing for one that was not kept."""
        uids = self._found.get(maker)
        if uids is None:
            return
        uids.pop(uid, None)
        if not uids:
            del self._found[maker]
            self.to_look_at.pop(maker, None)

    def look_again(self, makers: Iterable[Hashable]) -> bool:
        """Something has changed for pods of these makers. Returns whether any of them waits."""
        some = [maker for maker in makers if maker in self._found]
        self.to_look_at.update(dict.fromkeys(some))
        return bool(some)

    def begin(self, state: object) -> None:
        """Look at all of them if `state` differs from the last one."""
        if self._found and state != self._seen:
            self._seen = state
            self.to_look_at.update(dict.fromkeys(self._found))

    def take(self, most: int) -> list[str]:
        """The first pods of at most so many makers that are to be looked at. They count as looked
        at, also if the caller looks at some of them only: what comes first may change the state.
        """
        makers = list(islice(self.to_look_at, most))
        for maker in makers:
            del self.to_look_at[maker]
        return [next(iter(self._found[maker])) for maker in makers]
