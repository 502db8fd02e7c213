"""One thing that is wrong with the installation, as a finding of `check`."""

from ....quota.stuck.stuck_finding import StuckFinding, StuckKind
from ... import sentences
from ..timeless_finding import timeless


def fault(about: tuple[str, str, str], reason: str, why: str, advice: str) -> StuckFinding:
    """`about`: kind, namespace and name of the object."""
    what = sentences.NOT_INSTALLED
    return timeless(StuckKind.INSTALLATION, about, reason, why, advice, what=what)
