"""The section `stuck`: what holds quota, or waits, without anybody noticing (R7)."""

from collections.abc import Iterator
from typing import Final

from ...quota.stuck.denied import DeniedWorkloads, describe_denied
from ...quota.stuck.gated import NOT_SAID, GateReasons, describe_gated, long_at_the_gate
from ...quota.stuck.stuck_finding import StuckFinding
from ...quota.stuck.terminating import describe_late, late_to_end
from .. import sentences
from .checked_cluster import JUDGED_BY, NODES, PODS, WORKLOADS, CheckedCluster
from .section import CheckSection

STUCK: Final = "stuck"
"""The name of the section."""


def stuck_section(
    read: CheckedCluster,
    now: float,
    *,
    terminating_after: float,
    gated_after: float,
    require_queue: bool,
) -> CheckSection:
    """`now`: seconds since 1970. `terminating_after`, `gated_after`: seconds."""
    kinds = (
        _terminating(read, now, terminating_after),
        _gated(read, now, gated_after),
        _denied(read, now, require_queue=require_queue),
    )
    return CheckSection(
        STUCK,
        [finding for found in kinds for finding in _oldest_first(read, found)],
        list(_notes(read)),
        complete=(read.unread.keys() | read.unreadable_kinds).isdisjoint((PODS, *WORKLOADS)),
    )


def _oldest_first(read: CheckedCluster, found: Iterator[StuckFinding]) -> list[StuckFinding]:
    """Those of the namespace that is asked for. Those of which nobody knows since when are last."""
    asked = (one for one in found if read.namespace in ("", one.namespace))
    return sorted(asked, key=lambda one: (-1 if one.age is None else -one.age - 2, _name(one)))


def _name(found: StuckFinding) -> tuple[str, str, str]:
    return found.namespace, found.kind, found.name


def _terminating(read: CheckedCluster, now: float, after: float) -> Iterator[StuckFinding]:
    knows = NODES not in read.unread and NODES not in read.unreadable_kinds
    for found in late_to_end(read.ledger, now, after):
        if found is not None:
            yield describe_late(read.ledger, found, knows_nodes=knows)


def _gated(read: CheckedCluster, now: float, after: float) -> Iterator[StuckFinding]:
    reasons = GateReasons(read.ledger)
    for found in long_at_the_gate(read.ledger, now, after):
        if found is not None and read.namespace in ("", found.record.facts.namespace):
            yield describe_gated(found, reasons.of(found.record) if read.judges else NOT_SAID)


def _denied(read: CheckedCluster, now: float, *, require_queue: bool) -> Iterator[StuckFinding]:
    """Where nothing can be judged, those count of which a controller says it."""
    looked = DeniedWorkloads(read.ledger, require_queue=require_queue, judges=read.judges)
    for found in looked.found():
        if found is None:
            continue
        since = found.since
        if since is None:
            since = read.refused_since.get(found.facts.uid)
        if not (read.judges or found.facts.certain or since is not None):
            continue
        age = None if since is None else max(0, int(now - since))
        yield describe_denied(found._replace(since=since), age, judged=read.judges)


def _notes(read: CheckedCluster) -> Iterator[str]:
    yield from read.unreadable
    for kind, answer in sorted(read.unread.items()):
        loss = sentences.CHECK_LOSSES.get(kind)
        if loss is not None:
            yield f"{sentences.not_listed(kind, answer)}: {loss}"
    partly = sorted(read.partly & JUDGED_BY)
    if partly:
        yield sentences.read_partly(partly)
