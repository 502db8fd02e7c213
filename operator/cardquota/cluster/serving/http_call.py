"""A request and its answer, whichever version of HTTP they travel by."""

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


class HttpAnswer(NamedTuple):
    """What is sent back, with its length."""

    status: int
    body: bytes
    content_type: str = JSON


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
