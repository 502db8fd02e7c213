"""Whether somebody leads, by the Lease. Pure."""

from collections.abc import Iterator, Sequence

from ....quota.vocabulary import LEASE
from ... import sentences
from ...leader.lease import why_nobody_leads
from ...object_answer import Answer
from ..finding import Finding
from .installation_fault import fault

NO_LEADER = "NoLeader"


def lease_findings(leases: Sequence[Answer], namespace: str, now: float) -> Iterator[Finding]:
    """At most one. What may not be read is none."""
    why, _ = why_nobody_leads(leases, namespace, now)
    if why:
        yield fault(("Lease", namespace, LEASE), NO_LEADER, why, sentences.SEE_THE_OPERATOR)
