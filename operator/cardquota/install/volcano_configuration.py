"""What matters to us of the configuration of Volcano's scheduler, from its ConfigMap. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import yaml

from ..quota.vocabulary import ReclaimMode
from ..quota.words import show
from ..settings import Settings

_LONGEST: Final = 64 * 1024
"""Characters of a configuration. Honest ones have two thousand."""
_ENDING: Final = ("preempt", "reclaim")
"""Actions that end pods for others."""


class _OfAction(msgspec.Struct):
    name: str = ""
    arguments: dict[str, Any] | None = None


class VolcanoConfiguration(msgspec.Struct):
    """One configuration. What is not in it is as Volcano has it."""

    actions: str = ""
    configurations: list[_OfAction] | None = None

    @property
    def ends_pods_by(self) -> list[str]:
        """Its actions that end pods for others, sorted."""
        return sorted({one.strip() for one in self.actions.split(",")}.intersection(_ENDING))

    @property
    def tries_every_pod(self) -> bool:
        """Whether `allocate` also tries a pod that is like one which fits nowhere (V7)."""
        for one in self.configurations or ():
            if one.name == "allocate":
                return (
                    str((one.arguments or {}).get("predicateErrorCacheEnable")).lower() == "false"
                )
        return False


def configuration_path(settings: Settings) -> str:
    """Of the ConfigMap at the API server."""
    namespace, _, name = settings.volcano.configuration.partition("/")
    return f"/api/v1/namespaces/{namespace}/configmaps/{name}"


def configuration_in_words(settings: Settings) -> str:
    """The ConfigMap, in a sentence."""
    return f"ConfigMap <{show(settings.volcano.configuration, most=320)}>"


def configurations(config_map: object) -> Iterator[VolcanoConfiguration]:
    """All that can be read in it: which of them Volcano reads is said elsewhere. `config_map`: the
    object as it was read, of any form.
    """
    data = config_map.get("data") if isinstance(config_map, Mapping) else None
    for text in data.values() if isinstance(data, Mapping) else ():
        if not isinstance(text, str) or len(text) > _LONGEST:
            continue
        try:
            yield msgspec.convert(yaml.safe_load(text), VolcanoConfiguration)
        except (yaml.YAMLError, msgspec.ValidationError, ValueError, RecursionError):
            continue


def asks_about_volcano(settings: Settings) -> bool:
    """Whether it matters to us if Volcano's scheduler ends pods for others (L6)."""
    off = settings.reclaim.mode is ReclaimMode.OFF or settings.reclaim.beside_volcano
    return settings.scheduler == "volcano" and not off


def two_that_end_pods(config_map: object, settings: Settings) -> tuple[str, str] | None:
    """Why the operator does not end pods for others here, and what to do; None: it may (L6)."""
    found = sorted({name for one in configurations(config_map) for name in one.ends_pods_by})
    if not found or not asks_about_volcano(settings):
        return None
    named = " and ".join(f"<{name}>" for name in found)
    why = (
        f"Volcano's scheduler ends pods for others too, by {named} among the actions in "
        f"{configuration_in_words(settings)}: two that go by different rules would end each other's"
    )
    return why, (
        "take it out of the actions, or write `reclaim: off` for cardquota, or, to have both, "
        "`reclaim.besideVolcano: true`"
    )
