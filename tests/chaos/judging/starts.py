"""A gang starts whole: soon after its first gate, as many are open as it needs (E2)."""

from dataclasses import dataclass, replace

from .leeway import Calm, Lately
from .recount import Recount

SOON = 10.0
"""Seconds in which nothing was wrong. A gate whose outcome is not known, or that a change of its
pod got in the way of, is tried again after some."""


@dataclass(frozen=True)
class _Start:
    at: float
    uid: str
    queue: str
    minimum: int
    pods: frozenset[str]
    """The members that there were when it may have been decided, by uid."""
    started: int = 1


class Starts:
    """Gangs of which a gate was opened, and not enough yet.

    Whoever changes a group, or takes one of its members away, is to blame for what is missing: also
    where that was stored a moment before the first gate, and was decided after it. Nor is a gang
    found that was not let run within the time of its reservation, and lost that (E8).
    """

    def __init__(self, recount: Recount, calm: Calm, reservation_timeout: float) -> None:
        """`reservation_timeout`: seconds."""
        self._recount, self._calm = recount, calm
        self._timeout = reservation_timeout
        self._begun: dict[str, _Start] = {}
        self._members = Lately[str, frozenset[str]]()
        """By uid; of gangs, by key."""

    def begun(self, key: str, at: float, since: float) -> None:
        """A gate of a gang that did not run was opened. `since`: when it may have been decided."""
        group = self._recount.groups.get(key)
        if group is not None and key not in self._begun:
            pods = frozenset().union(*self._members.values(key, since))
            self._begun[key] = _Start(at, group.uid, group.queue, group.minimum, pods)

    def after(self, key: str, at: float) -> None:
        """Something of it changed: it may be whole, or may not have to be any more."""
        there = frozenset(pod.uid for pod in self._recount.members[key].values())
        self._members.note(key, at, there)
        start, group = self._begun.get(key), self._recount.groups.get(key)
        if start is None:
            return
        left = {p.uid for p in self._recount.members[key].values() if p.succeeded or not p.finished}
        changed = group is None or start.uid != group.uid or not start.pods <= left
        if group is not None and not changed:
            changed = (group.queue, group.minimum) != (start.queue, start.minimum)
        started = self._recount.started(key)
        over = group is not None and not group.reserved_in and at - start.at >= self._timeout
        if changed or over or started >= start.minimum:
            del self._begun[key]
        else:
            self._begun[key] = replace(start, started=started)

    def too_long(self, at: float) -> list[str]:
        """What is not whole although it has had the time. Each is told once."""
        late = [k for k, s in self._begun.items() if self._calm.seconds(s.at, at) > SOON]
        gone = [(key, self._begun.pop(key)) for key in late]
        return [f"{key} was started with {s.started} of {s.minimum}" for key, s in gone]
