"""The section `refused`: pods that could not be bound, or given their group, by who is not known to
be Volcano (V1). The operator has written events about them.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import field

from ...cluster.api.api_error import ApiError
from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota import vocabulary as v
from ...quota.moments import seconds_of
from ...quota.objects.meta import Meta
from ...quota.objects.wire import Wire
from ...quota.words import show
from .. import sentences
from .finding import Finding, FindingKind
from .section import CheckSection

REFUSED: Final = "refused"
"""The name of the section."""
_ONLY: Final = {"fieldSelector": f"reason={v.VOLCANO_UNKNOWN},involvedObject.kind=Pod"}
"""A Queue may be told the same, beside its pods."""
_LONGEST: Final = 1_024
"""Characters of an event's message, as the API server has it."""


class _About(Wire):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class RefusedEvent(Wire):
    """An event about a write that was refused."""

    metadata: Meta
    involved_object: _About = field(default_factory=_About)
    message: str = ""
    first_timestamp: str | None = None
    event_time: str | None = None


async def refused_events(client: Client, path: str) -> list[RefusedEvent] | str:
    """`path`: a collection of events. Returns why they are not read where they may not be.

    Errors: as `list_objects`, but for that.
    """
    events = list_objects(client, path, RefusedEvent, selector=_ONLY)
    try:
        return [event async for event in events if not isinstance(event, Unreadable)]
    except ApiError as error:
        if not error.absent:
            raise
        return str(error)


def refused_section(events: list[RefusedEvent] | str, now: float) -> CheckSection:
    """`events`: or why there are none. `now`: seconds since 1970."""
    if isinstance(events, str):
        why = sentences.not_listed("events", events)
        note = f"{why}: {sentences.REFUSED_NOT_KNOWN}"
        return CheckSection(REFUSED, notes=[note], complete=True)
    found = sorted(
        _findings(events, now), key=lambda one: (one.since or 0, one.namespace, one.name)
    )
    return CheckSection(REFUSED, found)


def _findings(events: Iterable[RefusedEvent], now: float) -> Iterable[Finding]:
    """One of each pod: the first event that is still there. Anybody may write an event, so of its
    text no more is said than of any other.
    """
    first: dict[tuple[str, str], Finding] = {}
    for event in events:
        about = event.involved_object
        since = seconds_of(event.first_timestamp or event.event_time)
        one = Finding(
            finding=FindingKind.REFUSED,
            kind=about.kind or "Pod",
            namespace=about.namespace,
            name=about.name,
            queue=None,
            cards={},
            since=since,
            age=None if since is None else max(0, int(now - since)),
            reason=v.VOLCANO_UNKNOWN,
            what=sentences.SCHEDULER_REFUSED,
            why=show(" ".join(event.message.split()), most=_LONGEST),
            advice=sentences.NAME_VOLCANO,
        )
        known = first.get((about.namespace, about.name))
        if known is None or (since or 0) < (known.since or 0):
            first[about.namespace, about.name] = one
    return first.values()
