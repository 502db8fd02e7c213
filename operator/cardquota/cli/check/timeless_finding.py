"""A finding that is so now: since when is not known."""

from collections.abc import Mapping
from typing import Final

from .finding import Finding, FindingKind

_NO_CARDS: Final[Mapping[str, int]] = {}


def timeless(
    finding: FindingKind,
    about: tuple[str, str, str],
    reason: str,
    why: str,
    advice: str,
    *,
    what: str,
    queue: str | None = None,
    cards: Mapping[str, int] = _NO_CARDS,
) -> Finding:
    """`about`: kind, namespace and name of the object. `cards`: what it holds."""
    kind, namespace, name = about
    return Finding(
        finding=finding,
        kind=kind,
        namespace=namespace,
        name=name,
        queue=queue,
        cards=cards,
        since=None,
        age=None,
        reason=reason,
        what=what,
        why=why,
        advice=advice,
    )
