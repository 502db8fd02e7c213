"""What stands on a pod group that writes of ours depend on: our own condition, and what a
reservation is judged by, as the API server has it. A write tests exactly that.

Volcano writes the status of a pod group all the time. A write of ours that named the version of the
group would be refused whenever that comes between, and judged again for nothing.
"""

import re
from collections.abc import Iterable, Sequence
from sys import intern
from typing import Final, NamedTuple

import msgspec

from ... import vocabulary as v
from ...limits import kept_name
from ...objects.pod_group import GroupAnnotations, GroupSpec, GroupStatusCondition
from ...vocabulary import GroupCondition

LONGEST: Final = 8_192
"""Characters of each text that is kept for a test; room for every request that is read."""
_ENCODER: Final = msgspec.json.Encoder()
_TESTABLE: Final = re.compile(r"""(?:[ -%'-;=?-\[\]-~]|\\["\\nrt])*""")
"""The test of a JSON patch compares how a string is written, and not what it says. Of these
characters the API server writes each as we do; of `<`, `>`, `&` and what is not ASCII it does not.
"""
_NO_NOTES: Final = GroupAnnotations()


class StoredGroup(NamedTuple):
    """One pod group, as far as what is reserved for it depends on it."""

    judged: str
    """JSON: a list of `[JSON pointer, value]`, null for what is absent. Groups that are alike share
    one text."""
    annotated: bool
    """Whether it has annotations at all."""
    reservation: str | None
    """The text of its reservation; it may be none of ours."""
    settled: str | None
    """The mark of our last write. Each write tests it and leaves another one, so that of several at
    most one can land, however late."""

    def tests(self) -> list[tuple[str, object]]:
        """The pairs of `judged`."""
        return msgspec.json.decode(self.judged, type=list[tuple[str, object]])


def pointer(annotation: str) -> str:
    """The JSON pointer of an annotation."""
    return f"/metadata/annotations/{annotation.replace('/', '~1')}"


def stored_group(annotations: GroupAnnotations | None, spec: GroupSpec) -> StoredGroup | None:
    """None: some of it cannot be tested, so a write has to name the version of the group."""
    notes = annotations or _NO_NOTES
    resources, tasks = spec.min_resources, spec.min_task_member
    if tasks is not None and not tasks:
        return None  # none, or too many to be read
    if any(isinstance(amount, float) for amount in (resources or {}).values()):
        return None
    judged: list[tuple[str, object]] = [
        ("/spec/queue", spec.queue),
        ("/spec/minMember", spec.min_member),
        ("/spec/minResources", resources),
        ("/spec/minTaskMember", tasks),
    ]
    if annotations is not None:
        judged.append((pointer(v.REQUEST), notes.request))
    text = _as_stored(judged)
    if text is None or not all(
        one is None or _as_stored(one) is not None for one in (notes.reservation, notes.settled)
    ):
        return None
    return StoredGroup(intern(text), annotations is not None, notes.reservation, notes.settled)


def _as_stored(value: object) -> str | None:
    """Its JSON; None if it is too long, or may be written in another way by the API server."""
    text = _ENCODER.encode(value)
    if len(text) > LONGEST:
        return None
    found = text.decode()
    return found if _TESTABLE.fullmatch(found) else None


# --- our condition ------------------------------------------------------------------------------

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
