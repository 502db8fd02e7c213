"""The dashboard: cards of the cluster, queues, admission, the operator, the node agents.

Guarantees: no expression sums over replicas what all replicas count, nor over cards, whose units
may differ. Names of queues and cards come in as variables alone, which Grafana escapes.
"""

import json
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from .expressions import NODE, OF_SCRAPE, growth, highest, hours, lowest, quantile, speed
from .panels import SOURCE, Panel, lines, number, rows

UID: Final = "cardquota"
_CARD: Final = 'card=~"$card"'
_QUEUE: Final = 'queue=~"$queue"'
_BOTH: Final = f"{_QUEUE}, {_CARD}"
_ROW: Final = "{{queue}} {{card}}"


def _of_cluster(total: str) -> str:
    return highest(f"cluster_card_{total}", "card", where=_CARD)


def _by_policy(total: str) -> str:
    return highest(f"cluster_card_{total}_by_policy", "card", "policy", where=_CARD)


def _of_queue(total: str) -> str:
    return highest(f"queue_card_{total}", "queue", "card", where=_BOTH)


def _queue(name: str) -> str:
    return highest(name, "queue", where=_QUEUE)


def _ended(name: str, *labels: str) -> str:
    return f"60 * {speed(f'reclaim_{name}_total', *labels, where=_QUEUE)}"


_FREE: Final = f"{_of_cluster('allocatable')} - {_of_cluster('allocated')}"
_WAITING: Final = f"{_of_queue('requested')} - {_of_queue('allocated')} - {_of_queue('inqueue')}"
_LENT: Final = f"({_of_queue('surge')} or 0 * {_of_queue('quota')})"
_OVER: Final = f"clamp_min({_of_queue('allocated')} - {_of_queue('quota')} - {_LENT}, 0)"

_HEALTH: Final = (
    number(
        "Leaders",
        "Replicas that lead and open gates: 1 is right.",
        f"count({highest('leader', 'instance')} == 1) or 0 * {highest('leader')}",
        bad=2,
    ),
    number(
        "Fence",
        "Faults of the API server's check of the leader's term: 0 is right.",
        highest("fence_faults"),
    ),
    number(
        "Drift",
        "Totals of a replica that differ from a recount: 0 is right.",
        highest("ledger_drift"),
    ),
    number(
        "Installation",
        "1: a webhook or policy is not what was rendered.",
        highest("installation_faults"),
    ),
    number(
        "Nodes not counted",
        "Nodes with cards that are not counted: `kubectl cardquota cards` says why.",
        highest("uncounted_nodes"),
    ),
    number(
        "Oldest wait",
        "How long the pod that was created first has waited at its gate, in all queues.",
        highest("queue_oldest_wait_seconds"),
        unit="s",
        bad=86400,
    ),
)
_CLUSTER: Final = (
    rows(
        "Cards now",
        "Of each card: what the nodes have, what pods hold, what is free, all quotas added up, and "
        "by how much these exceed what the nodes have.",
        {
            "Total": _of_cluster("allocatable"),
            "Allocated": _of_cluster("allocated"),
            "Free": _FREE,
            "Quotas": _of_cluster("quota"),
            "Oversold": _of_cluster("oversold"),
        },
    ),
    lines(
        "Cards",
        "What the nodes have, what pods hold, and what is free. Free below 0: pods hold cards that "
        "their nodes do not offer any more.",
        {
            "{{card}} total": _of_cluster("allocatable"),
            "{{card}} allocated": _of_cluster("allocated"),
            "{{card}} free": _FREE,
        },
    ),
    lines(
        "On-line and off-line: allocated",
        "Held by pods of on-line queues (Deny), off-line queues (Gate), queues without a policy "
        "(ByController), and outside all queues (NoQueue).",
        {"{{card}} {{policy}}": _by_policy("allocated")},
    ),
    lines(
        "On-line and off-line: guaranteed, and oversold",
        "Quotas by policy, and the part of them for which there are no cards.",
        {
            "{{card}} {{policy}} guaranteed": _by_policy("guarantee"),
            "{{card}} {{policy}} oversold": _by_policy("oversold"),
        },
    ),
)
_QUEUES: Final = (
    rows(
        "Queues now",
        "Of each queue and card: the quota, what pods on nodes hold, the queue's share by weight, "
        "what is released and not on a node yet, and what waits.",
        {
            "Quota": _of_queue("quota"),
            "Allocated": _of_queue("allocated"),
            "Deserved": _of_queue("deserved"),
            "Released": _of_queue("inqueue"),
            "Waiting": _WAITING,
        },
    ),
    lines(
        "Part of the quota in use",
        "Above 100 %: the quota was lowered, a rolling update has borrowed, or pods got past "
        "admission.",
        {_ROW: f"{_of_queue('allocated')} / ({_of_queue('quota')} > 0)"},
        unit="percentunit",
    ),
    lines("Allocated", "Held by pods on nodes.", {_ROW: _of_queue("allocated")}),
    rows(
        "Card-hours in the time shown",
        "One sample a minute: a pod that runs between two samples is not counted.",
        {"Held": hours(_of_queue("allocated")), "Quota": hours(_of_queue("quota"))},
    ),
    lines(
        "Pods that wait, by reason",
        "At their gate. InsufficientCardQuota and BehindInQueue are normal.",
        {"{{queue}} {{reason}}": highest("waiting_pods", "queue", "reason", where=_QUEUE)},
    ),
    lines(
        "How long pods wait",
        "The oldest, and the median: close together, nothing moves.",
        {
            "{{queue}} oldest": _queue("queue_oldest_wait_seconds"),
            "{{queue}} median": _queue("queue_median_wait_seconds"),
        },
        unit="s",
    ),
    lines(
        "Over the quota",
        "Allocated above the quota and what rolling updates may borrow: the quota was lowered, or "
        "pods got past admission. Nothing new gets such a card until it fits.",
        {_ROW: _OVER},
    ),
    lines(
        "Pods past admission, and late to end",
        "Pods that use a queue's cards though the operator never opened their gates; and seconds "
        "for which a pod should have been gone and holds cards.",
        {
            "{{queue}} past admission": _queue("unadmitted_pods"),
            "{{queue}} late, s": _queue("queue_oldest_terminating_seconds"),
        },
    ),
    lines(
        "Borrowed",
        "Held beyond what the queue deserves. It goes back when others need it, where cards are "
        "reclaimed.",
        {_ROW: _of_queue("borrowed")},
    ),
    lines(
        "Ended for others",
        "Pods a minute, by their queue: ended, or in a dry run would be; and those that a "
        "PodDisruptionBudget kept.",
        {
            "{{queue}} {{way}}": _ended("evictions", "queue", "way"),
            "{{queue}} {{way}}, dry run": _ended("would_evict", "queue", "way"),
            "{{queue}} kept": _ended("refused", "queue"),
        },
    ),
)
_ADMISSION: Final = (
    lines(
        "Reviews by answer",
        "A second. deny: refused; gate: waits; cut: an autoscaler got a part.",
        {"{{decision}}": speed("admission_reviews_total", "decision")},
        unit="reqps",
        span=8,
    ),
    rows(
        "Reviews in the time shown",
        "By what was written, and the answer.",
        {"Reviews": growth("admission_reviews_total", "kind", "decision")},
        span=8,
    ),
    lines(
        "Time of a review",
        "A create of a pod waits for it.",
        {
            "half of them": quantile(0.5, "admission_review_seconds"),
            "99 of 100": quantile(0.99, "admission_review_seconds"),
        },
        unit="s",
        span=8,
    ),
    lines(
        "What audit mode lets by",
        "Pods a second that enforcement would have refused (deny), or gated without room (gate).",
        {"{{queue}} {{effect}}": speed("audited_pods_total", "queue", "effect", where=_QUEUE)},
        span=8,
    ),
    lines(
        "From room to an open gate",
        "Time from room in the quota, or from the pod's creation.",
        {
            "half of them": quantile(0.5, "release_seconds"),
            "99 of 100": quantile(0.99, "release_seconds"),
        },
        unit="s",
        span=8,
    ),
    lines(
        "Refused",
        "A second: gates that the API server refused to open, writes of schedulers that are not "
        "known, and requests that a port did not serve.",
        {
            "gates: {{why}}": speed("refused_gates_total", "why"),
            "writes: {{what}}": speed("refused_writes_total", "what"),
            "requests: {{why}}": speed("requests_refused_total", "why"),
        },
        span=8,
    ),
)
_OPERATOR: Final = (
    lines(
        "Leader",
        "Which replica leads.",
        {"{{pod}} {{instance}}": highest("leader", *OF_SCRAPE)},
        span=8,
    ),
    lines(
        "Faults",
        "0 is right for all of them.",
        {
            "fence: {{fault}}": highest("fence_faults", "fault"),
            "{{kind}} {{name}}": f"{highest('installation_faults', 'kind', 'name')} > 0",
            "drift": highest("ledger_drift"),
            "queues not written": highest("unwritten_queues"),
            "namespaces of unknown mode": highest("namespaces_with_unknown_mode"),
            "left out: {{kind}}": highest("left_out_objects", "kind"),
        },
        span=8,
    ),
    lines(
        "Loop and lag",
        "The longest stretch for which the event loop was held up, and for how long the view of a "
        "kind is behind the API server.",
        {
            "loop": highest("loop_seconds"),
            "{{kind}}": highest("reflector_lag_seconds", "kind"),
        },
        unit="s",
        span=8,
    ),
)
_NODES: Final = (
    lines(
        "Cards that pods can use",
        "1: they can. 0: the card has a problem. Empty without the node agent.",
        {
            "{{instance}} {{product}} {{uuid}}": lowest(
                "card_healthy", *OF_SCRAPE, "product", "uuid", of=NODE
            )
        },
        span=8,
    ),
    lines(
        "Memory of the cards in use",
        "What processes hold, as a part of what the card has.",
        {
            "{{instance}} {{product}} {{uuid}}": (
                f"{highest('card_used_bytes', *OF_SCRAPE, 'product', 'uuid', of=NODE)} / "
                f"{highest('card_memory_bytes', *OF_SCRAPE, 'product', 'uuid', of=NODE)}"
            )
        },
        unit="percentunit",
        span=8,
    ),
    lines(
        "Starts of containers",
        "A second: given their card, or refused.",
        {"{{result}}": speed("container_starts_total", "result", of=NODE)},
        span=8,
    ),
)
_ROWS: Final[tuple[tuple[str, tuple[Panel, ...]], ...]] = (
    ("Health", _HEALTH),
    ("Cluster", _CLUSTER),
    ("Queues", _QUEUES),
    ("Admission", _ADMISSION),
    ("Operator", _OPERATOR),
    ("Node agents", _NODES),
)


def dashboard_json() -> str:
    """The file that Grafana imports."""
    board = (
        builders.Dashboard("cardquota")
        .uid(UID)
        .description("Quotas per card model: the cluster, queues, admission and the operator.")
        .tags(["cardquota", "gpu"])
        .time("now-24h", "now")
        .refresh("1m")
        .timezone("browser")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .with_variable(builders.DatasourceVariable(SOURCE).label("Data source").type("prometheus"))
        .with_variable(_variable("queue", "Queue", "cardquota_queue_card_quota"))
        .with_variable(_variable("card", "Card", "cardquota_cluster_card_allocatable"))
    )
    identity = 0
    for title, panels in _ROWS:
        identity += 1
        board.with_row(builders.Row(title).id(identity))
        for panel in panels:
            identity += 1
            board.with_panel(panel.id(identity))
    return json.dumps(_plain(board.build()), indent=1, sort_keys=True) + "\n"


def _variable(name: str, label: str, metric: str) -> builders.QueryVariable:
    return (
        builders.QueryVariable(name)
        .label(label)
        .datasource(models.DataSourceRef(type_val="prometheus", uid=f"${{{SOURCE}}}"))
        .query(f"label_values({metric}, {name})")
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(models.VariableOption(text="All", value="$__all", selected=True))
    )


def _plain(board: models.Dashboard) -> Any:
    return json.loads(json.dumps(board, cls=JSONEncoder))
