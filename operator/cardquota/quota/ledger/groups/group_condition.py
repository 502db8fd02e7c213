"""The condition of a pod group that we wrote, as it is stored."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ...limits import kept_name
from ...objects.pod_group import GroupStatusCondition
from ...vocabulary import GroupCondition

QUOTA_CONDITION: Final = "CardQuota"
"""The type of the condition that we write beside Volcano."""
FOREIGN: Final = "foreign"
"""Stands for conditions of our types that are not as we write them."""
_WORD: Final = re.compile(r"[A-Za-z0-9./_-]{1,316}")
_LONGEST_TIME: Final = 40
"""Characters of a time that is kept."""
_TYPES: Final = frozenset(GroupCondition)


class StoredCondition(NamedTuple):
    """At most one of our types stands on a group, and then it is True."""

    type: str = ""
    """Empty: the group has none. FOREIGN: somebody else has written them."""
    reason: str = ""
    since: str = ""
    """Its `lastTransitionTime`."""


NO_CONDITION: Final = StoredCondition()


class StoredQuotaCondition(NamedTuple):
    """The condition that we write beside Volcano, and where it stands in its list."""

    stored: StoredCondition = NO_CONDITION
    """In the words of the other one: `Unschedulable` where ours is True, else `Scheduled`."""
    place: int = -1
    """Negative: it is not there."""
    first: str = ""
    """The type of the first condition of all; empty: there is none, or it is no plain word."""


NO_QUOTA_CONDITION: Final = StoredQuotaCondition()


def stored_condition(conditions: Iterable[GroupStatusCondition] | None) -> StoredCondition:
    """Our condition among those of a group. Conditions of other types are not looked at."""
    ours = [one for one in conditions or () if one.type in _TYPES]
    if not ours:
        return NO_CONDITION
    if len(ours) > 1 or ours[0].status != "True":
        return StoredCondition(FOREIGN)
    return _stored(ours[0], ours[0].type or "")


def stored_quota_condition(
    conditions: Sequence[GroupStatusCondition] | None,
) -> StoredQuotaCondition:
    """The one that we write beside Volcano; of several the first."""
    conditions = conditions or ()
    for place, found in enumerate(conditions):
        if found.type == QUOTA_CONDITION:
            waits = found.status == "True"
            kind = GroupCondition.UNSCHEDULABLE if waits else GroupCondition.SCHEDULED
            return StoredQuotaCondition(_stored(found, kind), place, _word(conditions))
    return StoredQuotaCondition(first=_word(conditions))


def _word(conditions: Sequence[GroupStatusCondition]) -> str:
    """A write may test it: of other characters the API server may write some in another way."""
    found = (conditions[0].type or "") if conditions else ""
    return found if _WORD.fullmatch(found) else ""


def _stored(found: GroupStatusCondition, kind: str) -> StoredCondition:
    since = found.last_transition_time or ""
    return StoredCondition(
        kind,
        kept_name(found.reason or ""),
        since if len(since) <= _LONGEST_TIME else "",
    )
