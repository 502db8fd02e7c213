"""A finding that is so now: since when is not known, and no pod's node is meant."""

from collections.abc import Mapping
from typing import Final

from ...quota.stuck.stuck_finding import StuckFinding, StuckKind

_NO_CARDS: Final[Mapping[str, int]] = {}


def timeless(
    finding: StuckKind,
    about: tuple[str, str, str],
    reason: str,
    why: str,
    advice: str,
    *,
    what: str,
    queue: str | None = None,
    cards: Mapping[str, int] = _NO_CARDS,
) -> StuckFinding:
    """`about`: kind, namespace and name of the object. `cards`: what it holds."""
    kind, namespace, name = about
    return StuckFinding(
        finding=finding,
        kind=kind,
        namespace=namespace,
        name=name,
        queue=queue,
        cards=cards,
        since=None,
        age=None,
        node="",
        reason=reason,
        what=what,
        why=why,
        advice=advice,
    )
