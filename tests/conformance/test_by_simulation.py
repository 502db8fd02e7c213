"""Every rule of the table, as `cardquota simulate` has it."""

from pathlib import Path

import pytest

from conformance.by_simulation import found_by_simulation
from conformance.case import Case, cases
from conformance.comparing import differences


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_simulated(case: Case, tmp_path: Path) -> None:
    found = found_by_simulation(case, tmp_path)
    assert differences(case, found) == [], case.says
