"""Whether a scheduler writes the phases of PodGroups here: one of ours is shown to it (V6).

Only who decides on PodGroups writes the phase of one that is in the operator's own namespace. That
Volcano's definitions, webhooks or accounts are there says nothing: they stay when it is gone, and
some of them are ours. What tenants write is not looked at: they could say anything.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from ...cluster.api.api_error import ApiError
from ...cluster.api.client import Client
from ...quota import vocabulary as v

NAME: Final = v.PHASE_PROBE
_ANSWER: Final = msgspec.json.Decoder(dict[str, Any])
_QUEUE: Final = "default"
"""Volcano passes over groups of a queue that does not exist; it makes this one itself."""


class PhaseProbe:
    """A PodGroup without pods, which is there while somebody is asked."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        *,
        within: float = 5.0,
        pause: float = 0.5,
        clock: Callable[[], float],
    ) -> None:
        """`within`: seconds for which the group is there; a session of Volcano takes one. `pause`:
        seconds between two reads. `clock`: seconds, monotonic.
        """
        self._client = client
        self._all = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{namespace}/podgroups"
        self._path = f"{self._all}/{NAME}"
        self._within = within
        self._pause = pause
        self._clock = clock

    async def ask(self) -> str:
        """Who writes phases, as the API server names the program; empty: nobody does.

        Several replicas may ask at once. Raises ApiError, OutcomeUnknown, and ValueError for an
        answer that is none; the group may then be left until the next time.
        """
        await self._delete()
        end = self._clock() + self._within
        try:
            while self._clock() < end:
                if writer := await self._writer():
                    return writer
                await asyncio.sleep(self._pause)
        finally:
            await self._delete()
        return ""

    async def _writer(self) -> str:
        """Who has written its phase. Makes the group if it is not there."""
        try:
            found = _ANSWER.decode(await self._client.get(self._path))
        except ApiError as error:
            if error.status != 404:
                raise
            await self._create()
            return ""
        return _foreign(found)

    async def _create(self) -> None:
        text = "shown to see whether another scheduler decides on PodGroups; gone within seconds"
        body = {
            "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
            "kind": "PodGroup",
            "metadata": {
                "name": NAME,
                "labels": {"app.kubernetes.io/name": "cardquota"},
                "annotations": {"kubernetes.io/description": text},
            },
            "spec": {"minMember": 1, "queue": _QUEUE},
        }
        try:
            await self._client.post(self._all, body, params={"fieldManager": v.FIELD_MANAGER})
        except ApiError as error:
            if error.status != 409 or error.denied:
                raise

    async def _delete(self) -> None:
        try:
            await self._client.delete(self._path)
        except ApiError as error:
            if error.status != 404:
                raise


def _foreign(group: dict[str, Any]) -> str:
    """Who has written its phase, if not we: an older release of ours knows nothing of the probe."""
    if not (group.get("status") or {}).get("phase"):
        return ""
    managers = (group.get("metadata") or {}).get("managedFields") or ()
    writers = (one.get("manager") for one in managers if "f:status" in (one.get("fieldsV1") or {}))
    return next((str(one) for one in writers if one and one != v.FIELD_MANAGER), "")
