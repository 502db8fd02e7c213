"""What a reservation is judged by, as the API server has it: a write tests exactly that.

Volcano writes the status of a pod group all the time. A write of ours that named the version of the
group would be refused whenever that comes between, and judged again for nothing.
"""

import re
from sys import intern
from typing import Final, NamedTuple

import msgspec

from ... import vocabulary as v
from ...objects.pod_group import GroupAnnotations, GroupSpec

LONGEST: Final = 8_192
"""Characters of each text that is kept for a test; room for every request that is read."""
_ENCODER: Final = msgspec.json.Encoder()
_TESTABLE: Final = re.compile(r"""(?:[ -%'-;=?-\[\]-~]|\\["\\nrt])*""")
"""The test of a JSON patch compares how a string is written, and not what it says. Of these
characters the API server writes each as we do; of `<`, `>`, `&` and what is not ASCII it does not.
"""
_NO_NOTES: Final = GroupAnnotations()


class StoredGroup(NamedTuple):
    """One pod group, as far as what is reserved for it depends on it."""

    judged: str
    """JSON: a list of `[JSON pointer, value]`, null for what is absent. Groups that are alike share
    one text."""
    annotated: bool
    """Whether it has annotations at all."""
    reservation: str | None
    """The text of its reservation; it may be none of ours."""
    settled: str | None
    """The mark of our last write. Each write tests it and leaves another one, so that of several at
    most one can land, however late."""

    def tests(self) -> list[tuple[str, object]]:
        """The pairs of `judged`."""
        return msgspec.json.decode(self.judged, type=list[tuple[str, object]])


def pointer(annotation: str) -> str:
    """The JSON pointer of an annotation."""
    return f"/metadata/annotations/{annotation.replace('/', '~1')}"


def stored_group(annotations: GroupAnnotations | None, spec: GroupSpec) -> StoredGroup | None:
    """None: some of it cannot be tested, so a write has to name the version of the group."""
    notes = annotations or _NO_NOTES
    resources, tasks = spec.min_resources, spec.min_task_member
    if tasks is not None and not tasks:
        return None  # none, or too many to be read
    if any(isinstance(amount, float) for amount in (resources or {}).values()):
        return None
    judged: list[tuple[str, object]] = [
        ("/spec/queue", spec.queue),
        ("/spec/minMember", spec.min_member),
        ("/spec/minResources", resources),
        ("/spec/minTaskMember", tasks),
    ]
    if annotations is not None:
        judged.append((pointer(v.REQUEST), notes.request))
    text = _as_stored(judged)
    if text is None or not all(
        one is None or _as_stored(one) is not None for one in (notes.reservation, notes.settled)
    ):
        return None
    return StoredGroup(intern(text), annotations is not None, notes.reservation, notes.settled)


def _as_stored(value: object) -> str | None:
    """Its JSON; None if it is too long, or may be written in another way by the API server."""
    text = _ENCODER.encode(value)
    if len(text) > LONGEST:
        return None
    found = text.decode()
    return found if _TESTABLE.fullmatch(found) else None
