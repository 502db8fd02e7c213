"""What the simulation says beyond the sentences of the operator: why a pod is let by or waits."""

from typing import Final

from ..quota import messages
from ..quota.objects.pod import PodAnnotations

NO_ROOM: Final = "no node has room: stays Pending"
AUDITED_FITS: Final = "audit: would be admitted"
AUDITED_WAITS: Final = "audit: would wait at the gate"


def exempt(namespace: str) -> str:
    """Admission never sees the pods of this namespace."""
    return f"namespace {namespace} is exempt"


def switched_off(namespace: str) -> str:
    """The namespace's label says so."""
    return f"card quotas are off in namespace {namespace}"


def without_queue(*, cards: bool) -> str:
    """It belongs to no queue."""
    return (
        "no queue: counted outside every quota"
        if cards
        else "no queue and no card: no quota applies"
    )


def other_gates(names: tuple[str, ...]) -> str:
    """Gates of others hold the pod up."""
    return f"waits at {' and '.join(names)}: stays Pending"


def alias_warning(notes: PodAnnotations | None) -> tuple[str, ...]:
    """A word on the old name of an annotation, where a pod has it."""
    return (messages.alias_used(),) if notes is not None and notes.card_alias is not None else ()
