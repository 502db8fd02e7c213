"""Every rule of the table, on a real API server: as the table says, and as is simulated."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cardquota_dev.testing import Cluster, fresh_namespace
from conformance.by_simulation import found_by_simulation
from conformance.case import Case, cases
from conformance.comparing import differences, disagreements
from conformance.found import ObservedCase
from conformance.on_plane import OnPlane
from conformance.short_forms import SHARED_NAMESPACE
from integration.team import bugs_logged

AT_ONCE = 12
"""Cases that play at the same time: most of it is waiting."""

_CASES = [case for case in cases() if not (case.settings or case.simulated_only)]


@dataclass
class CaseResult:
    """How one case went."""

    wrong: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def outcomes(
    product_plane: Cluster, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, CaseResult]]:
    """All cases that this session asks for, played together."""
    folder = tmp_path_factory.mktemp("conformance")
    asked = set(_asked(request))
    players = [OnPlane(product_plane, case) for case in _CASES if case.id in asked]
    simulated = [_simulated(player.case, folder) for player in players]
    shared = fresh_namespace(product_plane, SHARED_NAMESPACE)
    with shared, ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(OnPlane.give, players))
        played = pool.map(_played, players, simulated)
        yield {player.case.id: one for player, one in zip(players, played, strict=True)}
    assert bugs_logged(product_plane) == []


def _asked(request: pytest.FixtureRequest) -> Iterator[str]:
    """The cases of this module's tests."""
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.function is test_on_the_plane:
            case = item.callspec.params["case"]
            assert isinstance(case, Case)
            yield case.id


def _simulated(case: Case, folder: Path) -> tuple[ObservedCase, ObservedCase]:
    """Of what the case is given, and of its first stage."""
    return found_by_simulation(case, folder, pods=False), found_by_simulation(case, folder)


def _played(player: OnPlane, simulated: tuple[ObservedCase, ObservedCase]) -> CaseResult:
    """What goes wrong in one case is told of that case."""
    outcome = CaseResult()
    try:
        given, first = simulated
        player.until_given(given)
        found, wrong = player.play(first)
        outcome = CaseResult(
            [*differences(player.case, found), *wrong], disagreements(first, found)
        )
    except AssertionError as error:
        outcome.wrong.append(str(error))
    try:
        player.take_away()
    except AssertionError as error:
        outcome.wrong.append(f"afterwards: {error}")
    return outcome


def _needing(case: Case) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.newer_kubernetes(case.needs),) if case.needs else ()


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id, marks=_needing(case)) for case in _CASES]
)
def test_on_the_plane(case: Case, outcomes: Mapping[str, CaseResult]) -> None:
    outcome = outcomes[case.id]
    assert outcome.wrong == [], case.says
    assert outcome.disagreements == [], case.says
