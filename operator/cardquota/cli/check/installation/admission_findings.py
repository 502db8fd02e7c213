"""Which webhook configurations, policies and bindings are not as the settings ask for. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....install.comparison import differences
from ....quota import vocabulary as v
from ....quota.messages import report_messages
from ....settings import Settings
from ... import sentences
from ...object_answer import Answer, NotRead
from ..finding import Finding
from .certificate_findings import bundle_findings
from .installation_fault import fault


def admission_findings(
    admission: Iterable[tuple[Mapping[str, Any], Answer]],
    settings: Settings,
    now: float,
    *,
    known: bool = True,
) -> Iterator[Finding]:
    """`admission`: each rendered object, and what is there instead. What may not be read is none.
    `now`: seconds since 1970. `known`: whether `settings` are the operator's. If not, only what is
    missing is said: in audit mode the objects of the default settings would enforce.
    """
    for wanted, found in admission:
        if isinstance(found, NotRead):
            continue
        kind, name = str(wanted["kind"]), str(wanted["metadata"]["name"])
        differs = differences(wanted, found)
        if differs and (known or found is None):
            why = report_messages.installation_fault(kind, name, differs)
            about = (kind, "", name)
            yield fault(about, v.INSTALLATION_DIFFERS, why, sentences.APPLY_MANIFESTS)
        if found is not None and "webhooks" in wanted:
            yield from bundle_findings({**found, "kind": kind}, settings, now)
