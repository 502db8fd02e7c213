"""The table of the tools, read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self

import yaml

from integration.definitions import Kind

_TABLE: Final = Path(__file__).with_name("table.yaml")
_KEYS_OF_STEPS: Final = frozenset(
    ("owner", "labels", "in", "task", "cards", "pods", "first", "members", "request", "once")
) | {"apiVersion", "spec"}

Again = Literal["always", "exceeded quota", "exceeded quota or 500", "never", "its own controller"]
"""After which refusals a tool creates the pod again: of any kind; those with these words; also if
nobody judged; none; or a controller does it that is really there."""


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One object that a controller makes."""

    kind: str
    """`pod`, `group` (a PodGroup), or the kind as it is written."""
    name: str
    owner: str = ""
    """Of what was made before; its controller. Of two of one name the later one, but a pod for
    StatefulSets and groups of pods that they made."""
    api_version: str = "apps/v1"
    labels: dict[str, str] = field(default_factory=dict)
    """Of the object; of its pods, if it has some."""
    group: str = ""
    """Key `in`: the PodGroup of the pod, or of its pods."""
    task: str = ""
    cards: int = 0
    """Of each pod."""
    pods: int = 0
    first: int = 0
    """Number of a StatefulSet's first pod."""
    members: int = 0
    """`minMember` of a PodGroup."""
    request: int = 0
    """Cards that a PodGroup says its members will ask for."""
    once: str = ""
    """Before what its controller does not make it: `NAME runs`, `NAME exists`, `group NAME is
    enqueued`. Names are of pods; a Job's are told by its own."""
    spec: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, row: dict[str, Any]) -> Self:
        (kind,) = row.keys() - _KEYS_OF_STEPS
        values = {key: value for key, value in row.items() if key != kind}
        if "in" in values:
            values["group"] = values.pop("in")
        if "apiVersion" in values:
            values["api_version"] = values.pop("apiVersion")
        elif kind == "Job":
            values["api_version"] = "batch/v1"
        return cls(kind=kind, name=row[kind], **values)


@dataclass(frozen=True, slots=True)
class ToolCase:
    """A row of the table: what a tool makes, and what comes of it."""

    case: str
    needs: int
    """Cards of all its pods together: the quota of its queue."""
    steps: tuple[ToolStep, ...]
    full: Literal["waits", "waits without pods", "refused"]
    """What happens to the first pod for which there is no room."""
    source: str = ""
    policy: str = ""
    """Of the queue."""
    gang: str = ""
    """The PodGroup whose pods start together or not at all."""
    says: str = ""
    """What stands in the refusal besides."""
    again: Again = "always"

    @property
    def foreign_kinds(self) -> list[Kind]:
        """Those that Kubernetes and the product do not have."""
        return [(s.api_version, s.kind) for s in self.steps if "." in s.api_version]

    @property
    def controllers(self) -> set[str]:
        """Kinds that control its pods, as its steps say them."""
        kind_of = {step.name: step.kind for step in self.steps if step.kind != "group"}
        owners = {kind_of.get(step.owner, "") for step in self.steps if step.kind == "pod"}
        return {step.kind for step in self.steps if step.pods} | {
            "Pod" if kind == "pod" else kind for kind in owners
        }

    @property
    def pods(self) -> int:
        """How many there are in the end."""
        return sum(1 if step.kind == "pod" else step.pods for step in self.steps)


def read_table() -> list[ToolCase]:
    """All rows."""
    return [
        ToolCase(
            steps=tuple(map(ToolStep.read, row.pop("makes"))), source=row.pop("from", ""), **row
        )
        for row in yaml.safe_load(_TABLE.read_text())
    ]


def foreign_kinds(table: Iterable[ToolCase]) -> list[Kind]:
    """Of all rows, each once."""
    return list(dict.fromkeys(kind for case in table for kind in case.foreign_kinds))
