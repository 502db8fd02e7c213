"""The section `outside`: the cards that are used outside every queue (V5).

It is a note: whether that is wanted is the administrator's to say (`defaultQueue`, `requireQueue`).
"""

from typing import Final

from ...quota.reports.outside_use import outside_use
from .. import sentences
from .checked_cluster import PODS, CheckedCluster
from .section import CheckSection

OUTSIDE_SECTION: Final = "outside"
"""The name of the section."""


def outside_section(read: CheckedCluster) -> CheckSection:
    """Nothing is said where nothing is used so, or pods are not known: of these `past` tells."""
    if PODS in read.unread:
        return CheckSection(OUTSIDE_SECTION)
    used = outside_use(read.ledger, read.namespace)
    notes = [sentences.used_outside(*used)] if used.pods else []
    return CheckSection(OUTSIDE_SECTION, notes=notes)
