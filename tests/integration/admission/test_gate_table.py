"""The gate as the webhook sets it, pod by pod: see `gate_table`."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster, eventually
from integration.gate_table import PLENTY, TABLE, GateCase, GateNamespace, born, namespaces
from integration.team import Team


@pytest.fixture(scope="module")
def places(roomy: Cluster) -> Iterator[tuple[str, dict[GateNamespace, str]]]:
    """A queue and the namespaces, once the operator has seen them."""
    team = Team(roomy, "default", "gate-table")
    queue = team.has_queue(PLENTY)
    with namespaces(roomy, "gate-table", queue) as found:
        for case in {case.where: case for case in reversed(TABLE)}.values():
            eventually(lambda c=case: born(roomy, c, queue, found) == c.gates, f"{case.where} seen")
        yield queue, found


@pytest.mark.parametrize("case", TABLE, ids=[case.what for case in TABLE])
def test_who_is_born_with_the_gate(
    roomy: Cluster, places: tuple[str, dict[GateNamespace, str]], case: GateCase
) -> None:
    assert born(roomy, case, *places) == case.gates
