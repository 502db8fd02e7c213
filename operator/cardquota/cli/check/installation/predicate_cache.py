"""What the configuration of Volcano's scheduler says of the predicate cache (V7). Pure."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

import yaml

_CACHE: Final = "predicateErrorCacheEnable"
_LONGEST: Final = 64 * 1024
"""Characters of a configuration. Honest ones have two thousand."""
_MOST: Final = 1_000


def caches_errors(texts: Iterable[str]) -> bool:
    """Whether by these configurations `allocate` does not try a pod that another pod of its task
    was like: unless one says `predicateErrorCacheEnable: false`.
    """
    return not any(_has_no_cache(text) for text in texts if len(text) <= _LONGEST)


def _has_no_cache(text: str) -> bool:
    found = _read(text).get("configurations")
    for one in islice(found, _MOST) if isinstance(found, list) else ():
        if isinstance(one, dict) and one.get("name") == "allocate":
            arguments = one.get("arguments")
            said = arguments.get(_CACHE) if isinstance(arguments, dict) else None
            return str(said).lower() == "false"
    return False


def _read(text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
