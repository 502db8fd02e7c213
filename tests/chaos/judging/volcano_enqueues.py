"""What Volcano has enqueued of its own was reserved before, where it is known what it is (V3)."""

from .leeway import Lately
from .recount import Recount
from .stored import Group

VOTED = 20.0
"""Seconds for which a vote may be old when Volcano writes what it has decided by it: it asks about
everybody first, each answer may be waited for, and it may stand still for a while.
"""


class VolcanoEnqueues:
    """Follows the groups of Volcano's Jobs, change by change."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._permitted = Lately[tuple[str, str], bool]()
        """By key and uid: whether we permit it, since something is reserved for it or begun."""
        self.seen = 0
        """Groups that were enqueued, and that it was known of what they ask for."""

    def note(self, key: str, at: float) -> None:
        """Something of a group, or of its members, changed."""
        group = self._recount.groups.get(key)
        if group is not None and group.job:
            self._permitted.note((key, group.uid), at, self._is_permitted(group))

    def wrong(self, group: Group, before: Group | None, since: float) -> str:
        """What is wrong with a change of a group; empty: nothing. `since`: the oldest moment by
        which it may have been decided.
        """
        said = self._recount.says(group) if group.job else {}
        same = before is not None and before.uid == group.uid
        if before is None or not same or not said or not before.waits or group.phase != "Inqueue":
            return ""
        self.seen += 1
        if any(self._permitted.values((group.key, group.uid), since)):
            return ""
        asked = ", ".join(f"{number} of {'|'.join(cards)}" for cards, number in said.items())
        return f"{group.key} is enqueued by Volcano, asks for {asked}, and nothing is reserved"

    def _is_permitted(self, group: Group) -> bool:
        """By what is stored: its reservation, or its pods, whose gates decide."""
        key = group.key
        there = self._recount.there(key) >= max(1, group.minimum)
        return bool(group.reserved_in or there or self._recount.started(key) or group.completed)
