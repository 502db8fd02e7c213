"""One thing that is wrong with the installation, as a finding of `check`."""

from ... import sentences
from ..finding import Finding, FindingKind
from ..timeless_finding import timeless


def fault(about: tuple[str, str, str], reason: str, why: str, advice: str) -> Finding:
    """`about`: kind, namespace and name of the object."""
    what = sentences.NOT_INSTALLED
    return timeless(FindingKind.INSTALLATION, about, reason, why, advice, what=what)
