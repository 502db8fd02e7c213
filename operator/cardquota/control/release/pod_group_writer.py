"""The write-ahead mark of a gang, and the status that people see (T2).

The annotation `card.reservation` is authoritative; the phase only shows it. Where Volcano runs, the
status is Volcano's and is left alone.

A write of a reservation is refused if what it was judged by is no longer so. Where we write the
status of groups, too, it names the version of the group: nobody else writes it often. Where Volcano
does, that would be refused now and then; there the write tests the fields that were judged, and no
version. A version comes once. Fields that were changed may be changed back, and then a write would
land of which nobody knows any more. So each write leaves a mark that was never used before
(`volcano.sh/card.settle`), and tests that of the last one: of all that are on their way one lands.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import JSON_PATCH, MERGE_PATCH
from ...cluster.writes import FencedWriter, StoredMeta, TooLateError, decode_stored
from ...loop.timing import Backoff
from ...quota import vocabulary as v
from ...quota.ledger.groups.group_facts import GroupFacts
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.groups.stored_group import StoredGroup, pointer
from ...quota.ledger.ledger import Ledger
from ...quota.reports.queue_report import group_cards
from ...quota.stamp import Reservation, read_reservation, reservation_text
from ...quota.words import logged
from .group_conditions import GroupConditions, WantedCondition, group_path, phase_of

_LOG = logging.getLogger(__name__)


_ANNOTATIONS: Final = "/metadata/annotations"
_UNANSWERED = (OutcomeUnknown, msgspec.MsgspecError, ValueError)
"""Nobody knows whether it was written: there is no answer, or none that can be read."""


class _GroupWrite(NamedTuple):
    """One write of a pod group."""

    body: object
    content_type: str
    stored: StoredGroup | None = None
    """What it tests. None: it names a version."""

    def is_stale(self, error: ApiError) -> bool:
        """Whether it was refused because the group is not as it was, or is gone."""
        return error.moved or (self.stored is not None and error.failed_test)


class GroupProgressReport(NamedTuple):
    """What the status of a group should say."""

    phase: v.GroupPhase
    running: int
    succeeded: int
    failed: int
    cards: str
    condition: WantedCondition | None
    """None: the stored one."""


class PodGroupWriter:
    """Writes reservations and status of pod groups. One call per group at a time."""

    def __init__(
        self,
        ledger: Ledger,
        writer: FencedWriter,
        later: FencedWriter,
        *,
        conditions: GroupConditions | None,
    ) -> None:
        """`later` sends writes that nothing waits for. `conditions` None: the status is not ours,
        but Volcano's, which writes the groups all the time: our writes must not name a version.
        """
        self._ledger = ledger
        self._writer = writer
        self._later = later
        self.conditions = conditions
        self._removed: dict[str, int] = {}
        """Revisions at which reservations were removed, by group, until their watch events come."""

    async def reserve(
        self,
        facts: GroupFacts,
        reservation: Reservation,
        *,
        unsure: Callable[[str], None] = lambda _: None,
        objected: Callable[[str], None] = lambda _: None,
    ) -> bool:
        """Write the reservation that the ledger has charged. Returns whether it is stored.

        If not, no write of ours can store it any more. Then the charge is to be taken back, after
        the charges of the members that were to start with it. `objected` is called with the reason
        if the group is unchanged and the write is refused.

        While an unanswered write may still land, it keeps trying and the charge stays. `unsure` is
        called with the reason why it could not be written again. Any change of the group ends it.
        """
        group = self._ledger.groups.get(facts.key)
        status = self._status(group, reserved=True) if group is not None else None
        write = self._write(facts, reservation, group, status)
        try:
            revision = await self._send(self._writer, facts, write)
        except ApiError as error:
            _LOG.info("reservation of pod group %s: %s", logged(facts.key), error)
            if await self._as_it_was(facts, error, write):
                objected(error.message)
            return False
        except _UNANSWERED as error:
            _LOG.warning("reservation of pod group %s: %s", logged(facts.key), error)
            return await self._find_out(facts, reservation, write, _wait(error), unsure)
        except TooLateError:
            return False
        self._ledger.decisions.confirm_reservation(facts.key, reservation, revision)
        return True

    async def _find_out(
        self,
        facts: GroupFacts,
        reservation: Reservation,
        write: _GroupWrite,
        wait: float | None,
        unsure: Callable[[str], None],
    ) -> bool:
        """Whether a write of which nobody knows what became of it is stored. If not, it cannot be
        any more.
        """
        backoff = Backoff(cap=10.0)
        annotated = write.stored is not None and write.stored.annotated
        while True:
            await asyncio.sleep(backoff.next(wait))
            wait = None
            if write.stored is not None:
                write = _settling_write(facts, write.stored, annotated=annotated)
            try:
                # The same write under the same version: one of them wins. If it names none, another
                # one that rules it out.
                revision = await self._send(self._writer, facts, write)
            except (ApiError, *_UNANSWERED) as error:
                level = logging.INFO if isinstance(error, ApiError) else logging.WARNING
                _LOG.log(level, "reservation of %s: %s", logged(facts.key), error)
                # A webhook may refuse the write before the API server sees that it changed.
                stands, annotated = await self._stands(facts, reservation, write)
                if stands is not None:
                    return stands
                _tell(error, unsure)
                wait = _wait(error)
            except TooLateError:
                pass
            else:
                if write.stored is not None:
                    return False
                self._ledger.decisions.confirm_reservation(facts.key, reservation, revision)
                return True

    async def update(
        self,
        key: str,
        *,
        expired: bool = False,
        opening: bool = False,
        objected: Callable[[str], None] = lambda _: None,
    ) -> bool:
        """Remove a reservation that is over and bring the phase up to date, if that is needed.

        `expired`: whether its time is over, too (E8). `opening`: whether gates that were judged
        with it, before its group moved, are still being opened: then a move does not end it.
        Returns whether nothing is left to do until the group or its members change, or that opening
        has ended. `objected` is called with the reason if removing a reservation is refused.
        """
        group = self._ledger.groups.get(key)
        due = self.conditions is not None and self.conditions.take_due(key)
        if group is None or group.facts is None or group.assumed is not None:
            if self.conditions is not None and (group is None or group.facts is None):
                self.conditions.drop(key)
            if group is None or group.facts is None:
                self._removed.pop(key, None)
            return True
        facts = group.facts
        if facts.revision < self._removed.get(key, 0):
            return True  # to remove it again would be in vain
        self._removed.pop(key, None)
        over = facts.reservation is not None and (
            expired or reservation_over(group, opening=opening)
        )
        status = self._status(group, reserved=group.reservation is not None and not over)
        stale = status is not None and self._is_stale(group, facts, status, due=due)
        if not over and not stale:
            return True
        reservation = None if over else facts.reservation
        write = self._write(facts, reservation, group, status)
        try:
            revision = await self._send(self._later, facts, write)
        except ApiError as error:
            if write.is_stale(error):
                return True  # its watch event is on the way
            _LOG.warning("pod group %s: %s", logged(key), error)
            if over and not error.busy:
                objected(error.message)
            return False
        except (*_UNANSWERED, TooLateError) as error:
            _LOG.warning("pod group %s: %s", logged(key), error)
            return False
        if over:
            self._removed[key] = revision
        return True

    def _status(self, group: PodGroupState, *, reserved: bool) -> GroupProgressReport | None:
        """None: it is not ours. What has succeeded and failed is counted as long as it exists; a
        group that is `Completed` keeps its counts when its pods are cleaned up.
        """
        facts = group.facts
        if self.conditions is None or facts is None:
            return None
        phase = phase_of(
            group,
            reserved=reserved,
            to_come=self._ledger.needs_nothing_yet(group),
            enforced=self._ledger.mode_in(facts.namespace) is v.Mode.ENFORCE,
        )
        succeeded, failed = len(group.succeeded), len(group.failed)
        if phase is v.GroupPhase.COMPLETED and facts.phase == phase:
            succeeded, failed = max(succeeded, facts.succeeded), max(failed, facts.failed)
        wanted = self.conditions.wanted(group, phase, reserved=reserved)
        return GroupProgressReport(
            phase, group.bound, succeeded, failed, group_cards(group), wanted
        )

    def _is_stale(
        self, group: PodGroupState, facts: GroupFacts, wanted: GroupProgressReport, *, due: bool
    ) -> bool:
        """Whether the status must be written. That other members ask for other cards is written
        with anything else.
        """
        conditions, condition = self.conditions, wanted.condition
        if conditions is None:
            return False
        if condition is not None and condition.type != v.GroupCondition.UNSCHEDULABLE:
            conditions.forget(group.key)
        stored = facts.running, facts.succeeded, facts.failed
        # The gate of a pod alone is open: soon it is bound, or it is known to wait for that.
        soon = (
            wanted.phase is v.GroupPhase.INQUEUE
            and group.reservation is None
            and group.complete
            and facts.phase == v.GroupPhase.PENDING
        )
        if stored != (wanted.running, wanted.succeeded, wanted.failed):
            return True
        if facts.phase != wanted.phase and not soon:
            return True
        if condition is not None and condition.is_urgent(facts.condition):
            return True
        if facts.request.cards and facts.cards != wanted.cards:
            return True
        if facts.phase == wanted.phase:
            return False
        if not due:
            conditions.in_a_moment(group.key)
        return due

    def _write(
        self,
        facts: GroupFacts,
        reservation: Reservation | None,
        group: PodGroupState | None,
        status: GroupProgressReport | None,
    ) -> _GroupWrite:
        text = reservation_text(reservation) if reservation else None
        if self.conditions is None:
            return _reservation_write(facts, text)
        if status is None:
            return _status_write(facts, text, None)
        body: dict[str, Any] = {
            "phase": status.phase,
            "running": status.running,
            "succeeded": status.succeeded,
            "failed": status.failed,
            "columns": {"cards": status.cards},
        }
        if group is not None and status.condition is not None:
            body["conditions"] = self.conditions.body(group, status.condition)
        return _status_write(facts, text, body)

    @staticmethod
    async def _send(writer: FencedWriter, facts: GroupFacts, write: _GroupWrite) -> int:
        """Returns the group's new revision. Raises the errors of writing and of reading numbers."""
        answer = await writer.patch(group_path(facts), write.body, content_type=write.content_type)
        return int(decode_stored(answer).metadata.resource_version)

    async def _as_it_was(self, facts: GroupFacts, error: ApiError, write: _GroupWrite) -> bool:
        """Whether the group is unchanged since it was judged, so that the refusal is not ours."""
        if error.busy or (error.moved and error.status == 404):
            return False
        if write.stored is not None:
            return not write.is_stale(error)  # the tests come first
        try:
            return (await self._read(facts)).resource_version == str(facts.revision)
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError):
            return False

    async def _stands(
        self, facts: GroupFacts, reservation: Reservation, write: _GroupWrite
    ) -> tuple[bool | None, bool]:
        """Whether an earlier write of ours is stored after all, and whether it has annotations.

        None: it could not be read, or the group has not changed and the write was refused. Only a
        read proves that the group is gone: a webhook may refuse a write with 404.
        """
        annotated = write.stored is not None and write.stored.annotated
        try:
            meta = await self._read(facts)
            revision = int(meta.resource_version)
        except ApiError as unread:
            return (False if unread.status == 404 else None), annotated
        except (OutcomeUnknown, msgspec.MsgspecError, ValueError):
            return None, annotated
        if meta.uid != facts.uid:
            return False, annotated
        notes = meta.annotations or {}
        text = notes.get(v.RESERVATION)
        same = text is not None and read_reservation(text) == reservation
        unchanged = revision == facts.revision and not same
        if write.stored is not None:
            unchanged, annotated = notes.get(v.SETTLE) == write.stored.settled, bool(notes)
        if unchanged or not same:
            return (None if unchanged else False), annotated
        self._ledger.decisions.confirm_reservation(facts.key, reservation, revision)
        return True, annotated

    async def _read(self, facts: GroupFacts) -> StoredMeta:
        """The stored group of that name. Raises the errors of reading."""
        return decode_stored(await self._writer.get(group_path(facts))).metadata


def _wait(error: Exception) -> float | None:
    return error.retry_after if isinstance(error, ApiError | OutcomeUnknown) else None


def _tell(error: Exception, unsure: Callable[[str], None]) -> None:
    """Pass on why a group could not be written. A conflict counts only if a webhook says so."""
    if not isinstance(error, ApiError):
        unsure(str(error))
    elif error.status != 409 or error.denied:
        unsure(error.message)


def reservation_over(group: PodGroupState, *, opening: bool = False) -> bool:
    """A reservation ends when the minimum is bound, when no member is left, and when the group has
    another queue, where it is of no use (T2). In the last case it stays while gates that were
    judged with it are `opening`. Of a group that was enqueued no member may be there yet; it ends
    when the group asks for something else (E1).
    """
    if group.facts is None or group.facts.reservation is None:
        return False
    complete = group.bound + len(group.succeeded) >= max(1, group.minimum)
    moved = group.reserved_elsewhere and not opening
    if group.enqueued:
        # Its pods may be still to come: until then it ends by E8, or if something else is asked.
        asks_anew = group.facts.request.mark != group.facts.reservation.request
        return complete or moved or asks_anew
    return complete or not group.members or moved


def _status_write(
    facts: GroupFacts, text: str | None, status: dict[str, Any] | None
) -> _GroupWrite:
    """With the status, where that is ours. `text`: of the reservation; None takes it away."""
    body: dict[str, Any] = {"metadata": _versioned(facts, {v.RESERVATION: text})}
    if status is not None:
        body["status"] = status
    return _GroupWrite(body, MERGE_PATCH)


def _reservation_write(facts: GroupFacts, text: str | None) -> _GroupWrite:
    """Of the reservation alone, where the status is Volcano's. None takes it away."""
    mark, stored = _fresh(), facts.stored
    if stored is None:
        notes = {v.RESERVATION: text, v.SETTLE: mark}
        return _GroupWrite({"metadata": _versioned(facts, notes)}, MERGE_PATCH)
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


def _settling_write(facts: GroupFacts, stored: StoredGroup, *, annotated: bool) -> _GroupWrite:
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
) -> _GroupWrite:
    asked = [{"op": "test", "path": path, "value": value} for path, value in tests]
    return _GroupWrite([*asked, *changes], JSON_PATCH, stored)


def _add(path: str, value: object) -> dict[str, object]:
    return {"op": "add", "path": path, "value": value}


def _fresh() -> str:
    return secrets.token_hex(6)
