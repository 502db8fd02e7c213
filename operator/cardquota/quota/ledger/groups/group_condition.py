"""The condition of a pod group that we wrote, as it is stored."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, NamedTuple

from ...limits import GROUP_MESSAGE_TEXT, kept_name, size_of
from ...objects.pod_group import GroupStatusCondition
from ...vocabulary import GroupCondition

FOREIGN: Final = "foreign"
"""Stands for conditions of our types that are not as we write them."""
_LONGEST_TIME: Final = 40
"""Characters of a time that is kept."""
_TYPES: Final = frozenset(GroupCondition)


class StoredCondition(NamedTuple):
    """At most one of our types stands on a group, and then it is True."""

    type: str = ""
    """Empty: the group has none. FOREIGN: somebody else has written them."""
    reason: str = ""
    digest: bytes = b""
    """Of the message; empty for one that is too long to be ours."""
    since: str = ""
    """Its `lastTransitionTime`."""


NO_CONDITION: Final = StoredCondition()


def stored_condition(conditions: Iterable[GroupStatusCondition] | None) -> StoredCondition:
    """Our condition among those of a group. Conditions of other types are not looked at."""
    ours = [one for one in conditions or () if one.type in _TYPES]
    if not ours:
        return NO_CONDITION
    if len(ours) > 1 or ours[0].status != "True":
        return StoredCondition(FOREIGN)
    found = ours[0]
    since = found.last_transition_time or ""
    return StoredCondition(
        found.type or "",
        kept_name(found.reason or ""),
        digest_of(found.message or ""),
        since if len(since) <= _LONGEST_TIME else "",
    )


def digest_of(message: str) -> bytes:
    """Equal for equal messages. What is kept of one, as there are many groups."""
    if size_of(message) > GROUP_MESSAGE_TEXT.most:
        return b""
    return blake2b(message.encode(errors="replace"), digest_size=8).digest()
