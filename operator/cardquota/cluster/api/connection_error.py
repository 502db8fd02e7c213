"""What went wrong with a connection, in words without secrets."""

import os
import re
from typing import Final

import aiohttp

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
