"""The access of our client for a library that sends its own requests."""

import aiohttp
from yarl import URL

from .access import Access, AccessError


def open_session(access: Access) -> aiohttp.ClientSession:
    """A session whose requests to the API server carry our credentials. The caller closes it.

    Guarantees: credentials are read before each request, so new ones are used at once. They are
    sent to no other server, wherever a redirect leads. Errors while reading them are raised as
    `aiohttp.ClientConnectionError`, which libraries treat as temporary.
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
        # No bound: the caller bounds what it has in flight.
        connector=aiohttp.TCPConnector(limit=0, ssl=access.tls or True),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(as_us,),
        proxy=access.proxy,
    )
