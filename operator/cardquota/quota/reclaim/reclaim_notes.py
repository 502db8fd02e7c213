"""What one replica has seen of those who wait and those who may end, beside its ledger (L3, L7)."""

from collections.abc import Collection, Mapping


class ReclaimNotes:
    """Guarantees: of nobody who has a node by now. Not guaranteed: that another replica saw it."""

    def __init__(self) -> None:
        self.refused: Collection[str] = ()
        """Uids of pods whose eviction was refused a while ago: of the leader alone."""
        self._since: dict[str, float] = {}

    @property
    def since(self) -> Mapping[str, float]:
        """By uid of a pod without a node: when it was first seen so, by the clock of `look`."""
        return self._since

    def look(self, unplaced: Collection[str], now: float) -> None:
        """To be called every few seconds. `unplaced`: the uids of all pods for which no node was
        found. Costs by their number.
        """
        before = self._since
        self._since = {uid: before.get(uid, now) for uid in unplaced}
