"""How a Queue is reconciled, in Kopf's terms.

- A Queue is seen, added or changed: its status is compared with the latest report from the ledger,
  and written where they differ (`StatusWriter`), so that a foreign edit of the status is put right.
- A Queue is deleted: what was to be written for it is dropped.
- Kopf starts, or resumes after an error: it lists all Queues, which are seen as above, and asks the
  ledger for the reports of all.

Only `on.event` is used. It leaves the objects untouched: no finalizers, no annotations, no state of
Kopf's own.

Kopf watches the Queues a second time, on the leader alone. The ledger's own watch runs on every
replica and starts before there is a leader; Kopf takes no events but those of its own watch, and it
offers no other way in. The price is one connection, and each Queue decoded once more.
"""

from typing import Any

import aiohttp
import msgspec

from ...cluster.api.access import Access
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import state_is_ours
from ...quota.objects.queue import Queue
from .lean_kopf import kopf
from .status_writer import StatusWriter


def operator_settings() -> kopf.OperatorSettings:
    """No events of Kopf's own, no scan for resources, and an end without delay."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.server_timeout = 300
    settings.process.ultimate_exiting_timeout = None
    settings.queueing.exit_timeout = 0.5
    return settings


def queue_handlers(
    writer: StatusWriter, access: Access, session: aiohttp.ClientSession
) -> kopf.OperatorRegistry:
    """The handlers. `session` stays the caller's; Kopf reads the API server through it."""
    registry = kopf.OperatorRegistry()

    # Kopf's own logins know no token files, no plugins and no server names. After a 401 it takes no
    # session that it had before: it ends, and is started again with what `find_access` finds then.
    async def login(**_: Any) -> kopf.AiohttpSession:
        return kopf.AiohttpSession(server=access.server, aiohttp_session=session)

    async def queue_seen(event: Any, name: str | None, uid: str | None, **_: Any) -> None:
        if name is None:
            return
        if event["type"] == "DELETED":
            writer.drop(name, uid or "")
        else:
            seen = state_of(event["object"])
            if seen is not None:
                version, others = seen
                queue = event["object"]
                writer.see(name, queue, uid or "", version=version, others_state=others)

    kopf.on.login(registry=registry)(login)
    kopf.on.event(v.API_GROUP, v.VERSION, "queues", registry=registry)(queue_seen)
    return registry


def state_of(queue: object) -> tuple[str, bool] | None:
    """The resourceVersion, and whether the state is somebody else's. None: the queue cannot be
    read, as in the ledger, which has no numbers of it then.
    """
    try:
        read = msgspec.convert(queue, Queue)
    except msgspec.ValidationError:
        return None
    return read.metadata.resource_version, not state_is_ours(read)
