"""A request and its answer, whichever version of HTTP they travel by; and what bounds memory and
time, whoever calls: bytes of bodies in work, and open connections.

A body counts from before it is read until its answer is known, whatever is kept of it meanwhile: on
all ports of the process together. Each port has at most so many connections, and none for ever.
When one too many comes, another is closed for it: the one that has been silent for longest of those
that never got a good answer, else of those that did. So whoever opens connections and says nothing
closes his own, and not those of an API server at work. Only while all are being answered is a new
one refused.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpCall:
    """A request. Its body is read only if somebody asks for it."""

    method: str
    path: str
    """As it was sent: quoted, without the query."""
    body: Callable[[], Awaitable[bytes]]
    """Reads the body, once. Raises BodyTooLargeError, which the handler answers; and BusyError and
    ConnectionError, which it lets through.
    """
    headers: Mapping[str, str]
    """By name in lower case."""
    query: str = ""
    """As it was sent: quoted, without its question mark."""


class HttpAnswer(NamedTuple):
    """What is sent back, with its length."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    """More of them; names in lower case."""


def text_answer(status: int, text: str) -> HttpAnswer:
    """For people, in a line."""
    return HttpAnswer(status, (text + "\n").encode(), TEXT)


BUG: Final = "cardquota could not answer: this is a bug, see its log"
BROKEN: Final = text_answer(HTTPStatus.INTERNAL_SERVER_ERROR, BUG)


HttpHandler = Callable[[HttpCall], Awaitable[HttpAnswer]]
"""Answers one request, whatever it is; raises only what reading the body raises."""


class BodyLimits(NamedTuple):
    """How much of a body is taken in, in bytes."""

    largest: int
    """What is kept. A larger one is no call."""
    dropped: int
    """What is taken in of a larger one, so that its sender reads our answer."""


class BodyTooLargeError(Exception):
    """The body is larger than what is kept."""

    def __init__(self, size: int | None) -> None:
        """`size`: bytes, if they are known."""
        super().__init__("the body is too large")
        self.size = size


REQUEST_WITHIN: Final = 5.0
"""Seconds from the first byte of a request to its last, for setting up TLS, and for reading a long
answer."""
IDLE: Final = 120.0
"""Seconds for which a connection stays open between two requests.
Longer than Go's clients keep theirs (90 s), so that they close it, and never send into its end."""
_LOOK: Final = 1.0
"""Seconds between two looks for those whose time is over."""
MIB: Final = 1024 * 1024
MOST: Final = 32 * MIB
"""Bytes of all bodies in work."""
SMALL: Final = 64 * 1024
"""Bytes of a body that nearly every request has at most."""
_KEPT_FOR_SMALL: Final = 4
"""This part of the budget is for small bodies alone: large ones do not keep them waiting."""


class BusyError(Exception):
    """There is no room for the body now. Its sender is to try again."""


class BodyBudget:
    """What all requests share. It never waits: who finds no room is refused."""

    def __init__(self, most: int = MOST) -> None:
        """`most`: bytes."""
        self._most = most
        self.held = 0
        """Bytes of all bodies in work now."""

    def take(self, more: int, size: int) -> None:
        """Hold `more` bytes for a body of `size` bytes as far as it is known. Raises BusyError."""
        room = self._most if size <= SMALL else self._most - self._most // _KEPT_FOR_SMALL
        if self.held + more > room:
            raise BusyError
        self.held += more

    def give_back(self, size: int) -> None:
        """So many bytes are in work no more."""
        self.held -= size


OF_THE_PROCESS: Final = BodyBudget()
"""One for all ports: memory is the process's."""


class BodyHold:
    """What one request holds of the budget."""

    __slots__ = ("_budget", "_size")

    def __init__(self, budget: BodyBudget) -> None:
        self._budget = budget
        self._size = 0

    def grow_to(self, size: int) -> None:
        """The body has at least so many bytes. Raises BusyError; what was held stays held."""
        more = size - self._size
        if more > 0:
            self._budget.take(more, size)
            self._size = size

    def release(self) -> None:
        """The request is answered, or given up. Safe to do twice."""
        self._budget.give_back(self._size)
        self._size = 0


class Connection:
    """One of them, from its first packet to its end."""

    __slots__ = ("_all", "_transport", "answering", "deadline", "known", "waits")

    def __init__(self, connections: "Connections", transport: asyncio.Transport) -> None:
        self._all = connections
        self._transport = transport
        self.deadline = 0.0
        """When it is closed, unless it is being answered."""
        self.known = False
        """Whether it ever got a good answer."""
        self.waits = False
        """Whether it is set up and nothing of a request has come."""
        self.answering = False
        """Whether it is being answered."""

    def reading(self) -> None:
        """Something of a request has come, or a long answer is to be read."""
        if self.waits:
            self.waits = False
            self._all.expect(self, REQUEST_WITHIN)

    def working(self) -> None:
        """A request has come whole. Until it is answered the connection is not closed."""
        self.waits, self.answering = False, True

    def idle(self, *, answered: bool = False) -> None:
        """It may send a request. `answered`: it has just got a good answer."""
        self.known = self.known or answered
        if self.known or self.answering:
            self._all.silent_from_now(self)
        self.waits, self.answering = True, False
        self._all.expect(self, IDLE)

    def lost(self) -> None:
        """It is gone. Safe to say twice."""
        self._all.forget(self)

    def abort(self) -> None:
        """Close it at once."""
        self._all.forget(self)
        self._transport.abort()


class Connections:
    """Those of one port. Looks at all of them each second, and for each one too many."""

    def __init__(self, most: int, refused: Callable[[str], None] = lambda _: None) -> None:
        """`refused`: told when one is closed: `connections`, there were too many, or `slow`."""
        self._most = most
        self._refused = refused
        self._open: dict[Connection, None] = {}
        """The longest silent first."""
        self._look: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def accept(self, transport: asyncio.BaseTransport) -> Connection | None:
        """A new one, whose first request is to come soon. None: it was closed."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for mypy
        if len(self) >= self._most:
            self._refused("connections")
            oldest = min(self._silent(), key=lambda one: one.known, default=None)
            if oldest is None:
                transport.abort()
                return None
            oldest.abort()
        connection = Connection(self, transport)
        self._open[connection] = None
        self.expect(connection, REQUEST_WITHIN)
        return connection

    def expect(self, connection: Connection, seconds: float) -> None:
        """It is closed unless something is said of it within so many seconds."""
        loop = asyncio.get_running_loop()
        connection.deadline = loop.time() + seconds
        if self._look is None:
            self._look = loop.call_later(_LOOK, self._close_late)

    def silent_from_now(self, connection: Connection) -> None:
        """It has just been answered."""
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    def abort(self) -> None:
        """Close all of them at once."""
        for connection in list(self._open):
            connection.abort()

    def forget(self, connection: Connection) -> None:
        """It is none of these any more."""
        self._open.pop(connection, None)

    def _silent(self) -> list[Connection]:
        return [one for one in self._open if not one.answering]

    def _close_late(self) -> None:
        loop, self._look = asyncio.get_running_loop(), None
        now = loop.time()
        for connection in self._silent():
            if connection.deadline <= now:
                if not connection.waits:
                    self._refused("slow")
                connection.abort()
        if len(self):
            self._look = loop.call_later(_LOOK, self._close_late)
