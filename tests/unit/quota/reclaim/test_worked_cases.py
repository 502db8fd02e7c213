"""L3, L4: who ends for whom, case by case."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.quota.reclaim import Plan, plans

from .reclaiming import cluster, longest_of, planned, told, waiters

CASES = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text())


def test_l4_of_very_many_nodes_the_one_with_the_lowest_priority() -> None:
    many = range(1_100)
    case = {
        "nodes": {f"n{n}": "1" for n in many},
        "queues": {"a": "1100", "b": "1100"},
        "bound": {f"x{n}": f"a 1 n{n} priority={1 if n == 500 else 5}" for n in many},
        "unplaced": {"w": "b 1"},
    }
    assert told(planned(cluster(case))) == {"w": ["x500"]}


def test_l4_very_many_nodes_where_nobody_may_end_hide_no_other() -> None:
    many = range(1_100)
    case = {
        "nodes": {"m": "1", **{f"n{n}": "1" for n in many}},
        "queues": {"a": "1101", "b": "1101"},
        "bound": {
            "y": "a 1 m priority=5",
            **{f"x{n}": f"a 1 n{n} preemptable=false" for n in many},
        },
        "unplaced": {"w": "b 1"},
    }
    assert told(planned(cluster(case))) == {"w": ["y"]}


def test_l4_a_node_is_looked_at_that_may_be_better_than_very_many() -> None:
    """Of each group one pod is elastic, but on nodes that the pod that waits does not select."""
    many = range(130)
    first = {f"f{n}": f"a 1 e{n} group=g{n} at=1 priority=9" for n in many}
    second = {f"s{n}": f"a 1 n{n} group=g{n} at=2 priority=9" for n in many}
    east = {f"e{n}": "1 zone=east" for n in range(131)}
    case = {
        "nodes": {**east, **{f"n{n}": "1" for n in many}},
        "queues": {"a": "261", "b": "261"},
        "groups": {f"g{n}": "a 1" for n in many},
        "bound": {**first, **second, "x": "a 1 e130 priority=5"},
        "unplaced": {"w": "b 1 zone=east"},
    }
    assert told(planned(cluster(case))) == {"w": ["x"]}


@pytest.mark.parametrize("case", CASES, ids=[case["says"] for case in CASES])
def test_l4_who_ends(case: dict[str, Any]) -> None:
    options = {key: case[key] for key in ("excluded", "past_admission", "now") if key in case}
    found = planned(cluster(case), **options)
    if "gives" in case:
        assert told(found) == case["gives"]
    else:
        numbers = {one.beneficiary.name: len(one.victims) for one in found if isinstance(one, Plan)}
        assert numbers == case["gives_number"]


def test_l4_no_step_is_long_where_a_group_is_huge() -> None:
    """Some 30 ms of its own time, and 140 ms if all its units are made at once."""
    case = {
        "nodes": {f"n{n}": "8" for n in range(1_250)},
        "queues": {"a": "10000", "b": "10000"},
        "groups": {"g": "a 1"},
        "bound": {"x": "a 1 n0 group=g"},
        "unplaced": {"w": "b 4"},
    }
    ledger = cluster(case)
    x = ledger.pods["uid-x"].facts
    for n in range(1, 10_000):
        ledger.pod_seen(replace(x, uid=f"x{n}", name=f"x{n}", node=f"n{n // 8}"))
    assert min(longest_of(plans(ledger, waiters(ledger))) for _ in range(4)) < 0.06
