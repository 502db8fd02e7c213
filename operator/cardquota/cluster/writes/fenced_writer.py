"""Writes of one term: few at a time, and none that could be answered after the term's end."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from ...quota import vocabulary as v
from ...settings import ANSWER_MARGIN
from ..api.client import MERGE_PATCH


class Writer(Protocol):
    """The part of a client that is needed here."""

    async def patch(
        self,
        path: str,
        body: object,
        *,
        content_type: str = ...,
        params: dict[str, str] | None = ...,
        timeout: float = ...,
        metadata_only: bool = ...,
    ) -> bytes:
        """A patch. Raises ApiError or OutcomeUnknown."""

    async def post(
        self,
        path: str,
        body: object,
        *,
        params: dict[str, str] | None = ...,
        timeout: float = ...,
    ) -> bytes:
        """A create. Raises ApiError or OutcomeUnknown."""

    async def get(self, path: str) -> bytes:
        """A quorum read. Raises ApiError or OutcomeUnknown."""


class TooLateError(Exception):
    """Not sent: the term could have ended before the answer."""


class FencedWriter:
    """Sends patches and creates under the current term, and reads what became of them.

    Guarantees: at most `at_a_time` requests at once, so slow or stuck requests hold up no other
    writer. Nothing is sent, however long credentials or a connection take, once `timeout` plus the
    margin for the answer have passed since the check of the renew deadline.
    """

    def __init__(
        self,
        client: Writer,
        time_left: Callable[[], float],
        *,
        timeout: float,
        at_a_time: int,
    ) -> None:
        """`time_left`: seconds before the renew deadline. `timeout`: seconds for one patch.

        `client` must keep the time-out of a patch in total.
        """
        self._client = client
        self._time_left = time_left
        self._timeout = timeout
        self._slots = asyncio.Semaphore(at_a_time)

    def in_time(self) -> bool:
        """Whether a patch sent now would be answered before the renew deadline."""
        return self._time_left() >= self._timeout + ANSWER_MARGIN

    async def patch(
        self,
        path: str,
        body: object,
        *,
        content_type: str = MERGE_PATCH,
        dry_run: bool = False,
    ) -> bytes:
        """Send a patch when a slot is free. Returns the object's metadata.

        `dry_run`: webhooks and policies are asked, and nothing is written. Raises ApiError,
        OutcomeUnknown, TooLateError.
        """
        params = {"timeout": f"{self._timeout:g}s", "fieldManager": v.FIELD_MANAGER}
        if dry_run:
            params["dryRun"] = "All"
        async with self._slots:
            if not self.in_time():
                raise TooLateError(f"PATCH {path}: too near to the renew deadline")
            return await self._client.patch(
                path,
                body,
                content_type=content_type,
                params=params,
                timeout=self._timeout + ANSWER_MARGIN,
                metadata_only=True,
            )

    async def post(self, path: str, body: object) -> bytes:
        """Create something when a slot is free, as a Binding. Returns what the API server says.

        Raises ApiError, OutcomeUnknown, TooLateError.
        """
        params = {"timeout": f"{self._timeout:g}s", "fieldManager": v.FIELD_MANAGER}
        async with self._slots:
            if not self.in_time():
                raise TooLateError(f"POST {path}: too near to the renew deadline")
            timeout = self._timeout + ANSWER_MARGIN
            return await self._client.post(path, body, params=params, timeout=timeout)

    async def get(self, path: str) -> bytes:
        """A quorum read, when a slot is free. Raises ApiError or OutcomeUnknown."""
        async with self._slots:
            return await self._client.get(path)
