"""Every alert, in one place. What each means and what to do: docs/runbook.md, a section each.

Guarantees: with no series at all none fires but `CardquotaAbsent`.
"""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from .expressions import NODE, OF_SCRAPE, highest, lowest, quantile, speed


class Severity(StrEnum):
    """Whom an alert wakes."""

    CRITICAL = "critical"
    """Somebody, at night: pods are refused or wait with room, or a quota may be passed."""
    WARNING = "warning"
    """Nobody; somebody looks today."""


class Alert(NamedTuple):
    """One alerting rule."""

    name: str
    expr: str
    lasting: str
    """For how long the expression must be true."""
    severity: Severity
    summary: str
    """One sentence with the object and the numbers, in Prometheus' template language."""


_QUEUE: Final = "{{ $labels.queue }}"
_VALUE: Final = "{{ $value }}"
_LONG: Final = "{{ $value | humanizeDuration }}"
_RATE: Final = '{{ $value | printf "%.2g" }} a second'
_HOPELESS: Final = 'reason=~"QueueNotFound|CardNotInQuota|InvalidCardAnnotation"'
_REFUSED: Final = 'result="refused"'
_STARTS: Final = ("container_starts_total", *OF_SCRAPE)

ALERTS: Final = (
    Alert(
        "CardquotaAbsent",
        f"absent({highest('leader')})",
        "5m",
        Severity.CRITICAL,
        "No replica of cardquota is scraped: none runs, or Prometheus does not find or reach them.",
    ),
    Alert(
        "CardquotaNoLeader",
        f"{highest('leader')} == 0",
        "2m",
        Severity.CRITICAL,
        "No replica of cardquota leads: no gate opens, and pods wait even if there is room.",
    ),
    Alert(
        "CardquotaTwoLeaders",
        f"count({highest('leader', 'instance')} == 1) > 1",
        "1m",
        Severity.CRITICAL,
        f"{_VALUE} replicas of cardquota claim to lead.",
    ),
    Alert(
        "CardquotaFenceNotInForce",
        f"{highest('fence_faults', 'fault')} > 0",
        "1m",
        Severity.CRITICAL,
        "The API server does not check the leader's term as it should: {{ $labels.fault }}.",
    ),
    Alert(
        "CardquotaGatesRefused",
        f"{speed('refused_gates_total', 'why', window='5m')} > 0",
        "10m",
        Severity.CRITICAL,
        f"The API server refuses to open gates ({{{{ $labels.why }}}}): {_RATE}.",
    ),
    Alert(
        "CardquotaOldView",
        f"{highest('reflector_lag_seconds', 'kind')} > 30",
        "1m",
        Severity.CRITICAL,
        f"A replica of cardquota has had no news of {{{{ $labels.kind }}}} for {_LONG}.",
    ),
    Alert(
        "CardquotaReviewsSlow",
        f"{quantile(0.99, 'admission_review_seconds', '5m')} > 0.5",
        "10m",
        Severity.CRITICAL,
        f"One of 100 admission reviews takes {_LONG} or more: so long do creates of pods wait.",
    ),
    Alert(
        "CardquotaInstallationDiffers",
        f"{highest('installation_faults', 'kind', 'name')} > 0",
        "5m",
        Severity.CRITICAL,
        "{{ $labels.kind }} {{ $labels.name }} is missing, or not what was rendered.",
    ),
    Alert(
        "CardquotaPodsPastAdmission",
        f"{highest('unadmitted_pods', 'queue')} > 0",
        "5m",
        Severity.WARNING,
        f"{_VALUE} pods use cards of queue {_QUEUE}, and the operator never opened their gates.",
    ),
    Alert(
        "CardquotaPodWaitsLong",
        f"{highest('queue_oldest_wait_seconds', 'queue')} > 86400",
        "5m",
        Severity.WARNING,
        f"A pod of queue {_QUEUE} has waited at its gate for {_LONG}: `kubectl cardquota queue "
        f"{_QUEUE}` says who waits, and why.",
    ),
    Alert(
        "CardquotaPodsWaitInVain",
        f"{highest('waiting_pods', 'queue', 'reason', where=_HOPELESS)} > 0",
        "15m",
        Severity.WARNING,
        f"{_VALUE} pods of queue {_QUEUE} wait, and no free card will help: "
        "{{ $labels.reason }}.",
    ),
    Alert(
        "CardquotaPodLateToEnd",
        f"{highest('queue_oldest_terminating_seconds', 'queue')} > 300",
        "5m",
        Severity.WARNING,
        f"A pod of queue {_QUEUE} that should be gone still holds cards, since {_LONG}: mostly its "
        "node died, or a finalizer keeps it.",
    ),
    Alert(
        "CardquotaCardsNotCounted",
        f"{highest('uncounted_nodes')} > 0",
        "15m",
        Severity.WARNING,
        f"The cards of {_VALUE} nodes are not counted.",
    ),
    Alert(
        "CardquotaUnknownNamespaceMode",
        f"{highest('namespaces_with_unknown_mode')} > 0",
        "15m",
        Severity.WARNING,
        f"{_VALUE} namespaces have a label volcano.sh/card-quota that means nothing: nothing is "
        "enforced there.",
    ),
    Alert(
        "CardquotaWritesRefused",
        f"{speed('refused_writes_total', 'what', window='5m')} > 0",
        "10m",
        Severity.WARNING,
        f"A scheduler or a controller that cardquota does not know is refused "
        f"({{{{ $labels.what }}}}): {_RATE}.",
    ),
    Alert(
        "CardquotaNumbersNotWritten",
        f"{highest('unwritten_queues')} > 0",
        "10m",
        Severity.WARNING,
        f"The numbers that {_VALUE} queues show are old: they could not be written.",
    ),
    Alert(
        "CardquotaObjectsLeftOut",
        f"{highest('left_out_objects', 'kind')} > 0",
        "15m",
        Severity.WARNING,
        f"{_VALUE} {{{{ $labels.kind }}}} are known by name only: the memory for them is full.",
    ),
    Alert(
        "CardquotaObjectsUnreadable",
        f"{highest('undecodable_objects', 'kind')} > 0",
        "5m",
        Severity.WARNING,
        f"{_VALUE} objects of the kind {{{{ $labels.kind }}}} cannot be read, and are left out.",
    ),
    Alert(
        "CardquotaLoopHeldUp",
        f"{highest('loop_seconds')} > 0.1",
        "10m",
        Severity.WARNING,
        f"The event loop of a replica is held up for {_LONG} at a time.",
    ),
    Alert(
        "CardquotaLedgerDrift",
        f"{highest('ledger_drift')} > 0",
        "15m",
        Severity.WARNING,
        f"{_VALUE} totals of a replica differ from a recount: a bug in cardquota.",
    ),
    Alert(
        "CardquotaNodeCardUnhealthy",
        f"{lowest('card_healthy', *OF_SCRAPE, 'product', 'uuid', of=NODE)} == 0",
        "5m",
        Severity.WARNING,
        "No pod can use the card {{ $labels.uuid }} ({{ $labels.product }}) of the node agent "
        "{{ $labels.pod }} {{ $labels.instance }}.",
    ),
    Alert(
        "CardquotaNodeStartsRefused",
        f"{speed(*_STARTS, where=_REFUSED, window='5m', of=NODE)} > 0",
        "10m",
        Severity.WARNING,
        f"The node agent {{{{ $labels.pod }}}} {{{{ $labels.instance }}}} refuses to start "
        f"containers: {_RATE}.",
    ),
)


def prometheus_rule(namespace: str) -> dict[str, Any]:
    """The object for the Prometheus operator. Its `spec` is a file of rules for any Prometheus."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": "cardquota",
            "namespace": namespace,
            "labels": {"app.kubernetes.io/name": "cardquota"},
        },
        "spec": {"groups": [{"name": "cardquota", "rules": [_rule(one) for one in ALERTS]}]},
    }


def _rule(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": alert.lasting,
        "labels": {"severity": str(alert.severity)},
        "annotations": {
            "summary": alert.summary,
            "runbook": f"docs/runbook.md#{alert.name.lower()}",
        },
    }
