"""The status that a session writes of a pod group. Pure."""

from typing import Final

from ..api_objects import Json, now
from ..known_fields import known_group_status
from .members import MemberState
from .session import GroupProgressInSession

UNSCHEDULABLE: Final = "Unschedulable"
_SCHEDULED: Final = "Scheduled"


def why_unschedulable(found: GroupProgressInSession) -> str:
    """What is said of a group that is not ready. Empty: it is."""
    if found.ready >= found.minimum:
        return ""
    waiting = sum(one.state is MemberState.PENDING for one in found.members)
    gated = sum(one.state is MemberState.GATED for one in found.members)
    text = (
        f"{waiting + gated}/{len(found.members)} tasks in gang unschedulable: pod group is not "
        f"ready, {found.ready} ready, {gated} gated, {found.minimum} minAvailable"
    )
    reasons = (f"{count} {reason}" for reason, count in sorted(found.misfits.items()))
    return "; ".join((text, *reasons))


def group_status(found: GroupProgressInSession, session: str) -> Json:
    """The status after this session. A condition is never taken away: Unschedulable stays True."""
    states = [one.state for one in found.members]
    status = known_group_status(found.group)
    counts = {
        "running": states.count(MemberState.RUNNING),
        "succeeded": states.count(MemberState.SUCCEEDED),
        "failed": states.count(MemberState.FAILED),
    }
    for name, count in counts.items():
        if count or status.get(name):
            status[name] = count
    text = why_unschedulable(found)
    status["phase"] = _phase(found, unschedulable=bool(text))
    if text:
        reason = "NotEnoughResources" if len(states) >= found.minimum else "NotEnoughTasks"
        _set(status, session, UNSCHEDULABLE, reason, text)
    elif states:
        _set(status, session, _SCHEDULED, "tasks in gang are ready to be scheduled", "")
    return status


def _phase(found: GroupProgressInSession, *, unschedulable: bool) -> str:
    states = [one.state for one in found.members]
    if unschedulable and MemberState.RUNNING in states:
        return "Unknown"
    if found.ready and found.ready >= found.minimum:
        return "Completed" if found.ready == states.count(MemberState.SUCCEEDED) else "Running"
    return "Inqueue" if found.phase == "Inqueue" else "Pending"


def _set(status: Json, session: str, kind: str, reason: str, message: str) -> None:
    """Set a condition, unless it stands there already with the same words."""
    conditions = list(status.get("conditions") or ())
    fresh = {"type": kind, "status": "True", "reason": reason, "message": message}
    old = next((one for one in conditions if one.get("type") == kind), None)
    if old is not None and all(old.get(name, "") == value for name, value in fresh.items()):
        return
    fresh |= {"transitionID": session, "lastTransitionTime": now()}
    if old is None:
        conditions.append(fresh)
    else:
        conditions[conditions.index(old)] = fresh
    status["conditions"] = conditions
