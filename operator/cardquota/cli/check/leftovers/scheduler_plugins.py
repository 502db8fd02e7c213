"""What the configuration of Volcano's scheduler says that matters here. Pure."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import yaml

_OLD: Final = ("capacity-card", "proportion")
"""Plugins that do not go together with quotas per card: the first counts the same annotations, the
second takes pods at the gate for demand."""
_CACHE: Final = "predicateErrorCacheEnable"
_LONGEST: Final = 64 * 1024
"""Characters of a configuration. Honest ones have two thousand."""
_MOST: Final = 1_000


def old_plugins(texts: Iterable[str]) -> tuple[str, ...]:
    """Those plugins of the past that these configurations name. What cannot be read, or is longer
    than 64 KiB, names none.
    """
    named = {name for text in texts if len(text) <= _LONGEST for name in _plugins(text)}
    return tuple(name for name in _OLD if name in named)


def caches_errors(texts: Iterable[str]) -> bool:
    """Whether by these configurations `allocate` does not try a pod that another pod of its task
    was like (V7): unless one says `predicateErrorCacheEnable: false`.
    """
    return not any(_has_no_cache(text) for text in texts if len(text) <= _LONGEST)


def _has_no_cache(text: str) -> bool:
    for one in _items(_read(text).get("configurations")):
        if isinstance(one, dict) and one.get("name") == "allocate":
            arguments = one.get("arguments")
            said = arguments.get(_CACHE) if isinstance(arguments, dict) else None
            return str(said).lower() == "false"
    return False


def _plugins(text: str) -> Iterator[str]:
    yield from islice(_names(_read(text).get("tiers")), _MOST)


def _read(text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _names(tiers: Any) -> Iterator[str]:
    for tier in _items(tiers):
        for plugin in _items(tier.get("plugins") if isinstance(tier, dict) else None):
            name = plugin.get("name") if isinstance(plugin, dict) else None
            if isinstance(name, str):
                yield name


def _items(found: Any) -> Iterator[Any]:
    return islice(found, _MOST) if isinstance(found, list) else iter(())
