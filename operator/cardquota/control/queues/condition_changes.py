"""What is news about the conditions of a queue, for an event where no status can show them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ...quota import vocabulary as v
from ...quota.messages import report_messages

_WANTED: Final = {
    v.Condition.QUOTA_VALID: "True",
    v.Condition.OVER_QUOTA: "False",
    v.Condition.OVERSOLD: "False",
}
"""Their status where all is well. What rolling updates borrow comes and goes with each of them, and
is no news."""


class ConditionChange(NamedTuple):
    """One condition that has become true or false, or has another reason."""

    condition: v.Condition
    well: bool
    """Whether all is well now."""
    reason: str
    message: str
    """For the event."""


def condition_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterable[ConditionChange]:
    """From one published status to the next. Numbers are no news, and neither is that all is well
    with a queue of which nothing was published.
    """
    known, now = _by_type(before), _by_type(after)
    for condition, wanted in _WANTED.items():
        found, old = now.get(condition), known.get(condition, {})
        if found is None:
            continue
        well = found.get("status") == wanted
        if well and old.get("status", wanted) == wanted:
            continue
        reason = str(found.get("reason", ""))
        if (old.get("status"), old.get("reason")) == (found.get("status"), reason):
            continue
        text = report_messages.condition_over(condition) if well else str(found.get("message", ""))
        yield ConditionChange(condition, well, reason, text)


def _by_type(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Of a stored status of any origin."""
    stored = status.get("conditions")
    rows = stored if isinstance(stored, list) else []
    return {str(one.get("type")): one for one in rows if isinstance(one, dict)}
