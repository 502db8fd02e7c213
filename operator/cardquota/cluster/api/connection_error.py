"""What went wrong with a connection, in words that tell no secret."""

import re
from typing import Final

import aiohttp

_TLS: Final = re.compile(r" ssl:(<[^>]*>|\w+)")
"""What aiohttp tells of its TLS settings where it cannot connect: an address in our memory."""


def in_words(error: Exception) -> str:
    """What happened to a connection, for logs and messages: type and text, and never a header.

    Never print these errors by `repr`: aiohttp's hold the whole request, our token with it, and
    the key of the connection, a proxy's password with it.
    """
    name = type(error).__name__
    if isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError):
        # Their text quotes the answer, in which anything may stand; the cause's type says enough.
        cause = error.__cause__
        return f"{name}: unusable answer" + (f" ({type(cause).__name__})" if cause else "")
    if isinstance(error, aiohttp.ServerDisconnectedError) and not isinstance(error.message, str):
        return f"{name}: in the middle of an answer"  # its text is the headers of that answer
    text = str(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        text = _TLS.sub("", text, count=1)
    return f"{name}: {text}" if text else name
