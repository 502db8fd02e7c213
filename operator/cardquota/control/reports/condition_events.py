"""Events about the conditions of a queue, where Volcano's definition has no room for conditions:
`kubectl describe queue` shows events, and does not read annotations.
"""

from ...cluster.events.event import ObjectReference
from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.reports.queue_report import QueueReport
from ..queues.condition_changes import ConditionChange


def tell_condition(events: EventRecorder, report: QueueReport, change: ConditionChange) -> None:
    """One event for one change: the reason is the condition's type."""
    where = ObjectReference("Queue", f"{v.API_GROUP}/{v.VERSION}", "", report.name, report.uid)
    events.record(
        where,
        type="Normal" if change.well else "Warning",
        reason=change.condition,
        message=change.message,
        topic=f"{change.well} {change.reason}",
    )
