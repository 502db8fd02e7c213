"""The status of a Queue, from the ledger's report and what is stored. Pure."""

from collections.abc import Mapping
from typing import Any

from ...api.queue_status import (
    CardStatus,
    QueueCondition,
    QueueStatusSchema,
    ResourceStatus,
    StatusColumns,
    WaitingStatus,
)
from ...quota.amounts import LARGEST
from ...quota.reports.queue_report import QueueReport, columns
from ...quota.words import read_moment


def queue_status(
    report: QueueReport, stored: Mapping[str, Any], *, now: str, standalone: bool
) -> dict[str, Any]:
    """The status to apply, in wire form.

    `stored`: the present status, for the times of unchanged conditions. `now`: RFC 3339.
    `standalone`: whether we write state and `allocated`; a Closed that others wrote is left alone
    (Q6).
    """
    shown: dict[str, str] = _fields(columns(report))
    status = QueueStatusSchema(
        state=report.state if standalone and report.state_is_ours else None,
        allocated=_allocated(report) if standalone else None,
        observed_generation=report.generation,
        cards=[CardStatus(**_bounded(_fields(row))) for row in report.cards],
        resources=[ResourceStatus(**row.texts()) for row in report.resources],
        waiting=_waiting(report),
        conditions=_conditions(report, stored.get("conditions"), now),
        columns=StatusColumns(**{name: text or None for name, text in shown.items()}),
    )
    return status.model_dump(by_alias=True, exclude_none=True)


def _allocated(report: QueueReport) -> dict[str, int | str]:
    """Volcano's field: what is allocated, by resource name."""
    by_resource: dict[str, int] = {}
    for row in report.cards:
        if row.resource:
            by_resource[row.resource] = by_resource.get(row.resource, 0) + row.allocated
    return {
        **{row.name: row.text(row.allocated) or "0" for row in report.resources},
        **{name: str(amount) for name, amount in sorted(by_resource.items())},
    }


def _waiting(report: QueueReport) -> WaitingStatus:
    pods, oldest = report.waiting
    return WaitingStatus(pods=pods, oldest=oldest or None)


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def _bounded(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers capped at what the API server accepts: for one above, it would refuse the whole
    status. No quota is above the cap, so an amount over its quota still shows as such.
    """
    return {key: min(n, LARGEST) if isinstance(n, int) else n for key, n in row.items()}


def _mappings(stored: object) -> list[Mapping[str, Any]]:
    """Those with a type in a list of any origin."""
    if not isinstance(stored, list):
        return []
    return [one for one in stored if isinstance(one, dict) and isinstance(one.get("type"), str)]


def _conditions(report: QueueReport, stored: object, now: str) -> list[QueueCondition]:
    before = {one.get("type"): one for one in _mappings(stored)}
    found = []
    for one in report.conditions:
        status, old = str(one.holds), before.get(one.type, {})
        since = str(old.get("lastTransitionTime"))
        same = old.get("status") == status and read_moment(since) is not None
        found.append(
            QueueCondition(
                type=one.type,
                status=status,
                observed_generation=report.generation,
                last_transition_time=since if same else now,
                reason=one.reason,
                message=one.message,
            )
        )
    return found
