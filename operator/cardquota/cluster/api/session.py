"""The access of our own client for a library that sends its own requests."""

import aiohttp
from yarl import URL

from .access import Access, AccessError


def open_session(access: Access) -> aiohttp.ClientSession:
    """A session whose requests to the API server carry our credentials; whoever asks closes it.

    Guarantees: credentials are asked for before each request, so one that was replaced is used at
    once; none is sent to anybody else, wherever a redirect leads. Errors while they are asked for
    are `aiohttp.ClientConnectionError`, which libraries take for one that passes.
    """
    origin = URL(access.server).origin()

    async def as_us(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.url.origin() == origin:
            try:
                authorization = await access.authorization()
            except AccessError as error:
                raise aiohttp.ClientConnectionError(str(error)) from error
            if authorization is not None:
                request.headers["Authorization"] = authorization
            request.server_hostname = access.server_hostname
        return await send(request)

    return aiohttp.ClientSession(
        # No bound: whoever asks for the session bounds what it has in flight.
        connector=aiohttp.TCPConnector(limit=0, ssl=access.tls or True),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(as_us,),
        proxy=access.proxy,
    )
