"""The section `fence`: whether the API server compares decisions with the current term.

What is stored can be read: definition, policies, bindings, Term and Lease. What an API server makes
of it is not stored: the leader tries that, and writes what it finds on the Term.
"""

from collections.abc import Iterator
from typing import Final

from ....quota import vocabulary as v
from ....settings import Settings
from ... import sentences
from ...object_answer import NotRead, inner
from ..bounded_section import bounded_section
from ..finding import Finding
from ..section import CheckSection
from .admission_findings import admission_findings
from .definition_findings import definition_findings
from .installation_fault import fault
from .installed import TERM_DEFINITION, Installed, is_of_fence

FENCE: Final = "fence"
"""The name of the section."""


def fence_section(
    installed: Installed, settings: Settings, now: float, *, known: bool = True
) -> CheckSection:
    """`now`: seconds since 1970. `known`: whether `settings` are the operator's. What may not be
    read of definitions and policies is said in the section `installation`.
    """
    notes = [one.why for one in (installed.term, installed.term_lease) if isinstance(one, NotRead)]
    findings = _findings(installed, settings, now, known=known)
    return bounded_section(FENCE, findings, notes[:1], complete=not notes)


def _findings(
    installed: Installed, settings: Settings, now: float, *, known: bool
) -> Iterator[Finding]:
    definition = installed.definitions.get(TERM_DEFINITION)
    yield from definition_findings({TERM_DEFINITION: definition}, standalone=True)
    admission = [one for one in installed.admission if is_of_fence(one[0]["metadata"]["name"])]
    yield from admission_findings(admission, settings, now, known=known)
    term, where = installed.term, f"{settings.namespace}/{v.LEASE}"
    about = (v.TERM_KIND, settings.namespace, v.LEASE)
    if isinstance(term, NotRead) or definition is None:
        return
    if term is None:
        yield fault(about, "TermMissing", sentences.term_missing(where), sentences.TERM_COMES)
        return
    named, said = inner(term, "spec", "term"), inner(term, "status", "fault")
    holder = inner(installed.term_lease, "spec", "holderIdentity")
    if holder and named != holder:
        why = sentences.term_differs(where, str(named), str(holder))
        yield fault(about, "TermDiffers", why, sentences.TERM_COMES)
    if said:
        yield fault(about, v.FENCE_FAULT, str(said), sentences.SEE_THE_OPERATOR)
