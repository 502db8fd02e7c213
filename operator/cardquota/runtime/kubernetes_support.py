"""The first thing at start: whether the product can run on this API server."""

import asyncio
import logging
from typing import Final

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..install.kubernetes_versions import in_words, read_version, unsupported
from ..settings import Settings

_LOG = logging.getLogger(__name__)
_TIMEOUT: Final = 2.0
PAUSE: Final = 1.0
"""Seconds between two tries."""


async def supported(client: Client, settings: Settings, stop: asyncio.Event) -> bool:
    """Wait until the API server says its version, or until `stop`. If the product does not run on
    it with these settings, one line of the log says why. Where the version cannot be read, nothing
    is refused.
    """
    version = read_version(await _answer(client, stop))
    if version is None:
        _LOG.warning("it is not known whether this Kubernetes is supported")
        return True
    for one in unsupported(version, settings):
        _LOG.error("%s: %s", one.why, one.advice)
        return False
    _LOG.info("%s", in_words(version))
    return True


async def _answer(client: Client, stop: asyncio.Event) -> object:
    """To `/version`, decoded; None: it may not be read."""
    waits = False
    while not stop.is_set():
        try:
            return msgspec.json.decode(await client.get("/version", timeout=_TIMEOUT))
        except OutcomeUnknown as error:
            if not waits:
                _LOG.warning("waiting for the API server: %s", error)
            waits = True
            await asyncio.sleep(PAUSE)
        except (ApiError, msgspec.MsgspecError) as error:
            _LOG.warning("the version of Kubernetes cannot be read: %s", error)
            break
    return None
