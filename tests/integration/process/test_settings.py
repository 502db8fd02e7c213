"""Settings that change what is managed and what is counted, with an operator that has them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, fresh_namespace
from integration.roomy_nodes import T1000
from integration.team import Team, notes, released

from .running import QUICK, install_base, running

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]


@pytest.fixture
def team(bare: Cluster, unique: str) -> Iterator[Team]:
    install_base(bare)
    with fresh_namespace(bare, unique) as namespace:
        yield Team(bare, namespace, unique)


def stock(name: str, cards: int = 1) -> PodBody:
    """A pod of a stock chart: it asks for a card and knows nothing of quotas."""
    return a_pod(name).asking_for(cards)


def test_a_default_queue_in_which_cards_bring_their_cpu_and_memory(
    bare: Cluster, tmp_path: Path, team: Team
) -> None:
    """Section 2 and P6; and namespaces that are exempt are left alone."""
    exempt = f"{team.prefix}-exempt"
    config = {
        **QUICK,
        "defaultQueue": team.queue_name(),
        "cardUnlimitedCpuMemory": True,
        "exemptNamespaces": ["kube-system", exempt],
    }
    with running(bare, tmp_path / "o", config), fresh_namespace(bare, exempt):
        queue = team.has_queue(team.a_queue({T1000: 3}).limited_to(cpu="2", memory="2Gi"))
        team.until_row(T1000, quota=3)

        assert team.create(stock("a").with_cpu("8").with_memory("8Gi")).ok
        team.until_open("a")
        assert notes(team.pod("a"))[v.CHARGED_QUEUE] == queue
        team.until_row(T1000, allocated=1)
        assert [row["allocated"] for row in team.status()["resources"]] == ["0", "0"]

        five = team.create(stock("five", 5))
        assert five.reason == v.Reason.INSUFFICIENT_CARD
        no_card = team.create(team.a_pod("b").with_cpu("3"))
        assert no_card.reason == v.Reason.INSUFFICIENT_CPU
        assert released(team.create(a_pod("plain").with_cpu("3")).body)

        outside = Team(bare, exempt, team.prefix)
        assert released(outside.create(stock("five", 5)).body)
        assert released(outside.create(outside.a_pod("six", 6, T1000)).body)


def test_a_queue_is_demanded_everywhere(bare: Cluster, tmp_path: Path, team: Team) -> None:
    """`requireQueue`: of pods that use cards."""
    with running(bare, tmp_path / "o", {**QUICK, "requireQueue": True}):
        assert team.create(stock("a")).reason == v.Reason.QUEUE_NOT_FOUND
        assert team.create(a_pod("plain")).ok
        team.has_queue({T1000: 3})
        assert team.create(team.a_pod("b", 1, T1000)).ok
        team.until_open("b")
