"""Whether webhooks and policies in the cluster are as rendered: differences are only reported.

Quotas do not hold without them: think of a weakened namespace selector or failure policy, or a
missing binding. But they belong to the administrator, who may have a reason. So a difference is
shown everywhere (metric, log, event, `/readyz`) and nothing is written.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client, get_if_there
from ..cluster.events import EventRecorder, ObjectReference
from ..install.manifests import admission_path, documents
from ..install.pause import fault as fault_of
from ..metrics import Metrics
from ..quota import vocabulary as v
from ..quota.messages import report_messages
from ..settings import Settings

_LOG = logging.getLogger(__name__)
EVERY: Final = 15.0
"""Seconds between two checks. Each reads some fifteen small objects, one after the other, which is
no load for an API server. People look at reports within minutes at best."""

Identity = tuple[str, str]
"""Kind and name."""


class InstallationCheck:
    """Compares again and again, and reports what changed.

    Guarantees: an installation that is as rendered is never reported, whatever the API server fills
    in or others write to labels and annotations. An object that cannot be read for the moment keeps
    its last known state. Every replica has metric, log and `/readyz`. Events are written only while
    `leads` is true, one per change of an object, on the operator's Namespace (the object itself may
    be gone).
    """

    def __init__(
        self,
        settings: Settings,
        client: Client,
        metrics: Metrics,
        events: EventRecorder,
        leads: Callable[[], bool],
    ) -> None:
        self._client = client
        self._gauge = metrics.installation_faults
        self._events = events
        self._leads = leads
        self._namespace = settings.namespace
        self._wanted = documents(settings)
        self._found: dict[Identity, str] = {}
        self._notified: dict[Identity, str] = {}
        self.checked = False
        """Whether all were compared once."""
        for kind, name in map(_identity, self._wanted):
            self._gauge.labels(kind, name).set(0)

    @property
    def faults(self) -> list[str]:
        """The objects that are to be put right, in words for people."""
        return list(self._found.values())

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(EVERY)

    async def check(self) -> None:
        """Compare every object once, and report what has changed since the last time."""
        for wanted in self._wanted:
            kind, name = identity = _identity(wanted)
            try:
                fault = fault_of(wanted, await self._read(admission_path(wanted)))
            except ApiError as error:
                if error.status != 403:
                    _LOG.info("%s <%s> cannot be read: %s", kind, name, error)
                    continue
                unread = ["may not be read (apply manifests/base/rbac.yaml), so nobody knows it"]
                fault = report_messages.installation_fault(kind, name, unread)
            except (OutcomeUnknown, ValueError) as error:
                _LOG.info("%s <%s> cannot be read: %s", kind, name, error)
                continue
            self._note(identity, fault)
        self.checked = True
        if self._leads():
            await self._tell()

    def _note(self, identity: Identity, fault: str) -> None:
        self._gauge.labels(*identity).set(1 if fault else 0)
        if fault == self._found.get(identity, ""):
            return
        if fault:
            self._found[identity] = fault
            _LOG.warning("%s", fault)
        else:
            del self._found[identity]
            _LOG.info("%s", report_messages.installation_restored(*identity))

    async def _tell(self) -> None:
        """An event for each object whose report has changed since this replica's last one."""
        if self._notified == self._found:
            return
        try:
            namespace = await self._own_namespace()
        except (ApiError, OutcomeUnknown, ValueError) as error:
            _LOG.info("Namespace <%s> cannot be read: %s", self._namespace, error)
            return
        for identity in dict.fromkeys((*self._found, *self._notified)):
            fault = self._found.get(identity)
            if fault == self._notified.get(identity):
                continue
            self._events.forget(namespace.uid)  # each object is separate news
            if fault:
                self._events.record(
                    namespace, type="Warning", reason=v.INSTALLATION_DIFFERS, message=fault
                )
            else:
                text = report_messages.installation_restored(*identity)
                self._events.record(
                    namespace, type="Normal", reason=v.INSTALLATION_RESTORED, message=text
                )
        self._notified = dict(self._found)

    async def _own_namespace(self) -> ObjectReference:
        found = json.loads(await self._client.get(f"/api/v1/namespaces/{self._namespace}"))
        uid = str(found["metadata"]["uid"])
        return ObjectReference("Namespace", "v1", "", self._namespace, uid)

    async def _read(self, path: str) -> Mapping[str, Any] | None:
        found = json.loads(await get_if_there(self._client, path) or b"null")
        return found if isinstance(found, dict) else None


def _identity(document: Mapping[str, Any]) -> Identity:
    return str(document["kind"]), str(document["metadata"]["name"])
