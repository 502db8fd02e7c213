"""Events about the conditions of a queue, where no status can show them."""

from builders import H200, a_queue
from cardquota.control.queues import ConditionChange
from cardquota.control.reports import tell_condition
from cardquota.quota import vocabulary as v
from cardquota.quota.reports import report

from ..fakes import Told, a_world


def test_one_event_says_which_condition_and_why() -> None:
    told = Told()
    found = report(a_world(a_queue().with_quota({H200: 3})), "queue")
    assert found is not None
    for well, text in ((False, "too much"), (True, "no more")):
        change = ConditionChange(v.Condition.OVER_QUOTA, well, "x", text)
        tell_condition(told, found, change)  # type: ignore[arg-type]
    assert told.events == [("queue", "OverQuota", "too much"), ("queue", "OverQuota", "no more")]
