"""Events about the conditions of a queue, where no status can show them."""

from dataclasses import replace

from builders import H200, a_pod, a_queue
from cardquota.control.reports import ConditionEvents
from cardquota.quota import vocabulary as v
from cardquota.quota.reports import QueueReport, report

from ..fakes import Told, a_world


def a_view(quota: int = 3, held: int = 0) -> QueueReport:
    pod = a_pod("p").in_queue("queue").stamped("queue", {H200: held}).on_node("h200-a")
    found = report(a_world(a_queue().with_quota({H200: quota}), pod), "queue")
    assert found is not None
    return found


def reasons(told: Told) -> list[str]:
    found = [reason for _, reason, _ in told.events]
    told.events.clear()
    return found


def test_what_begins_and_what_is_over_is_told_once() -> None:
    told = Told()
    events = ConditionEvents(told)  # type: ignore[arg-type]
    well = a_view()
    over = a_view(3, 4)
    events.look("queue", well)
    assert reasons(told) == [], "that all is well is no news"
    events.look("queue", over)
    assert [text for *_, text in told.events] == [over.conditions[1].message]
    assert reasons(told) == [v.Condition.OVER_QUOTA]
    events.look("queue", a_view(3, 5))
    assert reasons(told) == [], "nor are numbers"
    events.look("queue", replace(over, quota_problem="no JSON"))
    assert reasons(told) == [v.Condition.QUOTA_VALID]
    events.look("queue", well)
    assert sorted(reasons(told)) == [v.Condition.OVER_QUOTA, v.Condition.QUOTA_VALID]
    events.look("queue", well)
    assert reasons(told) == []


def test_another_queue_of_the_same_name_is_another() -> None:
    told = Told()
    events = ConditionEvents(told)  # type: ignore[arg-type]
    over = a_view(3, 4)
    events.look("queue", over)
    events.look("queue", replace(over, uid="another"))
    assert reasons(told) == [v.Condition.OVER_QUOTA] * 2
    events.look("queue", None)
    events.look("queue", a_view())
    assert reasons(told) == []
