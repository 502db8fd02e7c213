"""Batch tools while the operator is away: what they made waits, or they try again, and in the end
all of it runs. Whose run fails for it stands in docs/workloads.md.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from cardquota.install.kubernetes_versions import GATE_BY_POLICY
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.definitions import define_kinds, until_served
from integration.other_webhook import other_webhook
from integration.process.outage import nobody_there
from integration.process.running import QUICK
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, released

from .playing import it_runs
from .stand_in import ToolStandIn
from .tool_case import ToolCase, foreign_kinds, read_table

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long, pytest.mark.slow]

TABLE = read_table()
TURNS = 3
OUR_WEBHOOK = 'failed calling webhook "pods.cardquota.volcano.sh"'


@dataclass(frozen=True, slots=True)
class ToolAtWork:
    """One row of the table, played in a namespace of its own."""

    case: ToolCase
    team: Team
    tool: ToolStandIn

    def goes_on(self) -> bool:
        """Its next turn; whether all of it runs."""
        return self.tool.turn() and it_runs(self.team, self.case)

    def survives(self, *, by_policy: bool) -> bool:
        """Whether its run goes on after an outage."""
        return by_policy or self.case.again not in ("exceeded quota", "never")


def at_work(team: Team, case: ToolCase) -> ToolAtWork:
    return ToolAtWork(case, team, ToolStandIn(team, case))


@pytest.fixture(
    scope="module",
    params=[
        "webhook",
        pytest.param("policy", marks=pytest.mark.newer_kubernetes(GATE_BY_POLICY)),
    ],
)
def gated_by(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cluster(gated_by: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("tools")
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump({**QUICK, "webhook": {"gate": gated_by}}))
    with running_plane(folder / "plane", config=config) as found:
        define_kinds(found, foreign_kinds(TABLE))
        add_roomy_nodes(found)
        yield found


def test_nothing_is_lost_while_nobody_judges(cluster: Cluster, gated_by: str, unique: str) -> None:
    by_policy = gated_by == "policy"
    with ExitStack() as namespaces:
        tools = []
        for number, case in enumerate(TABLE):
            name = namespaces.enter_context(fresh_namespace(cluster, f"{unique}-{number}"))
            team = Team(cluster, name, name)
            queue = team.a_queue({T1000: case.needs})
            team.has_queue(queue.with_policy(case.policy) if case.policy else queue)
            tools.append(at_work(team, case))
        for one in tools:
            until_served(cluster, one.case.foreign_kinds)

        with nobody_there(cluster):
            for _ in range(TURNS):
                for one in tools:
                    one.tool.turn()
            for one in tools:
                assert one.tool.failed is not one.survives(by_policy=by_policy), one.case.case
                assert all(r.code == 500 for r in one.tool.refusals)
                assert all(OUR_WEBHOOK in r.message for r in one.tool.refusals)
        if by_policy:
            assert all(one.tool.refusals == [] for one in tools)
        else:
            assert sum(len(one.tool.refusals) == TURNS for one in tools) > 10

        # Of a run that failed: whoever asked for it asks again.
        again = [one if not one.tool.failed else at_work(one.team, one.case) for one in tools]
        eventually(lambda: False not in [one.goes_on() for one in again], "all of it runs", 120)
        for one in tools:
            one.team.until_row(T1000, allocated=one.case.needs, inqueue=0)


def test_a_driver_whose_owner_another_webhook_writes(
    cluster: Cluster, unique: str, tmp_path: Path
) -> None:
    """As the Spark operator's does, after ours. By its label it waits all the same."""
    application = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication"}
    owner = {**application, "name": "join", "uid": "join", "controller": True}
    with fresh_namespace(cluster, unique) as name:
        team = Team(cluster, name, unique)
        team.has_queue({T1000: 1})
        assert team.create(team.a_pod("holder", 1, T1000)).ok
        team.until_bound("holder")
        with other_webhook(team, tmp_path) as patch:
            patch[:] = [{"op": "add", "path": "/metadata/ownerReferences", "value": [owner]}]
            driver = team.a_pod("join-driver", 1, T1000).labelled("spark-role", "driver")
            reply = team.create(driver, dry=True)
    assert reply.ok, reply
    assert not released(reply.body)
