"""Two replicas that ask for a token, a node agent, queues in use, and a Prometheus that scrapes all
three.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import ask
from integration.node.agent_process import AgentNode, agent_node
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, of_a_job

from .prometheus_process import PrometheusProcess
from .promtool import Rule, committed_rules

SHARE = "NVIDIA-H800/mps-80g*1/4"
"""A card of the plane whose name is no regular expression for itself."""
_READER = "prometheus"
_COMPONENT = CHECKOUT / "manifests" / "components" / "metrics-authentication"


def at_once(rules: list[Rule]) -> list[Rule]:
    """The same without the time for which an expression must be true."""
    return [{**rule, "for": "0s"} for rule in rules]


class ScrapedPlane:
    """What the tests look at."""

    def __init__(
        self, cluster: Cluster, team: Team, agent: AgentNode, prometheus: PrometheusProcess
    ) -> None:
        self.cluster, self.team, self.agent, self.prometheus = cluster, team, agent, prometheus
        self.while_nothing_was_scraped: set[str] = set()
        """The alerts that fired then."""

    @property
    def replicas(self) -> list[str]:
        """The addresses of their metrics."""
        names = (f"cardquota-{number}" for number in range(2))
        return [self.cluster.state.process(one).address for one in names]

    def use(self) -> None:
        """Pods run, wait and are refused, by a queue of each policy."""
        team = self.team
        waits = team.a_queue({T1000: 2, SHARE: 2}, "training").with_policy("Gate")
        team.has_queue(waits, "training")
        team.has_queue(team.a_queue({T1000: 1}, "serving").with_policy("Deny"), "serving")
        assert team.create(team.a_pod("serves", 1, T1000, "serving")).ok
        for name in ("trains", "trains-too", "waits"):
            assert team.create(of_a_job(team.a_pod(name, 1, T1000, "training"))).ok
            if name != "waits":
                team.until_bound(name)
        team.until_bound("serves")
        refused = team.create(team.a_pod("refused", 1, T1000, "serving"))
        assert refused.code == 403, refused
        team.until_row(T1000, "training", allocated=2)


@contextmanager
def scraped_plane(programs: Path, folder: Path) -> Iterator[ScrapedPlane]:
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump({"metrics": {"authentication": True}}))
    with (
        running_plane(folder / "plane", replicas=2, config=config) as cluster,
        fresh_namespace(cluster, "board") as namespace,
        agent_node(cluster, "kube-system", "sharing", sizes=(16_376, 8_188)) as agent,
    ):
        add_roomy_nodes(cluster)
        (folder / "prometheus").mkdir()
        prometheus = PrometheusProcess(programs, folder / "prometheus", _token(cluster, namespace))
        plane = ScrapedPlane(cluster, Team(cluster, namespace, "board"), agent, prometheus)
        try:
            prometheus.start(at_once(committed_rules()))
            eventually(prometheus.firing_names, "an alert while nothing is scraped")
            prometheus.until_evaluated()
            plane.while_nothing_was_scraped = prometheus.firing_names()
            replicas = (one.removeprefix("http://") for one in plane.replicas)
            prometheus.scrape(*replicas, f"127.0.0.1:{agent.port}")
            eventually(lambda: list(prometheus.targets().values()) == ["up"] * 3, "all are scraped")
            plane.use()
            yield plane
        finally:
            prometheus.stop()


def _token(cluster: Cluster, namespace: str) -> str:
    """Of an account that may read the metrics."""
    for name in ("rbac.yaml", "reader.yaml"):
        cluster.apply((_COMPONENT / name).read_text())
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _READER}}
    assert ask(cluster, "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account).ok
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "prometheus-reads-cardquota"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cardquota-metrics-reader",
        },
        "subjects": [{"kind": "ServiceAccount", "name": _READER, "namespace": namespace}],
    }
    cluster.apply(json.dumps(binding))
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{_READER}/token"
    reply = ask(cluster, "POST", path, {"spec": {}})
    assert reply.ok, reply
    return str(reply.body["status"]["token"])
