"""Annotations and labels that look like ours and mean nothing: typing errors in keys.

Spoken of are `volcano.sh/card...`, the same without the prefix where it is close to a key of ours,
and what is nearly one of our other keys. None that Volcano itself reads or writes is among them.
"""

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from . import vocabulary as v
from .words import MOST_LISTED

MOST_COMPARED: Final = 16
"""Keys of one object that are compared with ours. Of all others only the start is looked at."""
_LONGEST: Final = 100
"""Characters of a key that are compared."""
_PREFIX: Final = "volcano.sh/"
_PREFIXES: Final = (_PREFIX, f"{v.API_GROUP}/", "scheduling.k8s.io/")
_CARD: Final = re.compile(r"(?:volcano\.sh/)?cards?[._-](.+)", re.IGNORECASE)
_NEARLY: Final = 0.9
"""How much of a key that is not `card...` has to be as in ours (`difflib`)."""

_BY_OPERATOR: Final = frozenset(
    {
        *v.OURS_ON_PODS,
        *v.OURS_ON_GROUPS,
        *(v.BOUND, v.WOKEN, v.STATUS, v.CARD_MEMORY, v.UNHEALTHY_CARDS),
        *(v.HANDOVER, v.EXTENDER_ADDRESS, v.ENQUEUE_ADDRESS),
    }
)
_BY_VOLCANO: Final = frozenset(
    {v.TASK, v.QUEUE_NAME_VOLCANO_JOB, "volcano.sh/job-name", f"{v.API_GROUP}/group-name"}
)
_ON_QUEUES: Final = (
    *(v.QUOTA, v.POLICY, v.NAMESPACES, v.QUEUE_STATE, v.SURGE, v.DESERVED, v.LENDABLE),
    v.QUEUE_RECLAIM,
)
_ON_GROUPS: Final = (v.REQUEST,)
_ON_PODS: Final = (
    *(v.CARD_NAME, v.CARD_BIND, v.QUEUE_NAME, v.QUEUE_NAME_VOLCANO_JOB, v.GROUP_NAME),
)
_ANYWHERE: Final = frozenset({*_ON_QUEUES, *_ON_GROUPS, *_ON_PODS, v.CARD_NAME_ALIAS})


class KeysOfKind:
    """The annotations, or the labels, of one kind of object."""

    def __init__(self, written: Collection[str], also: Collection[str] = ()) -> None:
        """`written`: what users write, one of which was meant. `also`: what may be there too."""
        self._known = frozenset({*written, *also, *_BY_OPERATOR, *_BY_VOLCANO})
        self._cards = {of_card[1]: key for key in written if (of_card := _CARD.match(key))}
        """By the part after `card.`, which alone is compared."""
        self._others = [key for key in written if not _CARD.match(key)]

    def meaningless(
        self, keys: Iterable[str], before: Collection[str] = ()
    ) -> list[tuple[str, str]]:
        """Of these keys those that were meant to be ours, each with the one that was meant, or with
        an empty text. At most five, in their order.

        `before`: the keys that the object had: nobody is told twice.
        """
        unknown = (
            key
            for key in keys
            if (key.startswith(_PREFIXES) or _CARD.match(key))
            and key not in self._known
            and key not in before
        )
        compared = ((key, self._meant(key[:_LONGEST])) for key in islice(unknown, MOST_COMPARED))
        told = (
            (key, meant)
            for key, meant in compared
            if meant or (key.startswith(_PREFIX) and _CARD.match(key))
        )
        return list(islice(told, MOST_LISTED))

    def _meant(self, key: str) -> str:
        if of_card := _CARD.match(key):
            near = get_close_matches(of_card[1], self._cards, n=1)
            return self._cards[near[0]] if near else ""
        return next(iter(get_close_matches(key, self._others, n=1, cutoff=_NEARLY)), "")


KEYS_OF_QUEUES: Final = KeysOfKind(_ON_QUEUES)
KEYS_OF_PODS: Final = KeysOfKind(_ON_PODS, _ANYWHERE)
"""What is meant for other objects may stand there: annotations are copied from Jobs."""
KEYS_OF_GROUPS: Final = KeysOfKind(_ON_GROUPS, _ANYWHERE)
KEYS_OF_NAMESPACES: Final = KeysOfKind((v.QUEUE_NAME,))
"""Nothing else of ours means anything there, though it may elsewhere."""
LABELS_OF_NAMESPACES: Final = KeysOfKind((v.NAMESPACE_MODE,))
