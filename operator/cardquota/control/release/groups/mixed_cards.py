"""Gangs beside Volcano of which one task would start on several cards: it may never bind them (V7).

For each task Volcano's scheduler remembers, during a session, on which nodes a pod failed, and lets
the task's other pods fail there as well, though they may go to other nodes. A setting of its action
`allocate` ends that. Whether it is made is read from Volcano's configuration when it matters; else
the gang waits until one card has room for all pods of each task.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import Final

import msgspec
import yaml

from ....cluster.api.api_error import ApiError, OutcomeUnknown
from ....quota.decisions.groups.mixture import Mixture
from ....quota.messages.volcano import volcano_messages

_LOG: Final = logging.getLogger(__name__)
FRESH: Final = 30.0
"""Seconds for which what was read is believed."""
READING: Final = 1.0
"""Seconds that a read may take. A queue whose next gang it concerns waits for it."""
_LONGEST: Final = 16 * 1024
"""Characters of a configuration that is read. Honest ones have two thousand."""
_DEEPEST: Final = 100
"""Brackets in all, and characters of an indentation."""
_MOST_KEYS: Final = 4
"""Of the ConfigMap. Volcano's has one."""
_MERGES: Final = re.compile(r"<<|![!<\w]")
"""A key that merges others into its mapping, by its name or by a tag: a few, in each other, make
millions. Honest configurations have no tags either."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's takes a tenth of the time of the other one."""
_ACTION, _SETTING = "allocate", "predicateErrorCacheEnable"


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] | None = None


_READ: Final = msgspec.json.Decoder(_ConfigMap)


class MixedCards:
    """Says whether a gang may start, of which one task would start on several cards. One term.

    Guarantees: Volcano's configuration is read at most once in FRESH seconds, within READING
    seconds, and only while such a gang has room. While it is not known no such gang starts.
    """

    def __init__(
        self,
        read: Callable[[str], Awaitable[bytes]],
        configuration: str,
        clock: Callable[[], float],
    ) -> None:
        """`read` gets an object by its path. `configuration`: namespace and name of the ConfigMap
        of Volcano's scheduler. `clock`: seconds, monotonic.
        """
        self._read = read
        self._configuration = configuration
        self._clock = clock
        self._allowed: bool | None = None
        self._read_at: float | None = None
        self._reading = False

    @property
    def is_due(self) -> bool:
        """Whether what was read is too old to be believed."""
        return self._read_at is None or self._clock() - self._read_at >= FRESH

    @property
    def are_as_good(self) -> bool:
        """Whether mixtures are bound like others, or that is to be found out: else one card without
        a free node goes before several that have them.
        """
        return self.is_due or self._allowed is True

    def obstacle(self, found: Mixture | None) -> str | None:
        """Why a gang with this mixture may not start, for people; None: it may. Empty: look first,
        then ask again.
        """
        if found is None:
            return None
        if self.is_due:
            return ""
        if self._allowed:
            return None
        return volcano_messages.mixed_cards(
            found.task,
            found.cards,
            self._configuration,
            says=(
                volcano_messages.NOT_READ
                if self._allowed is None
                else volcano_messages.DOES_NOT_SAY
            ),
            choice=found.choice,
        )

    async def look(self) -> None:
        """Read the configuration, if that is due and nobody else does."""
        if self._reading or not self.is_due:
            return
        self._reading = True
        try:
            self._allowed = await self._find_out()
        finally:
            self._reading = False
            self._read_at = self._clock()

    async def _find_out(self) -> bool | None:
        """Whether mixtures are allowed; None: it cannot be read."""
        namespace, _, name = self._configuration.partition("/")
        path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
        try:
            async with asyncio.timeout(READING):
                found = _READ.decode(await self._read(path)).data or {}
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError, TimeoutError) as error:
            _LOG.warning("Volcano's configuration <%s>: %r", self._configuration, error)
            return None
        return any(map(mixtures_allowed, islice(found.values(), _MOST_KEYS)))


def mixtures_allowed(text: str) -> bool:
    """Whether this configuration of Volcano's scheduler ends what keeps mixtures from being bound.
    What cannot be read, is longer than 16 KiB, nested deeply or merges mappings, does not.
    """
    if len(text) > _LONGEST or _is_deep(text) or _MERGES.search(text):
        return False
    try:
        stored = yaml.load(text, _LOADER)  # noqa: S506 - it is a safe one
    except Exception as error:  # noqa: BLE001
        # A bad value behind a tag (`!!bool x`) is whatever Python says of it.
        _LOG.debug("a configuration of Volcano's scheduler: %r", error)
        return False
    configurations = stored.get("configurations") if isinstance(stored, dict) else None
    for one in configurations if isinstance(configurations, list) else ():
        if isinstance(one, dict) and one.get("name") == _ACTION:
            arguments = one.get("arguments")
            said = arguments.get(_SETTING) if isinstance(arguments, dict) else None
            return said is False or (isinstance(said, str) and said.lower() == "false")
    return False


def _is_deep(text: str) -> bool:
    """Whether it may be nested so deeply that it takes long to read."""
    if text.count("[") + text.count("{") > _DEEPEST:
        return True
    return any(len(line) - len(line.lstrip(" -?:")) > _DEEPEST for line in text.splitlines())
