"""The priority of pods, as the API server writes it at create."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from ...quota.objects.cluster import PriorityClass
from ...quota.objects.pod import PodSpec

_BUILT_IN: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class Priorities:
    """The priority classes of the files, and those that every cluster has."""

    def __init__(self, classes: Iterable[PriorityClass]) -> None:
        self._default = 0
        self._values = dict(_BUILT_IN)
        self._missing: dict[str, None] = {}
        for found in classes:
            self._values[found.metadata.name] = found.value
            if found.global_default:
                self._default = found.value

    def applied(self, spec: PodSpec) -> PodSpec:
        """The specification with its priority."""
        name = spec.priority_class_name
        if not name:
            return replace(spec, priority=self._default)
        if name not in self._values:
            self._missing[name] = None
        return replace(spec, priority=self._values.get(name, self._default))

    @property
    def notes(self) -> list[str]:
        """The priority classes that pods name and that are not there."""
        return [
            f"PriorityClass {name} is not in the files: its pods are taken as if they named none"
            for name in self._missing
        ]
