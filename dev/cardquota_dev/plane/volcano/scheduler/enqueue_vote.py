"""Whether a pod group is enqueued: the votes of the plugins, tier by tier."""

import logging
import os
import ssl
from pathlib import Path
from typing import Final

import aiohttp

from ..api_objects import Json
from .configuration import ExtenderArguments, SchedulerConfiguration, TierPlugin
from .members import job_info
from .session import GroupProgressInSession, VolcanoSession

_log = logging.getLogger(__name__)

PERMIT: Final = 1
ABSTAIN: Final = 0
REJECT: Final = -1

_OK: Final = 200


async def is_permitted(
    configuration: SchedulerConfiguration,
    session: VolcanoSession,
    group: GroupProgressInSession,
) -> bool:
    """A plugin that rejects ends it at once. A tier in which one permits ends it too: later tiers
    are never asked. If nobody votes, it is permitted. A group without `minResources` is permitted
    without a vote.
    """
    if not group.group["spec"].get("minResources"):
        return True
    for tier in configuration.tiers:
        permitted = False
        for plugin in tier:
            vote = await _vote(plugin, session, group)
            if vote < ABSTAIN:
                return False
            permitted = permitted or vote > ABSTAIN
        if permitted:
            return True
    return True


async def _vote(plugin: TierPlugin, session: VolcanoSession, group: GroupProgressInSession) -> int:
    if plugin.extender is not None:
        job = job_info(group.group, group.members)
        return await ask_extender(plugin.extender, job) if plugin.extender.verb else ABSTAIN
    match plugin.name:
        case "capacity":
            return PERMIT if session.has_capability(group) else REJECT
        case "overcommit":
            return PERMIT
    return ABSTAIN


async def ask_extender(arguments: ExtenderArguments, job: Json) -> int:
    """What the extender answers about a job. A failure is a vote too, as `ignorable` says."""
    url = f"{arguments.url_prefix}/{arguments.verb}"
    try:
        async with (
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=arguments.timeout),
                connector=aiohttp.TCPConnector(ssl=_trust()),
                trust_env=False,
            ) as session,
            session.post(url, json={"job": job}) as answer,
        ):
            if answer.status == _OK:
                return int((await answer.json(content_type=None)).get("status", ABSTAIN))
            _log.warning("%s about %s: status %d", url, job.get("UID"), answer.status)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, AttributeError) as error:
        _log.warning("%s about %s: %r", url, job.get("UID"), error)
    return PERMIT if arguments.ignorable else REJECT


def _trust() -> ssl.SSLContext:
    """The CAs of `SSL_CERT_FILE` if it names a file that is there, else the system's."""
    named = os.environ.get("SSL_CERT_FILE", "")
    return ssl.create_default_context(cafile=named if named and Path(named).exists() else None)
