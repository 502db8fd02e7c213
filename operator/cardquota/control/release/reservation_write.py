"""One write of a pod group's reservation (T2), refused if what it was judged by is no longer so.

Where we write the status of groups, too, the write names the version of the group: nobody else
writes it often. Where Volcano does, that would be refused now and then; there the write tests the
fields that were judged, and no version.

A version comes once. Fields that were changed may be changed back, and then a write would land of
which nobody knows any more. So each write leaves a mark that was never used before
(`volcano.sh/card.settle`), and tests that of the last one: of all that are on their way one lands.
"""

import secrets
from typing import Any, Final, NamedTuple

from ...cluster.api.api_error import ApiError
from ...cluster.api.client import JSON_PATCH, MERGE_PATCH
from ...quota import vocabulary as v
from ...quota.ledger.groups.group_facts import GroupFacts
from ...quota.ledger.groups.stored_group import StoredGroup, pointer

_ANNOTATIONS: Final = "/metadata/annotations"


class GroupWrite(NamedTuple):
    """One write of a pod group."""

    body: object
    content_type: str
    stored: StoredGroup | None = None
    """What it tests. None: it names a version."""

    def is_stale(self, error: ApiError) -> bool:
        """Whether it was refused because the group is not as it was, or is gone."""
        return error.moved or (self.stored is not None and error.failed_test)


def status_write(facts: GroupFacts, text: str | None, status: dict[str, Any] | None) -> GroupWrite:
    """With the status, where that is ours. `text`: of the reservation; None takes it away."""
    body: dict[str, Any] = {"metadata": _versioned(facts, {v.RESERVATION: text})}
    if status is not None:
        body["status"] = status
    return GroupWrite(body, MERGE_PATCH)


def reservation_write(facts: GroupFacts, text: str | None) -> GroupWrite:
    """Of the reservation alone, where the status is Volcano's. None takes it away."""
    mark, stored = _fresh(), facts.stored
    if stored is None:
        notes = {v.RESERVATION: text, v.SETTLE: mark}
        return GroupWrite({"metadata": _versioned(facts, notes)}, MERGE_PATCH)
    tests = [("/metadata/uid", facts.uid), *stored.tests()]
    if not stored.annotated:
        notes = {v.SETTLE: mark} if text is None else {v.RESERVATION: text, v.SETTLE: mark}
        changes = [_add(_ANNOTATIONS, notes)]
        return _patch([*tests, (_ANNOTATIONS, None)], changes, stored)
    tests += [(pointer(v.SETTLE), stored.settled), (pointer(v.RESERVATION), stored.reservation)]
    changes = [_add(pointer(v.SETTLE), mark)]
    if text is not None:
        changes.append(_add(pointer(v.RESERVATION), text))
    elif stored.reservation is not None:
        changes.append({"op": "remove", "path": pointer(v.RESERVATION)})
    return _patch(tests, changes, stored)


def settling_write(facts: GroupFacts, stored: StoredGroup, *, annotated: bool) -> GroupWrite:
    """Once it has landed, no earlier write that tests `stored` can land any more. If one of these
    has, this is refused. `annotated`: whether the group has annotations by now.
    """
    tests, change = [("/metadata/uid", facts.uid)], _add(pointer(v.SETTLE), _fresh())
    if not annotated:
        change = _add(_ANNOTATIONS, {v.SETTLE: _fresh()})
    last = (pointer(v.SETTLE), stored.settled) if annotated else (_ANNOTATIONS, None)
    return _patch([*tests, last], [change], stored)


def _versioned(facts: GroupFacts, notes: dict[str, str | None]) -> dict[str, Any]:
    return {"uid": facts.uid, "resourceVersion": str(facts.revision), "annotations": notes}


def _patch(
    tests: list[tuple[str, object]], changes: list[dict[str, object]], stored: StoredGroup
) -> GroupWrite:
    asked = [{"op": "test", "path": path, "value": value} for path, value in tests]
    return GroupWrite([*asked, *changes], JSON_PATCH, stored)


def _add(path: str, value: object) -> dict[str, object]:
    return {"op": "add", "path": path, "value": value}


def _fresh() -> str:
    return secrets.token_hex(6)
