"""Annotations and labels that look like ours and mean nothing: typing errors in keys.

Spoken of are only keys `volcano.sh/card...`, keys at most two edits from one of ours, and on Queues
and as labels of Namespaces also our names without our prefix. None that Volcano itself reads or
writes is among them.
"""

from collections.abc import Collection, Iterable
from typing import Final

from .. import vocabulary as v
from ..words import MOST_LISTED
from .nearest_name import LONGEST, edits_between

MOST_COMPARED: Final = 64
"""Keys of one object that are compared with ours, some ten microseconds each. Of all others only
the start and the end are looked at."""
_EDITS: Final = 2
_PREFIX: Final = "volcano.sh"
_PRODUCT: Final = "cardquota"
_CARD: Final = "card"
_AFTER_CARD: Final = ("", ".", "-", "_", "s")
"""What may follow `card` in a name that was meant to be ours."""

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
_ON_QUEUES: Final = (v.QUOTA, v.POLICY, v.NAMESPACES, v.QUEUE_STATE, v.SURGE)
_ON_GROUPS: Final = (v.REQUEST,)
_ON_PODS: Final = (v.CARD_NAME, v.QUEUE_NAME, v.QUEUE_NAME_VOLCANO_JOB, v.GROUP_NAME)
_ANYWHERE: Final = frozenset({*_ON_QUEUES, *_ON_GROUPS, *_ON_PODS, v.CARD_NAME_ALIAS})


class KeysOfKind:
    """The annotations, or the labels, of one kind of object."""

    def __init__(
        self, written: Iterable[str], also: Collection[str] = (), *, ours: bool = False
    ) -> None:
        """`written`: what users write, one of which was meant. `also`: what else may stand there.
        `ours`: where a name of ours without its prefix is hardly anybody else's.
        """
        self._known = frozenset({*written, *also, *_BY_OPERATOR, *_BY_VOLCANO})
        self._ours = ours
        self._written = [(*_split(key), key) for key in written]
        self._prefixes = frozenset({_PREFIX, *(prefix for prefix, _, _ in self._written)})
        self._names = frozenset(name for _, name, _ in self._written)

    def meaningless(
        self, keys: Iterable[str], before: Collection[str] = ()
    ) -> list[tuple[str, str]]:
        """Of these keys those that were meant to be ours, each with the one that was meant, or with
        an empty text. At most five, in their order.

        `before`: the keys that the object had: nobody is told twice.
        """
        found: list[tuple[str, str]] = []
        compared = 0
        for key in keys:
            prefix, name = _split(key)
            if not self._may_be_ours(prefix, name) or key in self._known or key in before:
                continue
            compared += 1
            meant = self._meant(prefix, name) if len(key) <= LONGEST else ""
            if meant or (prefix == _PREFIX and _is_card(name)):
                found.append((key, meant))
            if compared == MOST_COMPARED or len(found) == MOST_LISTED:
                break
        return found

    def _may_be_ours(self, prefix: str, name: str) -> bool:
        return (
            prefix in self._prefixes
            or name in self._names
            or (_is_card(name) and self._is_elsewhere(prefix))
        )

    def _is_elsewhere(self, prefix: str) -> bool:
        """Whether a name of ours may stand there by mistake, instead of behind our prefix."""
        return self._ours and (prefix in ("", v.API_GROUP) or prefix.startswith(_PRODUCT))

    def _meant(self, prefix: str, name: str) -> str:
        if _is_card(name) and (prefix == _PREFIX or self._is_elsewhere(prefix)):
            near = [
                (edits, key)
                for _, ours, key in self._written
                if ours.startswith(_CARD)
                and (edits := edits_between(name, ours, _EDITS)) is not None
            ]
            return min(near)[1] if near else ""
        for our_prefix, our_name, key in self._written:
            if prefix == our_prefix and edits_between(name, our_name, _EDITS) is not None:
                return key
            if name == our_name and edits_between(prefix, our_prefix, _EDITS) is not None:
                return key
        return ""


def _split(key: str) -> tuple[str, str]:
    prefix, _, name = key.rpartition("/")
    return prefix, name


def _is_card(name: str) -> bool:
    return name.startswith(_CARD) and name[len(_CARD) : len(_CARD) + 1] in _AFTER_CARD


KEYS_OF_QUEUES: Final = KeysOfKind(_ON_QUEUES, ours=True)
KEYS_OF_PODS: Final = KeysOfKind(_ON_PODS, _ANYWHERE)
"""What is meant for other objects may stand there: annotations are copied from Jobs."""
KEYS_OF_GROUPS: Final = KeysOfKind(_ON_GROUPS, _ANYWHERE)
KEYS_OF_NAMESPACES: Final = KeysOfKind((v.QUEUE_NAME,))
"""Nothing else of ours means anything there, though it may elsewhere."""
LABELS_OF_NAMESPACES: Final = KeysOfKind((v.NAMESPACE_MODE,), ours=True)
