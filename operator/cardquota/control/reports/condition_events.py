"""Events about the conditions of queues, where Volcano's definition has no room for conditions:
`kubectl describe queue` shows events, and does not read annotations.
"""

from ...cluster.events.event import ObjectReference
from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.messages import report_messages
from ...quota.reports.queue_report import QueueReport, ViewCondition


class ConditionEvents:
    """In one term. Belongs to the ledger's loop."""

    def __init__(self, events: EventRecorder) -> None:
        self._events = events
        self._wrong: dict[str, tuple[str, dict[v.Condition, str]]] = {}
        """By queue: its uid, and the reason of each condition that says that something is wrong."""

    def look(self, queue: str, view: QueueReport | None) -> None:
        """Tell what is news since the last view of the queue; None: it is gone. Numbers are no
        news, and neither is what rolling updates borrow: that comes and goes with each of them.
        """
        uid, before = self._wrong.pop(queue, ("", {}))
        if view is None:
            return
        if uid != view.uid:
            before = {}
        wrong: dict[v.Condition, ViewCondition] = {
            one.type: one
            for one in view.conditions
            if one.type is not v.Condition.BORROWED
            and one.holds is not (one.type is v.Condition.QUOTA_VALID)
        }
        if wrong:
            self._wrong[queue] = view.uid, {kind: one.reason for kind, one in wrong.items()}
        for kind in (*wrong, *(before.keys() - wrong.keys())):
            one = wrong.get(kind)
            if one is None or before.get(kind) != one.reason:
                self._events.record(
                    ObjectReference("Queue", f"{v.API_GROUP}/{v.VERSION}", "", queue, view.uid),
                    type="Warning" if one else "Normal",
                    reason=kind,
                    message=one.message if one else report_messages.condition_over(kind),
                    topic=one.reason if one else "over",
                )
