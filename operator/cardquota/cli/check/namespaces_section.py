"""The section `namespaces`: labels `volcano.sh/card-quota` with a value that means nothing."""

from collections.abc import Iterator
from typing import Final

from ...quota.messages import report_messages
from ...quota.stuck.stuck_finding import StuckFinding, StuckKind
from ...quota.vocabulary import MODE_UNKNOWN
from .. import sentences
from .bounded_section import bounded_section
from .checked_cluster import CheckedCluster
from .known_kinds import not_known
from .section import CheckSection
from .timeless_finding import timeless

NAMESPACES: Final = "namespaces"
"""The name of the section, and of the kind."""


def namespaces_section(read: CheckedCluster) -> CheckSection:
    """In the words of the namespace's event."""
    lacking = not_known(read, {NAMESPACES})
    notes = [sentences.not_looked_at(sentences.NAMESPACES_NOT_KNOWN, lacking)] if lacking else []
    return bounded_section(NAMESPACES, _findings(read), notes, complete=not lacking)


def _findings(read: CheckedCluster) -> Iterator[StuckFinding]:
    for name, facts in sorted(read.ledger.unknown_modes.items()):
        if read.namespace not in ("", name):
            continue
        why = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
        about = ("Namespace", "", name)
        advice, what = sentences.CORRECT_LABEL, sentences.LABEL_WRONG
        yield timeless(StuckKind.NAMESPACE, about, MODE_UNKNOWN, why, advice, what=what)
