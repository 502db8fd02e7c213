"""Whether pods, groups, status and events agree. All numbers are whole, so they must be equal."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from cardquota.quota import vocabulary as v

from .recount import recount, waits, written
from .step_error import StepError
from .user import User

_POLL = 0.2


def until_all_agree(reader: User) -> list[str]:
    """What was compared, in words. Raises StepError if they still differ after the time."""
    deadline = time.monotonic() + reader.timeout
    while True:
        lines, differences = _compare(reader)
        if not differences:
            return lines
        if time.monotonic() > deadline:
            raise StepError(
                "a recount from pods and groups", "\n".join(lines), "\n".join(differences)
            )
        time.sleep(_POLL)


def _compare(reader: User) -> tuple[list[str], list[str]]:
    pods, groups, queues, events = (
        reader.reads(f"kubectl get {kind}")["items"]
        for kind in ("pods -A", "podgroups -A", "queues", "events -A")
    )
    counted, status = recount(pods, groups, queues), written(queues)
    lines, differences = [], []
    for (queue, card), found in counted.items():
        if found.requested or found.inqueue:
            lines.append(
                f"{queue}, {card}: requested {found.requested}, allocated {found.allocated}, "
                f"released or reserved {found.inqueue}: counted, and in the status"
            )
        if found != status[queue, card]:
            differences.append(f"{queue}, {card}: counted {found}, status {status[queue, card]}")
    told = told_by(events)
    unexplained = [name for name in map(_name, filter(waits, pods)) if not _explained(name, told)]
    lines.append(f"pods at the gate: {sum(map(waits, pods))}; each has an event that says why")
    differences += [f"pod {name} waits, and no event says why" for name in unexplained]
    return lines, differences


def told_by(events: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Of whom what was said: name and reason. Events of others may be about nothing with a name."""
    return {(one["involvedObject"].get("name", ""), one.get("reason", "")) for one in events}


def _explained(pod: str, told: set[tuple[str, str]]) -> bool:
    return (pod, v.Reason.INSUFFICIENT_CARD) in told


def _name(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"]["name"])
