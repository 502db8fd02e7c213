"""Kopf on the leader: reconciles the Queues in a thread and loop of its own.

Kopf is good at few objects with rich handling. It never touches the ledger: reports arrive as
messages (`post`), and the status writer compares them with what Kopf sees of a queue.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import msgspec

from ...cluster.api import wire
from ...cluster.api.client import APPLY_PATCH, Client
from ...cluster.api.find_access import find_access
from ...cluster.api.session import open_session
from ...quota import vocabulary as v
from ...quota.reports.queue_report import QueueReport
from .condition_changes import ConditionChange
from .lean_kopf import kopf
from .posted_reports import PostedReports
from .queue_definition import QueueDefinition
from .queue_handlers import operator_settings, queue_handlers
from .status_writer import StatusWriter

_LOG = logging.getLogger(__name__)
RESTART: Final = 1.0
"""Seconds before Kopf is started again after an error ended it."""


class QueueOperator:
    """Start it when a term begins, stop it when the term ends."""

    def __init__(
        self,
        *,
        standalone: bool,
        ask_all: Callable[[], None],
        definition: QueueDefinition,
        told: Callable[[QueueReport, ConditionChange], None] = lambda _, __: None,
        unwritten: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`ask_all` is called in the Kopf thread when the reports of all queues are needed.
        `definition`: of Queues, as it is known when Kopf is started. `told` and `unwritten`: as in
        StatusWriter; they are called in the Kopf thread, too.
        """
        self._unwritten = unwritten
        self._definition = definition
        self._standalone = standalone
        self._ask_all = ask_all
        self._told = told
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writer: StatusWriter | None = None
        self._stop = threading.Event()
        self._end: asyncio.Event | None = None
        """Ends Kopf. Belongs to the Kopf loop."""
        self._posted = PostedReports(self._take)

    def start(self) -> None:
        """Begin reconciling."""
        self._thread = threading.Thread(target=self._run, name="kopf", daemon=True)
        self._thread.start()

    def post(self, queue: str, report: QueueReport | None) -> None:
        """Hand over new numbers of a queue, or that it is gone (None). Call it from any thread.

        However slow Kopf is, only the latest report of each queue and one call wait for it. Reports
        are dropped while Kopf is not up: it asks for all of them when it starts.
        """
        self._posted.post(queue, report)

    def restart(self) -> None:
        """End Kopf, so that it is started again: the definition of Queues is another one."""
        self._end_kopf()

    def _end_kopf(self) -> None:
        loop, end = self._loop, self._end
        if loop is not None and end is not None:
            try:
                loop.call_soon_threadsafe(self._end_now, end)
            except RuntimeError:
                _LOG.debug("the Kopf loop is closed already")

    def _end_now(self, end: asyncio.Event) -> None:
        """Kopf waits up to 5 s for tasks that it finds in its loop: those that write end first."""
        if self._writer is not None:
            self._writer.close()
        end.set()

    async def stop(self, timeout: float = 5.0) -> None:
        """End it. Returns when the thread has ended or after `timeout` seconds."""
        self._stop.set()
        self._end_kopf()
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.join, timeout)
            if thread.is_alive():
                _LOG.warning("the Kopf thread did not end within %s s", timeout)

    def _take(self, queue: str, report: QueueReport | None) -> None:
        if self._writer is None:
            return
        if report is None:
            self._writer.drop(queue)
        else:
            self._writer.want(report)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                asyncio.run(self._reconcile())
            except Exception as error:  # noqa: BLE001 - whatever ends Kopf, it is started again
                _LOG.warning("Kopf ended (%s); starting it again", error)
            self._stop.wait(RESTART)

    async def _reconcile(self) -> None:
        # An event of this loop, and not `_stop` itself: Kopf waits for a threading event in the
        # loop's executor, and the end of the loop waits for the executor. After an error that ends
        # Kopf, nothing would then happen until the term is over.
        end = self._end = asyncio.Event()
        loop = self._loop = asyncio.get_running_loop()
        self._posted.connect(loop)
        try:
            await self._serve(end)
        finally:
            self._posted.disconnect()
            self._loop = None

    async def _serve(self, end: asyncio.Event) -> None:
        if self._stop.is_set():  # `stop` came before there was a loop to end
            return
        access = await find_access()
        client, session = Client(access), open_session(access)
        writer = self._writer = StatusWriter(
            QueuePatches(client),
            _now,
            standalone=self._standalone,
            place=self._definition.place,
            told=self._told,
            unwritten=self._unwritten,
        )
        try:
            if self._stop.is_set():
                return
            self._ask_all()
            await kopf.operator(
                registry=queue_handlers(writer, access, session),
                settings=operator_settings(),
                standalone=True,
                clusterwide=True,
                stop_flag=end,
            )
        finally:
            self._writer = None
            writer.close()
            await client.close()
            await session.close()


class QueuePatches:
    """Patches of queues with our field manager."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def patch(self, path: str, body: object, content_type: str) -> str:
        """As in Applier; the empty string if the answer does not tell the version."""
        params = {"fieldManager": v.FIELD_MANAGER}
        if content_type == APPLY_PATCH:
            params["force"] = "true"
        answer = await self._client.patch(
            path, body, content_type=content_type, params=params, metadata_only=True
        )
        try:
            return wire.decode_identity(answer).metadata.resource_version
        except msgspec.MsgspecError:
            return ""  # it was stored; the watch tells its version


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
