"""`cardquota check --audit`: what audit mode would have refused or made wait in the last day."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text

from ...quota.reports.audit_counts import HOURS, Audited, Counts, of_the_day
from ...quota.verdict import Effect
from ...quota.vocabulary import AUDIT_RECORD
from ...quota.words import show
from ...settings import Settings
from ..installed_settings import read_installed_settings
from ..output import ClusterChoice, ExitCode, Output
from ..printing import print_data, print_lines, table
from ..reading import ClusterError, NotRead, client_of, done, inner, read_object

_HEAD = ("NAMESPACE", "QUEUE", "REFUSED", "WAITING")
_NOTHING = (
    f"In the last {HOURS} hours audit mode has let no pod by that would have been refused, or "
    "would have waited."
)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """The pods of one namespace in one queue."""

    namespace: str
    queue: str
    """Empty: the pods had none."""
    refused: int
    """Pods that would have been refused."""
    waiting: int
    """Pods that would have had to wait at their gate."""


def audit_report(
    settings: Settings, *, given: bool, namespace: str, cluster: ClusterChoice, output: Output
) -> int:
    """Print it. The exit code: 0 if there is nothing, 3 if something would have been refused or
    would have waited. Errors: typer.Exit, if it cannot be read.
    """
    rows = done(_rows(cluster, namespace, settings, given=given))
    if output.is_data:
        print_data({"hours": HOURS, "rows": [asdict(row) for row in rows]}, output)
    else:
        print_lines(_lines(rows))
    return ExitCode.FOUND if rows else ExitCode.DONE


async def _rows(
    cluster: ClusterChoice, namespace: str, settings: Settings, *, given: bool
) -> list[AuditRow]:
    async with client_of(cluster) as client:
        if not given:
            settings, _ = await read_installed_settings(client, settings)
        path = f"/api/v1/namespaces/{settings.namespace}/configmaps/{AUDIT_RECORD}"
        what = f"ConfigMap <{AUDIT_RECORD}> in {settings.namespace}"
        stored = await read_object(client, path, what)
    if isinstance(stored, NotRead):
        raise ClusterError(stored.why)
    return rows_of(stored, namespace, time.time())


def rows_of(stored: Any, namespace: str, now: float) -> list[AuditRow]:
    """The rows of a record, most refused first; of one namespace, if it is not empty."""
    data = inner(stored, "data")
    texts = {str(key): str(text) for key, text in data.items()} if isinstance(data, dict) else {}
    counts = of_the_day(texts, now)
    pairs = {(row.namespace, row.queue) for row in counts if namespace in ("", row.namespace)}
    rows = [AuditRow(*pair, *_amounts(counts, *pair)) for pair in pairs]
    return sorted(rows, key=lambda row: (-row.refused, -row.waiting, row.namespace, row.queue))


def _amounts(counts: Counts, namespace: str, queue: str) -> tuple[int, int]:
    refused, waiting = (
        counts[Audited(queue, namespace, effect)] for effect in (Effect.DENY, Effect.GATE)
    )
    return refused, waiting


def _lines(rows: list[AuditRow]) -> Iterator[Text]:
    if not rows:
        yield Text(_NOTHING)
        return
    yield Text(f"Pods that audit mode let by in the last {HOURS} hours, and enforcement would not:")
    yield Text()
    cells = [
        (show(one.namespace), show(one.queue) or "-", str(one.refused), str(one.waiting))
        for one in rows
    ]
    yield from table([_HEAD, *cells])
