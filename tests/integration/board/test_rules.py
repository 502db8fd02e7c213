"""Every alert by Prometheus' own unit tests of rules: it fires with its fault after its time, says
what is wrong, and no other does; without the fault, and without any series, all are silent, but the
one that is meant for that.

The series are made; that their names and labels are those of the product, a test of the unit tests
sees to.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import yaml

from .promtool import Rule, committed_rules, promtool, rule_file, unit_test

pytestmark = pytest.mark.long

NODE: Final = 'instance="n:9446", pod="agent", product="NVIDIA-A10", uuid="GPU-1"'
HEALTHY: Final[Mapping[str, str]] = {
    'cardquota_leader{instance="a"}': "1+0x120",
    'cardquota_leader{instance="b"}': "0+0x120",
    'cardquota_ledger_drift{instance="a"}': "0+0x120",
    'cardquota_unwritten_queues{instance="a"}': "0+0x120",
    'cardquota_uncounted_nodes{instance="a"}': "0+0x120",
    'cardquota_namespaces_with_unknown_mode{instance="a"}': "0+0x120",
    'cardquota_loop_seconds{instance="a"}': "0.02+0x120",
    'cardquota_fence_faults{instance="a", fault="open"}': "0+0x120",
    'cardquota_reflector_lag_seconds{instance="a", kind="pods"}': "0+0x120",
    'cardquota_installation_faults{instance="a", kind="Lease", name="x"}': "0+0x120",
    'cardquota_left_out_objects{instance="a", kind="pods"}': "0+0x120",
    'cardquota_undecodable_objects{instance="a", kind="pods"}': "0+0x120",
    'cardquota_refused_gates_total{instance="a", why="object"}': "7+0x120",
    'cardquota_refused_writes_total{instance="a", what="group"}': "7+0x120",
    'cardquota_unadmitted_pods{instance="a", queue="research"}': "0+0x120",
    'cardquota_queue_oldest_wait_seconds{instance="a", queue="research"}': "0+60x120",
    'cardquota_queue_oldest_terminating_seconds{instance="a", queue="research"}': "100+0x120",
    'cardquota_waiting_pods{instance="a", queue="research", reason="BehindInQueue"}': "9+0x120",
    'cardquota_waiting_pods{instance="a", queue="research", reason="CardNotInQuota"}': "0+0x120",
    'cardquota_admission_review_seconds_bucket{instance="a", le="0.5"}': "0+60x120",
    'cardquota_admission_review_seconds_bucket{instance="a", le="1"}': "0+60x120",
    'cardquota_admission_review_seconds_bucket{instance="a", le="+Inf"}': "0+60x120",
    f"cardquota_node_card_healthy{{{NODE}}}": "1+0x120",
    'cardquota_node_container_starts_total{instance="n:9446", pod="agent", result="refused"}': (
        "2+0x120"
    ),
}
"""What a healthy installation shows, waiting pods and old refusals included."""


class RuleCase(NamedTuple):
    """A fault: series that come, or stand in place of healthy ones."""

    alert: str
    series: Mapping[str, str | None]
    """None: it is gone."""
    labels: Mapping[str, str]
    said: str


CASES: Final = (
    RuleCase(
        "CardquotaAbsent",
        dict.fromkeys(HEALTHY),
        {},
        "No replica of cardquota is scraped: none runs, or Prometheus does not find or reach them.",
    ),
    RuleCase(
        "CardquotaNoLeader",
        {'cardquota_leader{instance="a"}': "0+0x120"},
        {},
        "No replica of cardquota leads: no gate opens, and pods wait even if there is room.",
    ),
    RuleCase(
        "CardquotaTwoLeaders",
        {'cardquota_leader{instance="b"}': "1+0x120"},
        {},
        "2 replicas of cardquota claim to lead.",
    ),
    RuleCase(
        "CardquotaFenceNotInForce",
        {'cardquota_fence_faults{instance="b", fault="untried"}': "1+0x120"},
        {"fault": "untried"},
        "The API server does not check the leader's term as it should: untried.",
    ),
    RuleCase(
        "CardquotaGatesRefused",
        {'cardquota_refused_gates_total{instance="a", why="object"}': "0+30x120"},
        {"why": "object"},
        "The API server refuses to open gates (object): 0.5 a second.",
    ),
    RuleCase(
        "CardquotaOldView",
        {'cardquota_reflector_lag_seconds{instance="b", kind="nodes"}': "90+0x120"},
        {"kind": "nodes"},
        "A replica of cardquota has had no news of nodes for 1m 30s.",
    ),
    RuleCase(
        "CardquotaReviewsSlow",
        {'cardquota_admission_review_seconds_bucket{instance="a", le="0.5"}': "0+0x120"},
        {},
        "One of 100 admission reviews takes 995ms or more: so long do creates of pods wait.",
    ),
    RuleCase(
        "CardquotaInstallationDiffers",
        {
            'cardquota_installation_faults{instance="b", kind="ValidatingAdmissionPolicy", '
            'name="cardquota-pods"}': "1+0x120"
        },
        {"kind": "ValidatingAdmissionPolicy", "name": "cardquota-pods"},
        "ValidatingAdmissionPolicy cardquota-pods is missing, or not what was rendered.",
    ),
    RuleCase(
        "CardquotaPodsPastAdmission",
        {'cardquota_unadmitted_pods{instance="b", queue="research"}': "4+0x120"},
        {"queue": "research"},
        "4 pods use cards of queue research, and the operator never opened their gates.",
    ),
    RuleCase(
        "CardquotaPodWaitsLong",
        {'cardquota_queue_oldest_wait_seconds{instance="b", queue="speech"}': "90000+0x120"},
        {"queue": "speech"},
        "A pod of queue speech has waited at its gate for 1d 1h 0m 0s: `kubectl cardquota queue "
        "speech` says who waits, and why.",
    ),
    RuleCase(
        "CardquotaPodsWaitInVain",
        {
            'cardquota_waiting_pods{instance="b", queue="<unknown>", reason="QueueNotFound"}': (
                "3+0x120"
            )
        },
        {"queue": "<unknown>", "reason": "QueueNotFound"},
        "3 pods of queue <unknown> wait, and no free card will help: QueueNotFound.",
    ),
    RuleCase(
        "CardquotaPodLateToEnd",
        {
            'cardquota_queue_oldest_terminating_seconds{instance="b", queue="research"}': (
                "3600+0x120"
            )
        },
        {"queue": "research"},
        "A pod of queue research that should be gone still holds cards, since 1h 0m 0s: mostly its "
        "node died, or a finalizer keeps it.",
    ),
    RuleCase(
        "CardquotaCardsNotCounted",
        {'cardquota_uncounted_nodes{instance="b"}': "2+0x120"},
        {},
        "The cards of 2 nodes are not counted.",
    ),
    RuleCase(
        "CardquotaUnknownNamespaceMode",
        {'cardquota_namespaces_with_unknown_mode{instance="b"}': "1+0x120"},
        {},
        "1 namespaces have a label volcano.sh/card-quota that means nothing: nothing is enforced "
        "there.",
    ),
    RuleCase(
        "CardquotaWritesRefused",
        {'cardquota_refused_writes_total{instance="b", what="binding"}': "0+6x120"},
        {"what": "binding"},
        "A scheduler or a controller that cardquota does not know is refused (binding): 0.1 a "
        "second.",
    ),
    RuleCase(
        "CardquotaNumbersNotWritten",
        {'cardquota_unwritten_queues{instance="b"}': "5+0x120"},
        {},
        "The numbers that 5 queues show are old: they could not be written.",
    ),
    RuleCase(
        "CardquotaObjectsLeftOut",
        {'cardquota_left_out_objects{instance="b", kind="pods"}': "8+0x120"},
        {"kind": "pods"},
        "8 pods are known by name only: the memory for them is full.",
    ),
    RuleCase(
        "CardquotaObjectsUnreadable",
        {'cardquota_undecodable_objects{instance="b", kind="nodes"}': "2+0x120"},
        {"kind": "nodes"},
        "2 objects of the kind nodes cannot be read, and are left out.",
    ),
    RuleCase(
        "CardquotaLoopHeldUp",
        {'cardquota_loop_seconds{instance="b"}': "0.25+0x120"},
        {},
        "The event loop of a replica is held up for 250ms at a time.",
    ),
    RuleCase(
        "CardquotaLedgerDrift",
        {'cardquota_ledger_drift{instance="b"}': "3+0x120"},
        {},
        "3 totals of a replica differ from a recount: a bug in cardquota.",
    ),
    RuleCase(
        "CardquotaNodeCardUnhealthy",
        {f"cardquota_node_card_healthy{{{NODE}}}": "0+0x120"},
        {"instance": "n:9446", "pod": "agent", "product": "NVIDIA-A10", "uuid": "GPU-1"},
        "No pod can use the card GPU-1 (NVIDIA-A10) of the node agent agent n:9446.",
    ),
    RuleCase(
        "CardquotaNodeStartsRefused",
        {
            'cardquota_node_container_starts_total{instance="n:9446", pod="agent", '
            'result="refused"}': "0+3x120"
        },
        {"instance": "n:9446", "pod": "agent"},
        "The node agent agent n:9446 refuses to start containers: 0.05 a second.",
    ),
)
LATE: Final = 60
"""The minute by which each has fired."""


def series_of(case: RuleCase) -> dict[str, str]:
    both = {**HEALTHY, **case.series}
    return {name: values for name, values in both.items() if values is not None}


def fired(case: RuleCase, rule: Rule) -> dict[str, list[Rule]]:
    labels = {"severity": rule["labels"]["severity"], **case.labels}
    annotations = {"summary": case.said, "runbook": rule["annotations"]["runbook"]}
    return {case.alert: [{"exp_labels": labels, "exp_annotations": annotations}]}


def test_the_rules_and_their_templates_are_valid(prometheus_programs: Path, tmp_path: Path) -> None:
    file = rule_file(tmp_path / "rules.yaml", committed_rules())
    said = promtool(prometheus_programs, "check", "rules", str(file))
    assert f"{len(committed_rules())} rules found" in said


def test_each_fires_with_its_fault_after_its_time_and_no_other_does(
    prometheus_programs: Path, tmp_path: Path
) -> None:
    rules = {rule["alert"]: rule for rule in committed_rules()}
    assert [case.alert for case in CASES] == list(rules)
    rule_file(tmp_path / "rules.yaml", list(rules.values()))
    tests = [
        unit_test(
            series_of(case),
            {_before(rules[case.alert]): {}, LATE: fired(case, rules[case.alert])},
        )
        for case in CASES
    ]
    _run(prometheus_programs, tmp_path, tests)


def test_a_healthy_installation_is_silent_and_so_is_one_without_node_agents(
    prometheus_programs: Path, tmp_path: Path
) -> None:
    rule_file(tmp_path / "rules.yaml", committed_rules())
    without = {name: values for name, values in HEALTHY.items() if "_node_" not in name}
    tests = [unit_test(series, {1: {}, LATE: {}, 119: {}}) for series in (HEALTHY, without)]
    _run(prometheus_programs, tmp_path, tests)


def test_single_refusals_fire_nothing(prometheus_programs: Path, tmp_path: Path) -> None:
    """The window is shorter than the time for which there must be refusals: two that are nine
    minutes apart, as of two hand-overs, are not one that goes on.
    """
    rule_file(tmp_path / "rules.yaml", committed_rules())
    once = {
        f'cardquota_{name}{{instance="{instance}", {label}}}': f"0+0x{minute} 1+0x100"
        for name, label in (
            ("refused_gates_total", 'why="term"'),
            ("refused_writes_total", 'what="group"'),
        )
        for instance, minute in (("a", 4), ("b", 13))
    }
    never: dict[int, dict[str, list[Rule]]] = {minute: {} for minute in range(1, LATE)}
    _run(prometheus_programs, tmp_path, [unit_test({**HEALTHY, **once}, never)])


def test_with_no_series_at_all_one_fires(prometheus_programs: Path, tmp_path: Path) -> None:
    rule_file(tmp_path / "rules.yaml", committed_rules())
    (absent,) = (rule for rule in committed_rules() if rule["alert"] == "CardquotaAbsent")
    _run(prometheus_programs, tmp_path, [unit_test({}, {LATE: fired(CASES[0], absent)})])


def _before(rule: Rule) -> int:
    """The last whole minute at which it does not fire yet."""
    return int(rule["for"].removesuffix("m")) - 1


def _run(programs: Path, folder: Path, tests: list[Rule]) -> None:
    file = folder / "tests.yaml"
    file.write_text(
        yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests})
    )
    promtool(programs, "test", "rules", str(file))
