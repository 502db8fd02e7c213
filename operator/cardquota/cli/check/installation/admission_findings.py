"""Which webhook configurations, policies and bindings are not as the settings ask for. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....install.comparison import differences
from ....quota import vocabulary as v
from ....quota.messages import report_messages
from ....quota.stuck.stuck_finding import StuckFinding
from ....settings import Settings
from ... import sentences
from .certificate_findings import bundle_findings
from .installation_fault import fault
from .object_answer import Answer, NotRead


def admission_findings(
    admission: Iterable[tuple[Mapping[str, Any], Answer]], settings: Settings, now: float
) -> Iterator[StuckFinding]:
    """`admission`: each rendered object, and what is there instead. What may not be read is none.
    `now`: seconds since 1970.
    """
    for wanted, found in admission:
        if isinstance(found, NotRead):
            continue
        kind, name = str(wanted["kind"]), str(wanted["metadata"]["name"])
        differs = differences(wanted, found)
        if differs:
            why = report_messages.installation_fault(kind, name, differs)
            about = (kind, "", name)
            yield fault(about, v.INSTALLATION_DIFFERS, why, sentences.APPLY_MANIFESTS)
        if found is not None and "webhooks" in wanted:
            yield from bundle_findings({**found, "kind": kind}, settings, now)
