"""Since when controllers have said, by events, that we refuse their pods."""

from collections.abc import Collection
from typing import Final

from msgspec import field

from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota.moments import seconds_of
from ...quota.objects.meta import Meta
from ...quota.objects.wire import Wire
from ...quota.workloads.workload_facts import BY_US

_ONLY: Final = {"fieldSelector": "reason=FailedCreate"}


class _Involved(Wire):
    uid: str = ""


class FailedCreate(Wire):
    """An event of a controller: a pod could not be created. Equal ones are one, with a count."""

    metadata: Meta
    involved_object: _Involved = field(default_factory=_Involved)
    message: str = ""
    first_timestamp: str | None = None
    event_time: str | None = None


async def first_refusals(client: Client, path: str, uids: Collection[str]) -> dict[str, int]:
    """By uid of these workloads: seconds since 1970 of the first event that is still there.

    `path`: a collection of events. Errors: as `list_objects`.
    """
    found: dict[str, int] = {}
    async for event in list_objects(client, path, FailedCreate, selector=_ONLY):
        if isinstance(event, Unreadable) or BY_US not in event.message:
            continue
        uid = event.involved_object.uid
        at = seconds_of(event.first_timestamp or event.event_time)
        if uid in uids and at is not None:
            found[uid] = min(at, found.get(uid, at))
    return found
