"""What is reserved for groups whose pods are not there was judged (E1): it is what they say, and
that + allocated + inqueue - elastic was at most the quota.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, combinations

from .leeway import Lately
from .recount import Recount
from .stored import Asks, Group, QueuePosition


class Enqueues:
    """Follows groups, change by change. Of what others change, all counts that was so lately."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._asked = Lately[str, tuple[str, tuple[tuple[tuple[str, ...], int], ...]]]()
        """By group: its queue, and what it said."""
        self._elastic = Lately[tuple[str, QueuePosition], int]()
        """By group and place."""
        self._holders: defaultdict[QueuePosition, set[str]] = defaultdict(set)
        """Groups of which anything was ever elastic there."""

    def note(self, key: str, at: float) -> None:
        """Something of a group changed."""
        group = self._recount.groups.get(key)
        said = self._recount.says(group) if group is not None else {}
        if group is not None and said:
            self._asked.note(key, at, (group.queue, tuple(said.items())))
        now = self._recount.elastic_of(key)
        for place in now:
            self._holders[place].add(key)
        for place, holders in self._holders.items():
            if key in holders:
                self._elastic.note((key, place), at, now.get(place, 0))

    def wrong(self, group: Group, since: float, quota: Mapping[str, int]) -> list[str]:
        """What was not judged of an enqueued group's reservation. `quota`: the largest lately."""
        found = []
        reserved = {card: number for (_, card), number in group.reserved.items()}
        lately = [
            dict(a) for q, a in self._asked.values(group.key, since) if q == group.reserved_in
        ]
        # Of a group that says nothing its Job is read (V3), which this count does not see. The
        # quota below holds for it as for all.
        if lately and not any(_within(reserved, said) for said in lately):
            found.append(
                f"{group.key} is enqueued with {_text(reserved)}, which it did not ask for"
            )
        queue = group.reserved_in
        elastic = {card: self.elastic((queue, card), since) for card in quota}
        free = self._recount.free(queue, quota=quota, elastic=elastic)
        for card in reserved:
            left = free.get(frozenset([card]), 0)
            if left < 0:
                lacks = f"{queue} lacks {-left} of {card}"
                found.append(f"{group.key} is enqueued with {_text(reserved)}, and {lacks}")
                break
        return found

    def elastic(self, place: QueuePosition, since: float) -> int:
        """The most that was elastic there lately."""
        holders = self._holders.get(place, ())
        return sum(max(self._elastic.values((key, place), since), default=0) for key in holders)


def _within(reserved: Mapping[str, int], said: Asks) -> bool:
    """Whether it may be what was said, each choice on cards of its own: of no set of cards more is
    reserved than those could get that may use one of them.
    """
    sets = chain.from_iterable(combinations(reserved, n + 1) for n in range(len(reserved)))
    return all(
        sum(reserved[card] for card in some)
        <= sum(number for cards, number in said.items() if not set(some).isdisjoint(cards))
        for some in sets
    )


def _text(reserved: Mapping[str, int]) -> str:
    return ", ".join(f"{number} of {card}" for card, number in reserved.items())
