"""The first things at start: whether the product can run on this API server, and beside what
schedules there.
"""

import asyncio
import logging
from typing import Final

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..install.kubernetes_versions import in_words, read_version, unsupported
from ..install.volcano_configuration import (
    asks_about_volcano,
    configuration_in_words,
    configuration_path,
    two_that_end_pods,
)
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
    version = read_version(await _answer(client, "/version", "the version of Kubernetes", stop))
    if version is None:
        _LOG.warning("it is not known whether this Kubernetes is supported")
        return True
    for one in unsupported(version, settings):
        _LOG.error("%s: %s", one.why, one.advice)
        return False
    _LOG.info("%s", in_words(version))
    return True


async def reclaims_alone(client: Client, settings: Settings, stop: asyncio.Event) -> bool:
    """Wait until the API server says whether Volcano's scheduler ends pods for others too, or until
    `stop`; nothing is asked where that is all one (L6). If it does, one line of the log says so.
    Where it cannot be read, nothing is refused: Volcano's scheduler may be configured elsewhere.
    """
    if not asks_about_volcano(settings):
        return True
    what = configuration_in_words(settings)
    found = await _answer(client, configuration_path(settings), what, stop)
    if found is None:
        _LOG.warning("it is not known whether Volcano's scheduler ends pods for others too")
        return True
    two = two_that_end_pods(found, settings)
    if two is not None:
        _LOG.error("%s; %s", *two)
    return two is None


async def _answer(client: Client, path: str, what: str, stop: asyncio.Event) -> object:
    """What is there, decoded; None: it may not be read. `what`: in words."""
    waits = False
    while not stop.is_set():
        try:
            return msgspec.json.decode(await client.get(path, timeout=_TIMEOUT))
        except OutcomeUnknown as error:
            if not waits:
                _LOG.warning("waiting for the API server: %s", error)
            waits = True
            await asyncio.sleep(PAUSE)
        except (ApiError, msgspec.MsgspecError) as error:
            _LOG.warning("%s cannot be read: %s", what, error)
            break
    return None
