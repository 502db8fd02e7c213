"""An API server that keeps pod groups, and tells the leader what was written on them."""

import asyncio
import json
from copy import deepcopy
from typing import Any

from builders.group import GroupBody

from .fakes import Answer, Call, refused, stored
from .leader import Leader

Object = dict[str, Any]


class StoredGroups:
    """Takes merge patches under the stored version, as a real one does; its watch is at once."""

    def __init__(self, leader: Leader, *groups: GroupBody) -> None:
        self._leader = leader
        self._revision = 1_000
        self._other = leader.script.answer_to
        self._bodies = {group.name: group.body for group in groups}
        self.patches: list[tuple[str, Object]] = []
        """Name and body of each write of a group, in order."""
        leader.script.answer_to = self._answer

    def status(self, name: str) -> Object:
        return dict(self._bodies[name].get("status") or {})

    def condition(self, name: str) -> Object:
        """Its only one; empty: it has none."""
        found = self.status(name).get("conditions") or [{}]
        assert len(found) == 1
        return dict(found[0])

    def change(self, name: str, patch: Object) -> None:
        """Somebody else writes the group."""
        self._revision += 1
        body = merged(self._bodies[name], patch)
        body["metadata"]["resourceVersion"] = str(self._revision)
        self._bodies[name] = body
        self._leader.see(GroupBody(body))

    def _answer(self, call: Call) -> Answer:
        if "/podgroups/" not in call.path:
            return self._other(call)
        name = call.path.rpartition("/")[2]
        before = self._bodies[name]
        if call.method == "GET":
            return json.dumps(before).encode()
        if call.body["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]:
            return refused(409)
        self.patches.append((name, call.body))
        self._revision += 1
        body = merged(before, call.body)
        body["metadata"]["resourceVersion"] = str(self._revision)
        self._bodies[name] = body
        asyncio.get_running_loop().call_soon(self._leader.see, GroupBody(body))
        return stored(self._revision)


def merged(before: Object, patch: Object) -> Object:
    """A merge patch (RFC 7386)."""
    found = deepcopy(before)
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict):
            found[key] = merged(found.get(key) or {}, value)
        else:
            found[key] = value
    return found
