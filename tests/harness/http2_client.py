"""A caller of HTTP/2, by the protocol library: as careful or as careless as a test wants it."""

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Self

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from h2.frame_buffer import FrameBuffer
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

_CONFIG: Final = H2Configuration(client_side=True, header_encoding="utf-8")


@dataclass(slots=True)
class Http2Reply:
    """What came for one call, so far."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    reset: ErrorCodes | int | None = None

    @property
    def status(self) -> int:
        return int(self.headers[":status"])


class Http2Client:
    """One connection. What comes is read in the background, unless it is told not to."""

    def __init__(self) -> None:
        self.h2 = H2Connection(_CONFIG)
        self.replies: dict[int, Http2Reply] = {}
        self.goaway = asyncio.Event()
        self.closed = asyncio.Event()
        self.may_read = asyncio.Event()
        self.may_read.set()
        self._window = asyncio.Event()
        self._frames = FrameBuffer(server=False)

    @classmethod
    async def connect(cls, host: str, port: int, tls: ssl.SSLContext, window: int = 0) -> Self:
        """`window`: bytes that the server may send unread; 0: as the protocol has it."""
        client = cls()
        tls.set_alpn_protocols(["h2"])
        client._reader, client._writer = await asyncio.open_connection(host, port, ssl=tls)
        session: ssl.SSLObject = client._writer.get_extra_info("ssl_object")
        assert session.selected_alpn_protocol() == "h2"
        if window:
            client.h2.local_settings = Settings(
                client=True, initial_values={SettingCodes.INITIAL_WINDOW_SIZE: window}
            )
        client.h2.initiate_connection()
        if window:
            client.h2.increment_flow_control_window(window)
        client.flush()
        client._task = asyncio.create_task(client._read())
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        self.may_read.set()
        with suppress(OSError):
            await self._writer.wait_closed()
        await self._task

    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter
    _task: "asyncio.Task[None]"

    async def begin(self, method: str, path: str, body: bytes = b"", *, end: bool = True) -> int:
        """Send a call; its number. `end`: the whole of it."""
        stream = self.h2.get_next_available_stream_id()
        self.replies[stream] = Http2Reply()
        names = (":method", method), (":path", path), (":scheme", "https"), (":authority", "x")
        self.h2.send_headers(stream, names, end_stream=end and not body)
        self.flush()
        if body:
            await self.send(stream, body, end=end)
        return stream

    async def send(self, stream: int, body: bytes, *, end: bool = True) -> None:
        """More of its body, as the server takes it."""
        rest = memoryview(body)
        while rest and self.replies[stream].reset is None and not self.closed.is_set():
            size = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if size <= 0:
                self._window.clear()
                await self._window.wait()
                continue
            some, rest = rest[:size], rest[size:]
            self.h2.send_data(stream, bytes(some), end_stream=end and not rest)
            self.flush()
            await self._writer.drain()

    async def reply(self, stream: int) -> Http2Reply:
        """What comes for a call, once it has ended."""
        reply = self.replies[stream]
        await asyncio.wait_for(reply.ended.wait(), 30)
        return reply

    async def call(self, method: str, path: str, body: bytes = b"") -> Http2Reply:
        return await self.reply(await self.begin(method, path, body))

    def begin_and_leave(self, method: str, path: str) -> None:
        """A call and its end in one packet."""
        stream = self.h2.get_next_available_stream_id()
        self.replies[stream] = Http2Reply()
        names = (":method", method), (":path", path), (":scheme", "https"), (":authority", "x")
        self.h2.send_headers(stream, names, end_stream=True)
        self.leave(stream)

    def leave(self, stream: int) -> None:
        """Wait for its answer no longer."""
        self.h2.reset_stream(stream, ErrorCodes.CANCEL)
        self.flush()

    def flush(self) -> None:
        self.write(self.h2.data_to_send())

    def write(self, data: bytes) -> None:
        """Whatever it is."""
        self._writer.write(data)

    async def _read(self) -> None:
        with suppress(OSError):
            while data := await self._reader.read(65536):
                self._take(data)
                await self.may_read.wait()
        self.closed.set()
        self._window.set()
        for reply in self.replies.values():
            reply.ended.set()

    def _without_goaway(self, data: bytes) -> bytes:
        """h2 reads nothing after it, though what has begun is still answered."""
        self._frames.max_frame_size = self.h2.max_inbound_frame_size
        self._frames.add_data(data)
        kept = bytearray()
        for frame in self._frames:
            if isinstance(frame, GoAwayFrame):
                self.goaway.set()
            else:
                kept += frame.serialize()
        return bytes(kept)

    def _take(self, data: bytes) -> None:
        for event in self.h2.receive_data(self._without_goaway(data)):
            match event:
                case events.ResponseReceived():
                    headers = {str(name): str(value) for name, value in event.headers}
                    self.replies[event.stream_id].headers = headers
                case events.DataReceived():
                    self.replies[event.stream_id].body += event.data
                    with suppress(ProtocolError):
                        self.h2.acknowledge_received_data(
                            event.flow_controlled_length, event.stream_id
                        )
                case events.StreamEnded():
                    self.replies[event.stream_id].ended.set()
                case events.StreamReset():
                    self.replies[event.stream_id].reset = event.error_code
                    self.replies[event.stream_id].ended.set()
                    self._window.set()
                case events.WindowUpdated() | events.RemoteSettingsChanged():
                    self._window.set()
        with suppress(ProtocolError):
            self.flush()
