"""A release of the chart on a plane, and a replica with its rights."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from builders.rendered import parsed
from cardquota_dev.plane.product.product import laid_over
from cardquota_dev.testing import Cluster
from integration.asking import ask
from integration.process.running import QUICK, OperatorProcess

from .helm import CHART, OWN, Object, helm

WEBHOOKS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


class HelmRelease:
    """The release <cardquota> on a plane."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self._values = cluster, folder / "values.json"

    def __call__(self, verb: str, *more: str, **values: Any) -> str:
        """Run Helm; what it prints."""
        done = self.tried(verb, *more, **values)
        assert done[0] == 0, done[1]
        return done[1]

    def tried(
        self, verb: str, *more: str, name: str = "cardquota", namespace: str = OWN, **values: Any
    ) -> tuple[int, str]:
        """Exit code, and what it prints."""
        self._values.write_text(json.dumps(values))
        chart = (str(CHART), f"-f={self._values}") if verb in ("install", "upgrade") else ()
        kubeconfig = self.cluster.kubeconfig
        done = helm(*verb.split(), name, *chart, *more, f"-n={namespace}", kubeconfig=kubeconfig)
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr

    def objects(self) -> list[Object]:
        """Those of its manifest."""
        return [one for one in parsed(self("get manifest")) if one]


def stored(cluster: Cluster, path: str) -> list[Object]:
    answer = ask(cluster, "GET", path)
    assert answer.ok
    items: list[Object] = answer.body["items"]
    return items


def webhooks(cluster: Cluster) -> dict[str, Object]:
    """How the API server calls, by the configuration's kind and name and the webhook's."""
    api = "/apis/admissionregistration.k8s.io/v1"
    return {
        f"{kind}/{one['metadata']['name']}/{webhook['name']}": webhook["clientConfig"]
        for kind in WEBHOOKS
        for one in stored(cluster, f"{api}/{kind}")
        for webhook in one["webhooks"]
    }


def outside(release: HelmRelease, folder: Path, config: Mapping[str, Any]) -> OperatorProcess:
    """A replica outside of the cluster, with the rights that the release gives."""
    assert release.cluster.folder is not None
    found = OperatorProcess(folder, release.cluster.folder.product_kubeconfig, QUICK)
    ours = yaml.safe_load(found.config.read_text())
    del ours["webhook"]["url"]  # as in a pod: the Service
    found.config.write_text(yaml.safe_dump(laid_over(ours, config)))
    return found
