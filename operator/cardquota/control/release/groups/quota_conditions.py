"""The condition `CardQuota` of pod groups beside Volcano, which writes all else of their status.

Volcano's own condition `Unschedulable` stays for ever, and it says the same of every group that
waits. Ours is `True` with the reason and the sentence of the event while the group waits for quota,
so that Volcano copies it to the Job, and `False` once it was let through; a group that never waited
gets none.
"""

import logging
from typing import Any, Final

import msgspec

from ....cluster.api.api_error import ApiError, OutcomeUnknown
from ....cluster.api.client import JSON_PATCH
from ....cluster.writes.fenced_writer import FencedWriter, TooLateError
from ....quota import vocabulary as v
from ....quota.ledger.groups.group_condition import NO_QUOTA_CONDITION, QUOTA_CONDITION
from ....quota.ledger.groups.group_facts import GroupFacts
from ....quota.ledger.groups.pod_group_state import PodGroupState, Stage
from ....quota.ledger.ledger_reader import LedgerReader
from ....quota.words import logged
from .group_conditions import GroupConditions, WantedCondition
from .pod_group_writer import phase_of

_LOG: Final = logging.getLogger(__name__)
_CONDITIONS: Final = "/status/conditions"
_FIRST: Final = f"{_CONDITIONS}/0"


class _GroupVersion(msgspec.Struct, rename="camel"):
    resource_version: str = "0"


class _PatchedGroup(msgspec.Struct):
    metadata: _GroupVersion


_DECODER: Final = msgspec.json.Decoder(_PatchedGroup)


class QuotaConditions:
    """Writes the condition of one term. One call per group at a time; nothing waits for it.

    Guarantees: nothing but this condition is changed, and there is one of it. No version is named,
    so that Volcano's writes are in nobody's way.
    What was refused since it was stale is looked at again when the group's change is seen.
    """

    def __init__(
        self, ledger: LedgerReader, writer: FencedWriter, conditions: GroupConditions
    ) -> None:
        self._ledger = ledger
        self._writer = writer
        self.conditions: Final = conditions
        self._written: dict[str, int] = {}
        """By key: the version of our last write, until it is seen."""
        self._told: set[str] = set()
        """Groups that this term has told why they wait, by key."""

    async def update(self, key: str) -> bool:
        """Write the condition if that is due. Returns whether nothing is left to do."""
        group, due = self._ledger.groups.get(key), self.conditions.take_due(key)
        if group is None or group.facts is None:
            self.conditions.drop(key)
            self._written.pop(key, None)
            self._told.discard(key)
            return True
        facts = group.facts
        if facts.revision < self._written.get(key, 0):
            return True  # its event is on the way
        self._written.pop(key, None)
        reserved = group.reservation is not None and group.assumed is None
        phase = phase_of(group, reserved=reserved)
        wanted = self.conditions.wanted(group, phase, reserved=reserved)
        if wanted is not None and wanted.type:
            self._told.add(key)
        if wanted is None or not self._is_stale(facts, wanted) or not facts.phase:
            return True
        to_be_asked = key not in self._told and _is_to_be_asked_about(group, facts)
        if not wanted.type and (group.enqueued or to_be_asked):
            # It has its reservation, and that it was let through is said once its pods are. Or its
            # reason is an earlier leader's, and Volcano asks about it in its next session.
            return True
        if facts.quota_condition == NO_QUOTA_CONDITION and not due:
            # Volcano's session will say something about it in a moment: both at once would be
            # refused to one.
            self.conditions.in_a_moment(key)
            return True
        try:
            patch = self._patch(group, facts, wanted)
            answer = await self._writer.patch(_path(facts), patch, content_type=JSON_PATCH)
            self._written[key] = int(_DECODER.decode(answer).metadata.resource_version)
        except ApiError as error:
            if error.moved or error.failed_test:
                return True  # its event is on the way
            _LOG.warning("condition of pod group %s: %s", logged(key), error)
            return False
        except (OutcomeUnknown, TooLateError, msgspec.MsgspecError, ValueError) as error:
            _LOG.warning("condition of pod group %s: %s", logged(key), error)
            return False
        return True

    def _is_stale(self, facts: GroupFacts, wanted: WantedCondition) -> bool:
        """Whether it has another reason by now."""
        stored = facts.quota_condition.stored
        if wanted.type != v.GroupCondition.UNSCHEDULABLE:
            self.conditions.forget(facts.key)
            if not stored.type:
                return False
        return not wanted.is_kind_of(stored)

    def _patch(
        self, group: PodGroupState, facts: GroupFacts, wanted: WantedCondition
    ) -> list[dict[str, Any]]:
        """Tests that the group is this one, and that its condition stands where it was seen."""
        place, first = facts.quota_condition.place, facts.quota_condition.first
        tests: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": facts.uid}]
        where = f"{_CONDITIONS}/{place}"
        if place >= 0:
            kind = {"op": "test", "path": f"{where}/type", "value": QUOTA_CONDITION}
            tests.append(kind)
        if not wanted.type:
            return [*tests, {"op": "remove", "path": where}]
        waits = wanted.type == v.GroupCondition.UNSCHEDULABLE
        body = {
            **self.conditions.body(group, wanted)[0],
            "type": QUOTA_CONDITION,
            "status": str(waits),
        }
        if place >= 0:
            return [*tests, {"op": "replace", "path": where, "value": body}]
        if not first:
            none = {"op": "test", "path": _CONDITIONS, "value": None}
            return [*tests, none, {"op": "add", "path": _CONDITIONS, "value": [body]}]
        # In front of the others, which Volcano keeps where they are. No test can say that none of
        # ours is in the list: a write that was not answered, or one of another leader, may have
        # added one that we have not seen. It would be the first.
        other = {"op": "test", "path": f"{_FIRST}/type", "value": first}
        return [*tests, other, {"op": "add", "path": _FIRST, "value": body}]


def _is_to_be_asked_about(group: PodGroupState, facts: GroupFacts) -> bool:
    """Whether Volcano has not enqueued it and has not asked about it in this term, and it does not
    wait for anything here so far.
    """
    pending = facts.phase == v.GroupPhase.PENDING
    return pending and not (group.voted_on or group.waits or group.stage is not Stage.WAITING)


def _path(facts: GroupFacts) -> str:
    return f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{facts.namespace}/podgroups/{facts.name}"
