"""What became of the objects of one case, in the terms that simulation and cluster share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ADMITTED, GATED, DENIED, UNMANAGED = "admitted", "gated", "denied", "unmanaged"
_HOLDERS = re.compile(r"; ((<[^>]*> )?held(:| by) [^;]*)")
ANSWERS = (ADMITTED, GATED, DENIED, UNMANAGED)

Rows = Mapping[str, Any]
"""`cards` and `resources` of a Queue's status."""


@dataclass(frozen=True, order=True)
class PodFound:
    """One pod. What does not belong to its answer is empty, whoever was asked."""

    answer: str
    reason: str = ""
    """Why it is refused or waits. Empty also where a controller was refused: it keeps the
    sentence alone."""
    text: str = ""
    cards: tuple[tuple[str, int], ...] = ()
    """What an admitted pod is charged for."""
    node: str = ""
    warnings: tuple[str, ...] = ()
    held: str = field(default="", compare=False)
    """Who holds what it waits for: part of the sentence, and true of the moment alone."""

    @property
    def without_node_name(self) -> "PodFound":
        """Which of several nodes it gets is the scheduler's choice."""
        return replace(self, node="some" if self.node else "")


def pod_found(
    answer: str,
    *,
    reason: str = "",
    text: str = "",
    cards: Mapping[str, int] | None = None,
    node: str = "",
    warnings: tuple[str, ...] = (),
) -> PodFound:
    """In the common form: what is said already is no warning besides, and who holds a card stands
    apart, since that changes from moment to moment.
    """
    waits = answer in (GATED, DENIED)
    held = "; ".join(found[1] for found in _HOLDERS.finditer(text))
    text = _HOLDERS.sub("", text)
    said = (text,) if waits else ()
    return PodFound(
        answer,
        reason if waits else "",
        text if waits else "",
        tuple(sorted((cards or {}).items())) if answer == ADMITTED else (),
        "" if waits else node,
        tuple(sorted(w for w in warnings if w not in said)),
        held if waits else "",
    )


@dataclass
class ObservedCase:
    """All of a case."""

    pods: dict[str, list[PodFound]] = field(default_factory=dict)
    """By the row's name: a bare pod's one, or those of a workload, sorted."""
    refused: dict[str, str] = field(default_factory=dict)
    """Queues and pod groups that cannot be written, and why."""
    warned: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Pod groups that can be written, and the Warnings about them."""
    not_counted: dict[str, str] = field(default_factory=dict)
    """Nodes, and what is wrong with them."""
    rows: dict[str, Rows] = field(default_factory=dict)
    """By queue."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is said to whoever asks: by kind, then by name, the status of the review."""
