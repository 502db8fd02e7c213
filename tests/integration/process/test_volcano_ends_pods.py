"""L6: the operator that ends pods for others does not start beside a Volcano that does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from integration.plugin import plugin

from .running import QUICK, OperatorProcess, install_base, json_lines, running

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]

RIGHTS = [CHECKOUT / f"manifests/components/{name}/rbac.yaml" for name in ("volcano", "reclaim")]
NAME = "volcano-scheduler-configmap"


@pytest.fixture(scope="module")
def cluster(bare: Cluster) -> Iterator[Cluster]:
    """With the rights that such an operator has."""
    install_base(bare)
    for file in RIGHTS:
        bare.apply(file.read_text())
    yield bare
    for file in RIGHTS:
        bare.kubectl("delete", "-f", str(file))


@pytest.fixture
def batch(cluster: Cluster, unique: str) -> Iterator[str]:
    """Of a Volcano."""
    with fresh_namespace(cluster, unique) as name:
        yield name


def configured(cluster: Cluster, namespace: str, actions: str) -> None:
    data = {"volcano-scheduler.conf": f"actions: '{actions}'\ntiers: []\n"}
    stored = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": namespace},
        "data": data,
    }
    cluster.apply(json.dumps(stored))


def settings(namespace: str, **reclaim: Any) -> dict[str, Any]:
    enqueue = {"host": "127.0.0.1", "port": free_ports(1)[0]}
    volcano = {"configuration": f"{namespace}/{NAME}", "enqueue": enqueue}
    mode: dict[str, Any] = {"mode": "on", **reclaim}
    return {**QUICK, "scheduler": "volcano", "volcano": volcano, "reclaim": mode}


def said(operator: OperatorProcess) -> str:
    return "\n".join(str(line) for line in json_lines(operator.log))


def test_it_ends_with_a_sentence(cluster: Cluster, batch: str, tmp_path: Path) -> None:
    configured(cluster, batch, "enqueue, allocate, reclaim")
    assert cluster.folder is not None
    operator = OperatorProcess(tmp_path, cluster.folder.product_kubeconfig, settings(batch))
    operator.start()
    try:
        assert operator.ended(30) == 2
    finally:
        operator.kill()
    line = json_lines(operator.log)[-1]
    assert f"<reclaim> among the actions in ConfigMap <{batch}/{NAME}>" in str(line)
    assert "`reclaim.besideVolcano: true`" in str(line)


def test_check_says_the_same_and_which_right_is_missing(
    cluster: Cluster, batch: str, tmp_path: Path
) -> None:
    configured(cluster, batch, "enqueue, allocate, preempt")
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(settings(batch)))

    def told() -> dict[str, str]:
        done = plugin(cluster.kubeconfig, "check", "-o", "json", f"--config={config}")
        (found,) = (
            one["findings"]
            for one in json.loads(done.stdout)["sections"]
            if one["section"] == "installation"
        )
        return {one["reason"]: one["message"] for one in found}

    assert "<preempt> among the actions" in told()["VolcanoEndsPods"]
    assert "RightsMissing" not in told()
    cluster.kubectl("delete", "-f", str(RIGHTS[1]))
    missing = eventually(lambda: told().get("RightsMissing"), "the right is missed")
    assert "the operator may not create pods/eviction; list poddisruptionbudgets" in missing
    cluster.apply(RIGHTS[1].read_text())


@pytest.mark.parametrize(
    ("actions", "reclaim", "warns"),
    [
        ("enqueue, allocate, backfill", {}, False),
        ("enqueue, allocate, reclaim", {"besideVolcano": True}, False),
        (None, {}, True),
    ],
    ids=["without the actions", "both are wanted", "no configuration"],
)
def test_else_it_runs(
    cluster: Cluster,
    batch: str,
    tmp_path: Path,
    actions: str | None,
    reclaim: dict[str, Any],
    *,
    warns: bool,
) -> None:
    if actions is not None:
        configured(cluster, batch, actions)
    with running(cluster, tmp_path / "o", settings(batch, **reclaim)) as operator:
        log = said(operator)
    assert ("it is not known whether Volcano's scheduler ends pods" in log) is warns
    # It may read the configuration, by the rights of the component.
    assert (f"ConfigMap <{batch}/{NAME}> cannot be read: 404" in log) is warns
