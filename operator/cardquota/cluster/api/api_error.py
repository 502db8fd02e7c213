"""The meaning of an answer that is not 2xx: refused for certain, or outcome unknown."""

import os
import re
from collections.abc import Mapping
from typing import Final

import aiohttp
import msgspec

_UNKNOWN_4XX: Final = 408
_UNPROCESSABLE: Final = 422
_REFUSED_5XX: Final = frozenset({501, 505})
_REFUSED_TEXTS: Final = (
    "failed calling webhook",
    "failed to call webhook",
    "admission webhook",
    "admission plugin",
)
"""An admission failure arrives as 500 InternalError, but nothing has been stored."""
_DENIAL: Final = re.compile(
    r'admission webhook "[^"]*" denied the request'
    r'|(?:[^ ]+ "[^"]*" is forbidden: )?(?:ValidatingAdmissionP|p)olicy '
    r"""(?:'[^']*'|"[^"]*") (?:with binding '[^']*' )?denied request"""
)
"""How the API server introduces what a webhook or a policy says. The webhook chooses status and
reason freely: one with an internal failure denies with 500, without a reason.
"""
_INVALID: Final = re.compile(r'[^ ]+ "[^"]*" is invalid: ')
"""How it introduces what is wrong with an object. Of a patch that cannot be applied it says no more
than that it rejects the request.
"""


class ApiError(Exception):
    """A definite answer: the request did not take effect."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        retry_after: float | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(f"{status} {reason}: {message}" if reason else f"{status}: {message}")
        self.status = status
        """HTTP status."""
        self.reason = reason
        """Kubernetes' reason (`Conflict`, `AlreadyExists`, `Expired`), or the empty string."""
        self.message = message
        self.retry_after = retry_after
        """Seconds the API server asks to wait, if it does."""
        self.body = body

    @property
    def denied(self) -> bool:
        """Whether a webhook or a policy said this, before anything was stored. Then the status says
        nothing about the object, not even 404 or 409.
        """
        return _DENIAL.match(self.message) is not None

    @property
    def moved(self) -> bool:
        """For a write on an object as it was seen: the object has changed or is gone, and its watch
        event is on the way. Not if a webhook says so.
        """
        return self.status in (404, 409) and not self.denied

    @property
    def failed_test(self) -> bool:
        """For a JSON patch with tests: the object is not as it was seen. Not if what the patch made
        of it is invalid.
        """
        refused = self.status == _UNPROCESSABLE and not self.denied
        return refused and _INVALID.match(self.message) is None

    @property
    def absent(self) -> bool:
        """For a read of a kind: the API server does not have it, or its administrator has not yet
        applied our permissions of this version.
        """
        return self.status in (403, 404)

    @property
    def busy(self) -> bool:
        """The API server is overloaded and objects to nothing. Not if a webhook says so."""
        return self.status == 429 and not self.denied


class OutcomeUnknown(Exception):  # noqa: N818 - a state of knowledge, perhaps no error at all
    """No definite answer: a write may have happened, may still happen, or never will.

    Causes: a time-out, a lost connection, or a 408 or 5xx that does not say the write was refused.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds the API server asks to wait, if it does."""


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: int | None = None


class _Status(msgspec.Struct, rename="camel"):
    reason: str = ""
    message: str = ""
    code: int = 0
    details: _Details | None = None


_decoder = msgspec.json.Decoder(_Status)


def read_status(body: bytes | msgspec.Raw) -> _Status:
    """The `Status` object in `body`, or an empty one that quotes the start of the text."""
    try:
        return _decoder.decode(body)
    except msgspec.MsgspecError:
        return _Status(message=bytes(body[:200]).decode(errors="replace").strip())


def read_failure(status: int, headers: Mapping[str, str], body: bytes) -> ApiError | OutcomeUnknown:
    """The exception for an answer outside 2xx."""
    told = read_status(body)
    retry_after = _retry_after(headers.get("Retry-After"), told)
    if _is_definite(status, told):
        return ApiError(status, told.reason, told.message, retry_after=retry_after, body=body)
    return OutcomeUnknown(f"{status} {told.reason}: {told.message}", retry_after=retry_after)


def _is_definite(status: int, told: _Status) -> bool:
    if _DENIAL.match(told.message):
        return True
    if status < 500:
        return status != _UNKNOWN_4XX
    if status in _REFUSED_5XX:
        return True
    # ServerTimeout is also a 500, and means that etcd did not answer in time.
    return (
        status == 500
        and told.reason == "InternalError"
        and any(text in told.message for text in _REFUSED_TEXTS)
    )


def _retry_after(header: str | None, told: _Status) -> float | None:
    if header is not None and header.strip().isdecimal():
        return float(header)
    if told.details is not None and told.details.retry_after_seconds:
        return float(told.details.retry_after_seconds)
    return None


_TLS: Final = re.compile(r" ssl:(<[^>]*>|\w+)")
"""aiohttp's text for its TLS settings in a failed connection: a memory address."""
NO_HEADER: Final = "the token, or the password, has characters that cannot be sent, as a line break"
_NO_HOST: Final = (
    "the host of the server, or of the proxy, is not a name: a part is empty or too long"
)


def in_words(error: Exception) -> str:
    """What happened to a connection, for logs and messages: type and text, never a header.

    Never print these errors by `repr`: aiohttp's contain the whole request with our token, and the
    key of the connection with a proxy's password.
    """
    if isinstance(error, UnicodeError):
        return _NO_HOST
    if isinstance(error, ValueError) and not isinstance(error, aiohttp.ClientError):
        return "the request cannot be written"  # the text may have a header
    name = type(error).__name__
    if isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError):
        # Their text quotes the answer, which may contain anything. The cause's type says enough.
        cause = error.__cause__
        return f"{name}: unusable answer" + (f" ({type(cause).__name__})" if cause else "")
    if isinstance(error, aiohttp.ServerDisconnectedError) and not isinstance(error.message, str):
        return f"{name}: in the middle of an answer"  # its text has the headers of that answer
    text = str(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        text = _TLS.sub("", text, count=1)
        number = error.os_error.errno
        if "Connect call failed" in text and number is not None:
            # Of a refused connection asyncio tells no more than the address, once more.
            text = f"{text.partition(' [')[0]} [{os.strerror(number)}]"
    return f"{name}: {text}" if text else name
