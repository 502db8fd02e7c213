"""L3, L4: who ends for whom, case by case."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.quota.reclaim import Plan

from .reclaiming import cluster, planned, told

CASES = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["says"] for case in CASES])
def test_l4_who_ends(case: dict[str, Any]) -> None:
    options = {key: case[key] for key in ("excluded", "past_admission", "now") if key in case}
    found = planned(cluster(case), **options)
    if "gives" in case:
        assert told(found) == case["gives"]
    else:
        numbers = {one.beneficiary.name: len(one.victims) for one in found if isinstance(one, Plan)}
        assert numbers == case["gives_number"]
