"""One connection of HTTP/2, over the protocol library h2.

Why here at all: kube-scheduler's client keeps two idle connections of HTTP/1.1, and binds side by
side. So nearly each bind came on a connection of its own, whose handshake cost both sides more than
the call. aiohttp serves no HTTP/2, and the servers that do take several times as long for a body of
5,000 names.

Guarantees
- At most STREAMS calls are under way, and bodies have room in the budget of the process. What is
  beyond is refused as not begun, so that the caller may send it again.
- Who does not read what we send is not read from either.
- A call goes on when its caller leaves; its answer is dropped.

Not guaranteed: that a body ends while others are answered on its connection. Who may connect is
known by certificate.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, cast

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError, StreamClosedError
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

from .bounds import (
    BROKEN,
    BodyBudget,
    BodyHold,
    BodyLimits,
    BodyTooLargeError,
    BusyError,
    Connection,
    HttpAnswer,
    HttpCall,
    HttpHandler,
)

_LOG = logging.getLogger(__name__)
STREAMS: Final = 100
"""Calls under way; what kube-scheduler assumes before we tell."""
_WINDOW: Final = 1024 * 1024
"""Bytes that a caller may send before we have taken them in, of one call and of all."""
_FRAME: Final = 256 * 1024
_HEADERS: Final = 16 * 1024
_CONFIG: Final = H2Configuration(
    client_side=False,
    header_encoding=None,
    # A call without a path, or with an odd one, gets an answer that says so.
    validate_inbound_headers=False,
    normalize_inbound_headers=False,
    validate_outbound_headers=False,
    normalize_outbound_headers=False,
)


@dataclass(slots=True)
class _Stream:
    hold: BodyHold
    method: str = ""
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    size: int = 0
    """Bytes of the body so far, those that were dropped too."""
    called: bool = False
    """Whether it has come whole."""
    unsent: memoryview | None = None
    """What is left of the answer."""


class Http2Connection(asyncio.Protocol):
    """Answers what comes on one connection."""

    def __init__(
        self,
        handler: HttpHandler,
        limits: BodyLimits,
        budget: BodyBudget,
        connection: Connection,
        ended: Callable[["Http2Connection"], None],
    ) -> None:
        """`connection`: told how it stands. `ended`: called once when the connection is lost."""
        self._handler = handler
        self._limits = limits
        self._budget = budget
        self._connection = connection
        self._ended = ended
        self._h2 = H2Connection(_CONFIG)
        self._h2.local_settings = Settings(
            client=False,
            initial_values={
                SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS,
                SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
                SettingCodes.MAX_FRAME_SIZE: _FRAME,
                SettingCodes.MAX_HEADER_LIST_SIZE: _HEADERS,
            },
        )
        # It reads these two from its settings before one can set them.
        self._h2.max_inbound_frame_size = _FRAME
        self._h2.decoder.max_header_list_size = _HEADERS
        self._streams: dict[int, _Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._transport: asyncio.Transport | None = None
        self._full = False
        self._last: int | None = None
        """The last call that we still answer, once we have said that we leave."""

    # --- asyncio ----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast("asyncio.Transport", transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(_WINDOW)
        self._write()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._transport = None
        for stream in list(self._streams):
            self._forget(stream)
        self._connection.lost()
        self._ended(self)

    def pause_writing(self) -> None:
        """The caller does not read."""
        self._full = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The caller reads again."""
        self._full = False
        if self._transport is not None:
            self._transport.resume_reading()
        self._send_all()
        self._write()

    def data_received(self, data: bytes) -> None:
        """Take in what came."""
        try:
            for event in self._h2.receive_data(data):
                self._take(event)
        except ProtocolError as error:
            _LOG.debug("a connection of HTTP/2 is closed: %s", error)
            self._write()
            self._close()
            return
        self._write()

    # --- calls ----

    def _take(self, event: events.Event) -> None:
        match event:
            case events.RequestReceived():
                self._begin(event)
            case events.DataReceived():
                self._more(event)
            case events.StreamEnded():
                self._call(event.stream_id)
            case events.StreamReset():
                self._forget(event.stream_id)
            case events.WindowUpdated() | events.RemoteSettingsChanged():
                self._send_all()
            case events.ConnectionTerminated():
                self._close()

    def _begin(self, event: events.RequestReceived) -> None:
        stream, leaving = event.stream_id, self._last is not None
        if leaving or len(self._tasks) >= STREAMS:
            self._reset(stream, ErrorCodes.REFUSED_STREAM)
            return
        self._connection.reading()
        headers = {_text(name): _text(value) for name, value in event.headers}
        self._streams[stream] = _Stream(
            BodyHold(self._budget),
            headers.get(":method", ""),
            headers.get(":path", "").partition("?")[0],
            headers,
        )

    def _more(self, event: events.DataReceived) -> None:
        self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        call = self._streams.get(event.stream_id)
        if call is None:
            return
        self._connection.reading()
        call.size += len(event.data)
        if call.size > self._limits.dropped:
            self._refuse(event.stream_id, ErrorCodes.ENHANCE_YOUR_CALM)
        elif call.size > self._limits.largest:
            self._release(call)
        else:
            try:
                call.hold.grow_to(call.size)
            except BusyError:
                self._refuse(event.stream_id, ErrorCodes.REFUSED_STREAM)
            else:
                call.body += event.data

    def _call(self, stream: int) -> None:
        call = self._streams.get(stream)
        if call is None:
            return
        call.called = True
        self._connection.working()
        task = asyncio.get_running_loop().create_task(self._answer(stream, call))
        self._tasks.add(task)
        task.add_done_callback(self._answered)

    async def _answer(self, stream: int, call: _Stream) -> None:
        async def body() -> bytes:
            if call.size > self._limits.largest:
                raise BodyTooLargeError(call.size)
            found, call.body = bytes(call.body), bytearray()
            return found

        try:
            answer = await self._handler(HttpCall(call.method, call.path, body, call.headers))
        except Exception:  # noqa: BLE001
            _LOG.exception("a request could not be answered")
            answer = BROKEN
        finally:
            self._release(call)
        if self._streams.get(stream) is not call:
            return  # its caller has left
        try:
            self._send(stream, call, answer)
        except ProtocolError as error:
            _LOG.debug("an answer could not be sent: %s", error)
            self._close()
        self._write()

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._connection.idle(answered=True)
        self._close_if_done()

    def _forget(self, stream: int) -> None:
        call = self._streams.pop(stream, None)
        if call is not None and not call.called:
            self._release(call)
        self._close_if_done()

    def _refuse(self, stream: int, why: ErrorCodes) -> None:
        self._forget(stream)
        self._reset(stream, why)

    def _reset(self, stream: int, why: ErrorCodes) -> None:
        with suppress(StreamClosedError):  # its caller was quicker
            self._h2.reset_stream(stream, why)

    @staticmethod
    def _release(call: _Stream) -> None:
        call.hold.release()
        call.body = bytearray()

    # --- answers ----

    def _send(self, stream: int, call: _Stream, answer: HttpAnswer) -> None:
        headers = [
            (":status", str(answer.status)),
            ("content-type", answer.content_type),
            ("content-length", str(len(answer.body))),
            *answer.headers,
        ]
        bare = call.method == "HEAD" or not answer.body
        self._h2.send_headers(stream, headers, end_stream=bare)
        if bare:
            self._streams.pop(stream)
            return
        call.unsent = memoryview(answer.body)
        self._send_some(stream, call)

    def _send_all(self) -> None:
        for stream, call in list(self._streams.items()):
            self._send_some(stream, call)
        self._close_if_done()

    def _send_some(self, stream: int, call: _Stream) -> None:
        """As much of an answer as its caller takes now."""
        while call.unsent is not None and not self._full:
            room = min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size)
            if room <= 0:
                return
            some, rest = call.unsent[:room], call.unsent[room:]
            self._h2.send_data(stream, some.tobytes(), end_stream=not rest)
            call.unsent = rest or None
            if not rest:
                self._streams.pop(stream)

    def _write(self) -> None:
        out = self._h2.data_to_send()
        if out and self._transport is not None:
            self._transport.write(out)

    # --- the end ----

    def leave(self) -> None:
        """Answer what has come, and tell the caller to send what follows on another connection."""
        if self._last is not None or self._transport is None:
            return
        self._last = self._h2.highest_inbound_stream_id
        # By h2 itself nothing could be sent after it.
        self._transport.write(GoAwayFrame(last_stream_id=self._last).serialize())
        self._close_if_done()

    async def wait(self, seconds: float) -> None:
        """Wait until all that has come is answered, at most so long; then close."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=seconds)
        for task in list(self._tasks):
            task.cancel()
        self._close()

    def _close_if_done(self) -> None:
        if self._last is not None and not self._tasks and not self._streams:
            self._close()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _text(sent: bytes | str) -> str:
    return sent.decode("latin-1") if isinstance(sent, bytes) else sent
