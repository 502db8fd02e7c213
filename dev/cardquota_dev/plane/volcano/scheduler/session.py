"""One session: what the scheduler knows at its beginning, and what it decides. Pure.

It knows no cards: what limits a queue here is its `capability` alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..api_objects import (
    FINISHED,
    GROUP_NAME,
    Json,
    annotations,
    created,
    key,
    name,
    namespace,
    oldest_first,
    phase,
    uid,
)
from ..resource_amounts import Amounts, amounts, counted, pod_requests, total
from .members import HOLDING, READY, GangMember, MemberState, member
from .node_fit import misfit

_WAITING = ("", "Pending")


@dataclass
class _NodeRoom:
    node: Json
    idle: Amounts


@dataclass(frozen=True)
class VolcanoBinding:
    """A pod that is to be bound."""

    pod: Json
    node: str


@dataclass
class GroupProgressInSession:
    """One group in a session."""

    group: Json
    members: list[GangMember]
    enqueued: bool = False
    """Whether this session has enqueued it."""
    placed: list[GangMember] = field(default_factory=list)
    """Members that this session binds."""
    misfits: dict[str, int] = field(default_factory=dict)
    """Why a member did not fit: by reason, on how many nodes."""

    @property
    def phase(self) -> str:
        """Its phase, with what this session has done so far."""
        return "Inqueue" if self.enqueued else phase(self.group)

    @property
    def minimum(self) -> int:
        """How many members must be ready together."""
        return int(self.group["spec"].get("minMember") or 0)

    @property
    def ready(self) -> int:
        """Members that count for the minimum."""
        return len(self.placed) + sum(one.state in READY for one in self.members)

    @property
    def queue(self) -> str:
        """Its queue."""
        return str(self.group["spec"].get("queue") or "default")

    def held(self) -> Amounts:
        """What its members hold, those that this session binds too."""
        bound = (one for one in self.members if one.state in HOLDING)
        return total(one.requests for one in (*bound, *self.placed))

    def claimed(self) -> Amounts:
        """What counts for its queue once it is enqueued: its minimum, less its gated members, or
        what it holds if that is more.
        """
        minimum = counted(amounts(self.group["spec"].get("minResources")))
        gated = total(one.requests for one in self.members if one.state is MemberState.GATED)
        held = self.held()
        names = minimum.keys() | held.keys()
        return {
            one: max(minimum.get(one, 0) - gated.get(one, 0), held.get(one, 0), 0) for one in names
        }


class VolcanoSession:
    """Groups, nodes and queues of one moment. `binding`: nodes by uid of pods just being bound."""

    def __init__(
        self,
        pods: Iterable[Json],
        nodes: Iterable[Json],
        groups: Iterable[Json],
        queues: Mapping[str, Json],
        binding: Mapping[str, str],
    ) -> None:
        everyone = list(pods)
        members: dict[str, list[GangMember]] = defaultdict(list)
        # As Volcano orders the tasks of a job: of one second by uid, so in any order of names.
        for pod in sorted(everyone, key=lambda one: (created(one), uid(one))):
            group = annotations(pod).get(GROUP_NAME)
            if group and pod["spec"].get("schedulerName") == "volcano":
                found = member(pod, binding.get(uid(pod), ""))
                members[f"{namespace(pod)}/{group}"].append(found)
        self.groups = [
            GroupProgressInSession(one, members.get(key(one), [])) for one in oldest_first(groups)
        ]
        self._queues = queues
        self._rooms = _rooms(everyone, nodes, binding)

    def may_enqueue(self) -> list[GroupProgressInSession]:
        """Groups that wait to be enqueued, in order; none of a queue that is not open."""
        return [
            one for one in self.groups if one.phase in _WAITING and self._state(one.queue) == "Open"
        ]

    def has_capability(self, wanted: GroupProgressInSession) -> bool:
        """Whether the queue's capability allows the group's minimum beside what is enqueued.

        What the capability does not name is not limited.
        """
        queue = self._queues.get(wanted.queue)
        if queue is None:
            return False
        capability = counted(amounts(queue["spec"].get("capability")))
        used = total(
            one.claimed()
            for one in self.groups
            if one.queue == wanted.queue and one.phase not in _WAITING
        )
        minimum = wanted.claimed()
        return all(
            used.get(one, 0) + minimum[one] <= limit
            for one, limit in capability.items()
            if minimum.get(one)
        )

    def allocate(self, *, cache_errors: bool) -> list[VolcanoBinding]:
        """Place the members of each enqueued group: its minimum together, then one by one.

        `cache_errors`: a member inherits the misfits of an earlier one of its task, node by node,
        whatever its own affinity is.
        """
        bindings: list[VolcanoBinding] = []
        for group in self.groups:
            if group.phase not in _WAITING:
                bindings.extend(self._place(group, cache_errors=cache_errors))
        return bindings

    def allocated(self, queue: str) -> Amounts:
        """What the members of a queue's groups hold."""
        return total(one.held() for one in self.groups if one.queue == queue)

    def _place(self, group: GroupProgressInSession, *, cache_errors: bool) -> list[VolcanoBinding]:
        known: dict[tuple[str, str], str] = {}
        chosen: list[tuple[GangMember, _NodeRoom]] = []
        for one in group.members:
            if one.state is not MemberState.PENDING:
                continue
            room = self._room(group, one, known if cache_errors else {})
            if room is not None:
                chosen.append((one, room))
                room.idle = _less(room.idle, one.requests)
        if group.ready + len(chosen) < group.minimum:
            for one, room in chosen:
                room.idle = total([room.idle, one.requests])
            return []
        group.placed = [one for one, _ in chosen]
        return [VolcanoBinding(one.pod, name(room.node)) for one, room in chosen]

    def _room(
        self, group: GroupProgressInSession, one: GangMember, known: dict[tuple[str, str], str]
    ) -> _NodeRoom | None:
        """The first node by name that the member fits on. All are looked at, also after that."""
        fitting: list[_NodeRoom] = []
        why: dict[str, int] = defaultdict(int)
        for node, room in self._rooms.items():
            reason = known.get((one.role, node)) or misfit(
                one.pod, room.node, one.requests, room.idle
            )
            if reason:
                known[one.role, node] = reason
                why[reason] += 1
            else:
                fitting.append(room)
        if not fitting:
            group.misfits = dict(why)
        return fitting[0] if fitting else None

    def _state(self, queue: str) -> str:
        found = self._queues.get(queue)
        return "" if found is None else str((found.get("status") or {}).get("state") or "Open")


def _rooms(
    pods: Iterable[Json], nodes: Iterable[Json], binding: Mapping[str, str]
) -> dict[str, _NodeRoom]:
    rooms = {
        name(one): _NodeRoom(one, amounts((one.get("status") or {}).get("allocatable")))
        for one in sorted(nodes, key=name)
    }
    for pod in pods:
        node = str(pod["spec"].get("nodeName") or binding.get(uid(pod), ""))
        if node in rooms and phase(pod) not in FINISHED:
            rooms[node].idle = _less(rooms[node].idle, pod_requests(pod["spec"]))
    return rooms


def _less(idle: Amounts, taken: Amounts) -> Amounts:
    return {one: amount - taken.get(one, 0) for one, amount in idle.items()}
