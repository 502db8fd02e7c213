"""Kopf on the leader: reconciles the Queues in a thread and loop of its own.

Kopf is good at few objects with rich handling. It never touches the ledger: views of queues arrive
as messages (`post`), one slot for each queue, and Kopf's handler brings what is published.

- A Queue is seen, added or changed: what is published is compared with the latest view.
- A Queue is deleted: what was to be written for it is dropped.
- Kopf starts, or resumes after an error: it lists all Queues, which are seen as above.

Only `on.event` is used. It leaves the objects untouched: no finalizers, no annotations, no state of
Kopf's own. Kopf watches the Queues a second time, on the leader alone: it takes no events but those
of its own watch. The price is one connection, and each Queue decoded once more.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from ...cluster.api.access import find_access, open_session
from ...cluster.api.client import Client
from ...loop.timing import ended, now_text
from ...quota import vocabulary as v
from ...quota.reports.queue_report import QueueReport
from .lean_kopf import kopf
from .published_status import StatusAnnotation, StatusFields, StatusPlace, find_place
from .queue_reconciler import QueueReconciler

_LOG = logging.getLogger(__name__)
RESTART: Final = 1.0
"""Seconds before Kopf is started again after an error ended it."""
LOOK: Final = 10.0
"""Seconds between two looks at the definition of Queues: one read of one object."""


class QueueOperator:
    """Start it when a term begins, stop it when the term ends."""

    def __init__(
        self, *, standalone: bool, unwritten: Callable[[int], None] = lambda _: None
    ) -> None:
        """`unwritten`: as in QueueReconciler; it is called in the Kopf thread."""
        self._unwritten = unwritten
        self._standalone = standalone
        self._place: StatusPlace = StatusFields() if standalone else StatusAnnotation()
        """Where the numbers are published. A guess, until the definition of Queues was read."""
        self._moved: Callable[[], object] | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reconciler: QueueReconciler | None = None
        self._stop = threading.Event()
        self._end: asyncio.Event | None = None
        """Ends Kopf. Belongs to the Kopf loop."""
        self._lock = threading.Lock()
        """Guards the next two."""
        self._views: dict[str, QueueReport] = {}
        """The latest of each queue, by name: for a Kopf that starts again."""
        self._posted: dict[str, QueueReport | None] = {}
        """What the reconciler has not taken yet, by uid."""

    def start(self, moved: Callable[[], object]) -> None:
        """Begin reconciling, and again whenever the definition of Queues is another one.

        `moved`: called in the Kopf thread whenever `shows_conditions` changes.
        """
        self._moved = moved
        self._thread = threading.Thread(target=self._run, name="kopf", daemon=True)
        self._thread.start()

    def post(self, queue: str, view: QueueReport | None) -> None:
        """Hand over the latest view of a queue, or that it is gone (None). Call it from any thread.

        However slow Kopf is, only the latest view of each queue and one call wait for it.
        """
        with self._lock:
            first, before = not self._posted, self._views.pop(queue, None)
            if before is not None:
                self._posted[before.uid] = None
            if view is not None:
                self._views[queue] = self._posted[view.uid] = view
            if first:
                self._call(self._take)

    @property
    def shows_conditions(self) -> bool:
        """Whether conditions stand where the numbers are published: a guess at first (`moved`)."""
        return self._place.has_state

    async def stop(self, timeout: float = 5.0) -> None:
        """End it. Returns when the thread has ended or after `timeout` seconds."""
        self._stop.set()
        self._call(self._end_now)
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.join, timeout)
            if thread.is_alive():
                _LOG.warning("the Kopf thread did not end within %s s", timeout)

    def _call(self, call: Callable[[], None]) -> None:
        """In the Kopf loop; nothing if there is none."""
        loop = self._loop
        if loop is not None:
            try:
                loop.call_soon_threadsafe(call)
            except RuntimeError:
                _LOG.debug("the Kopf loop is closed already")

    def _end_now(self) -> None:
        """Kopf waits up to 5 s for tasks that it finds in its loop: those that write end first."""
        if self._reconciler is not None:
            self._reconciler.close()
        if self._end is not None:
            self._end.set()

    def _take(self) -> None:
        with self._lock:
            posted, self._posted = self._posted, {}
        for uid, view in posted.items():
            if self._reconciler is not None:
                self._reconciler.want(uid, view)

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
        self._end = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        try:
            await self._serve(self._end)
        finally:
            self._loop = None

    async def _serve(self, end: asyncio.Event) -> None:
        if self._stop.is_set():  # `stop` came before there was a loop to end
            return
        access = await find_access()
        client, session = Client(access), open_session(access)
        login = kopf.AiohttpSession(server=access.server, aiohttp_session=session)
        try:
            place = await find_place(client, standalone=self._standalone) or self._place
            if not self._stop.is_set():
                await self._publish(place, client, login, end)
        finally:
            await client.close()
            await session.close()

    async def _publish(
        self, place: StatusPlace, client: Client, login: kopf.AiohttpSession, end: asyncio.Event
    ) -> None:
        """Until the end, or until numbers belong somewhere else."""
        moved, self._place = place.has_state != self._place.has_state, place
        if moved and self._moved is not None:
            self._moved()
        reconciler = self._reconciler = QueueReconciler(
            client, now_text, standalone=self._standalone, place=place, unwritten=self._unwritten
        )
        # Begun before Kopf, which waits for no such task when it ends.
        following = asyncio.create_task(self._follow_definition(client))
        try:
            with self._lock:
                self._posted = {view.uid: view for view in self._views.values()}
            self._take()
            await kopf.operator(
                registry=_handlers(reconciler, login),
                settings=_settings(),
                standalone=True,
                clusterwide=True,
                stop_flag=end,
            )
        finally:
            self._reconciler = None
            reconciler.close()
            await ended({following})

    async def _follow_definition(self, client: Client) -> None:
        """End Kopf, so that it is started again, when numbers belong somewhere else."""
        while True:
            await asyncio.sleep(LOOK)
            found = await find_place(client, standalone=self._standalone)
            if found is not None and found.has_state != self._place.has_state:
                _LOG.info("another definition of Queues: their numbers are published elsewhere")
                self._end_now()
                return


def _settings() -> kopf.OperatorSettings:
    """No events of Kopf's own, no scan for resources, and an end without delay."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.server_timeout = 300
    settings.process.ultimate_exiting_timeout = None
    settings.queueing.exit_timeout = 0.5
    return settings


def _handlers(reconciler: QueueReconciler, login: kopf.AiohttpSession) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()

    # Kopf's own logins know no token files, no plugins and no server names. After a 401 it takes no
    # session that it had before: it ends, and is started again with what `find_access` finds then.
    async def log_in(**_: Any) -> kopf.AiohttpSession:
        return login

    async def queue_seen(event: Any, uid: str | None, **_: Any) -> None:
        if event["type"] == "DELETED":
            reconciler.gone(uid or "")
        else:
            reconciler.seen(event["object"])

    kopf.on.login(registry=registry)(log_in)
    kopf.on.event(v.API_GROUP, v.VERSION, "queues", registry=registry)(queue_seen)
    return registry
