"""`manifests/components/volcano`: the block for Volcano's configuration says where we listen."""

from pathlib import Path

import pytest
import yaml

from cardquota.extender import ENQUEUE_PATH
from cardquota.settings import Settings

from .kustomized import MANIFESTS, built, by_name, container
from .policy_api import PolicyApi

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]


def test_volcano_is_told_where_we_listen(api: PolicyApi, tmp_path: Path) -> None:
    found = by_name(built(api, tmp_path, "volcano"))
    # Those of Volcano's names are Volcano's; what is asked of us is ours everywhere.
    assert {name for kind, name in found if kind == "CustomResourceDefinition"} == {
        "queuereviews.cardquota.volcano.sh",
        "terms.cardquota.volcano.sh",
        "workloadreviews.cardquota.volcano.sh",
    }
    ports = {one["name"]: one for one in found["Service", "cardquota-webhook"]["spec"]["ports"]}
    listens = {one["name"]: one["containerPort"] for one in container(found)["ports"]}
    assert ports["enqueue"]["targetPort"] == "enqueue"
    assert listens["enqueue"] == Settings.model_construct().volcano.enqueue.port
    block = yaml.safe_load((MANIFESTS / "components/volcano/volcano-scheduler.conf").read_text())
    first = {one["name"]: one.get("arguments") for one in block["tiers"][0]["plugins"]}
    others = [one["name"] for tier in block["tiers"] for one in tier["plugins"]]
    prefix, verb = (
        first["extender"][f"extender.{key}"] for key in ("urlPrefix", "jobEnqueueableVerb")
    )
    host = "cardquota-webhook.cardquota-system.svc"
    assert f"{prefix}/{verb}" == f"https://{host}:{ports['enqueue']['port']}{ENQUEUE_PATH}"
    assert "capacity" in others
    assert "proportion" not in others
    assert "overcommit" not in others


def test_n4_every_port_has_its_callers(api: PolicyApi, tmp_path: Path) -> None:
    """Policies add up: what one of them names is open to whom it names, all else is shut."""
    found = by_name(built(api, tmp_path, "volcano", "extender"))
    listens = {one["name"] for one in container(found)["ports"]}
    labels = found["Deployment", "cardquota"]["spec"]["template"]["metadata"]["labels"]
    rules = {
        port["port"]: rule.get("from")
        for (kind, _), one in found.items()
        if kind == "NetworkPolicy"
        for rule in one["spec"]["ingress"]
        for port in rule["ports"]
        if one["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    }
    # The kubelet of a pod's own node reaches it whatever policies say.
    assert rules.keys() == listens - {"probes"} == {"webhook", "metrics", "extender", "enqueue"}
    assert rules["webhook"] is rules["extender"] is None, "where nobody's label can be known"
    (monitoring,) = rules["metrics"]
    assert monitoring["namespaceSelector"]["matchLabels"]
    namespaces, pods = rules["enqueue"]
    assert pods["podSelector"]["matchLabels"].items() <= labels.items()
    names = namespaces["namespaceSelector"]["matchLabels"]
    assert names == {"kubernetes.io/metadata.name": "volcano-system"}
