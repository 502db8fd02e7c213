"""The scheduler's configuration: a YAML file in the form of Volcano's, of which a part is read.

Read of it: the plugins `capacity`, `overcommit` and `extender` by tier, and the one setting of
`allocate`. Other plugins and actions may stand there and do nothing here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0}
_DEFAULT_TIMEOUT: Final = 1.0


class SchedulerConfigurationError(ValueError):
    """The file is no configuration. The text says why."""


@dataclass(frozen=True)
class ExtenderArguments:
    """The arguments of one `extender` plugin."""

    url_prefix: str
    verb: str
    """The last part of the URL that is asked before a group is enqueued. Empty: none is asked."""
    timeout: float = _DEFAULT_TIMEOUT
    """Seconds."""
    ignorable: bool = False
    """Whether a failure permits. Otherwise it rejects."""


@dataclass(frozen=True)
class TierPlugin:
    """A plugin that has a say in whether a group is enqueued."""

    name: str
    extender: ExtenderArguments | None = None


@dataclass(frozen=True)
class SchedulerConfiguration:
    """What is read of the file."""

    tiers: tuple[tuple[TierPlugin, ...], ...] = ((TierPlugin("capacity"),),)
    cache_predicate_errors: bool = True
    """Whether a pod inherits, in one session, the failures of an earlier one of its task."""


def read_configuration(text: str) -> SchedulerConfiguration:
    """The configuration in a file's text. Raises SchedulerConfigurationError."""
    try:
        stored = yaml.safe_load(text) or {}
        tiers = tuple(
            tuple(_plugin(one) for one in tier.get("plugins") or ())
            for tier in stored.get("tiers") or ()
        )
        allocate = next(
            (
                one.get("arguments") or {}
                for one in stored.get("configurations") or ()
                if one.get("name") == "allocate"
            ),
            {},
        )
    except (yaml.YAMLError, AttributeError, TypeError, KeyError) as error:
        raise SchedulerConfigurationError(f"no scheduler configuration: {error}") from error
    cached = _boolean(allocate.get("predicateErrorCacheEnable", True))
    return SchedulerConfiguration(tiers, cache_predicate_errors=cached)


class ConfigurationFile:
    """A file that is read again whenever it has changed. None: the defaults."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._text: str | None = None
        self._found = SchedulerConfiguration()

    def now(self) -> SchedulerConfiguration:
        """What it says now. One that is not there yet has the defaults."""
        if self._path is None or not self._path.exists():
            return self._found
        if (text := self._path.read_text()) != self._text:
            self._found, self._text = read_configuration(text), text
        return self._found


def _plugin(stored: Mapping[str, Any]) -> TierPlugin:
    name = str(stored["name"])
    if name != "extender":
        return TierPlugin(name)
    arguments = stored.get("arguments") or {}
    return TierPlugin(
        name,
        ExtenderArguments(
            url_prefix=str(arguments.get("extender.urlPrefix", "")).rstrip("/"),
            verb=str(arguments.get("extender.jobEnqueueableVerb", "")),
            timeout=_duration(arguments.get("extender.httpTimeout")),
            ignorable=_boolean(arguments.get("extender.ignorable", False)),
        ),
    )


def _duration(text: object) -> float:
    """Seconds of a duration with one unit; the default for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", str(text))
    return float(found[1]) * _SECONDS[found[2]] if found else _DEFAULT_TIMEOUT


def _boolean(value: object) -> bool:
    return str(value).lower() in ("true", "1")
