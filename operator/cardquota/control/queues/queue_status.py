"""The status of a Queue, from the ledger's report and what is stored. Pure."""

from collections.abc import Mapping
from typing import Any

from ...api.condition import QueueCondition
from ...api.queue_status import (
    CardStatus,
    QueueStatusSchema,
    ResourceStatus,
    StatusColumns,
    WaitingStatus,
)
from ...quota import vocabulary as v
from ...quota.messages import report_messages
from ...quota.moments import read_moment
from ...quota.quantity import LARGEST
from ...quota.reports.queue_report import QueueReport, columns
from ...quota.words import first_of


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
        resources=[ResourceStatus(**_fields(row)) for row in report.resources],
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
        **{row.name: row.allocated for row in report.resources},
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


def _unreadable(report: QueueReport) -> str:
    if report.quota_problem:
        return report_messages.quota_unreadable(report.quota_problem, kept=report.has_quota)
    return report_messages.limit_unreadable(report.spec_problem) if report.spec_problem else ""


def _mappings(stored: object) -> list[Mapping[str, Any]]:
    """Those with a type in a list of any origin."""
    if not isinstance(stored, list):
        return []
    return [one for one in stored if isinstance(one, dict) and isinstance(one.get("type"), str)]


def _conditions(report: QueueReport, stored: object, now: str) -> list[QueueCondition]:
    problem = report.quota_problem or report.spec_problem
    over = ""
    if report.over:
        over = report_messages.over_quota(report.name, report.over, report.state)
    oversold = [report_messages.oversold(*found) for found in report.oversold]
    borrowed = [report_messages.borrowed(report.name, *found) for found in report.borrowed]
    wanted: tuple[tuple[v.Condition, bool, str, str | list[str]], ...] = (
        (
            v.Condition.QUOTA_VALID,
            not problem,
            "Unreadable" if problem else "Readable",
            _unreadable(report),
        ),
        (v.Condition.OVER_QUOTA, bool(over), "OverQuota" if over else "WithinQuota", over),
        (
            v.Condition.OVERSOLD,
            bool(oversold),
            "QuotasExceedCluster" if oversold else "ClusterHasAll",
            oversold,
        ),
    )
    if report.lends:
        reason = "RollingUpdate" if borrowed else "NothingBorrowed"
        wanted = (*wanted, (v.Condition.BORROWED, bool(borrowed), reason, borrowed))
    before = {one.get("type"): one for one in _mappings(stored)}
    found = []
    for kind, holds, reason, text in wanted:
        status, old = str(holds), before.get(kind, {})
        since = str(old.get("lastTransitionTime"))
        same = old.get("status") == status and read_moment(since) is not None
        found.append(
            QueueCondition(
                type=kind,
                status=status,
                observed_generation=report.generation,
                last_transition_time=since if same else now,
                reason=reason,
                message=text if isinstance(text, str) else first_of(text, "; "),
            )
        )
    return found
