"""`manifests/components/volcano`: kustomize gives what is rendered, an API server takes it, and the
block for Volcano's configuration says where we listen.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.extender import ENQUEUE_PATH
from cardquota.install import documents
from cardquota.settings import GateSetter, Settings, Webhook

from .policy_api import PolicyApi, allowed
from .test_extender_component import MANIFESTS, built, by_name

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]


@pytest.mark.parametrize("gate", GateSetter)
def test_it_is_what_the_settings_render(api: PolicyApi, tmp_path: Path, gate: GateSetter) -> None:
    """With the component that it should stand beside, too, in either order."""
    components = ["volcano"] if gate is GateSetter.WEBHOOK else ["volcano", "gate-policy"]
    settings = Settings.model_construct(webhook=Webhook(gate=gate), scheduler="volcano")
    wanted = {(one["kind"], one["metadata"]["name"]): one for one in documents(settings)}
    for order in {tuple(components), tuple(components[::-1])}:
        text = built(api, tmp_path, *order)
        found = by_name(text)
        ours = {k: one for k, one in found.items() if "admissionregistr" in one["apiVersion"]}
        assert ours == wanted
        assert read(found) == (gate, "volcano")
    # Those of Volcano's names are Volcano's; what is asked of us is ours everywhere.
    assert {name for kind, name in found if kind == "CustomResourceDefinition"} == {
        "queuereviews.cardquota.volcano.sh",
        "terms.cardquota.volcano.sh",
        "workloadreviews.cardquota.volcano.sh",
    }
    dry_run = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
    allowed(api.kubectl(*dry_run, text=text))


def read(found: dict[tuple[str, str], dict[str, Any]]) -> tuple[GateSetter, str]:
    """What a replica reads of its file and its environment."""
    stored = yaml.safe_load(found["ConfigMap", "cardquota"]["data"]["config.yaml"])
    config = Settings(**(stored or {}))
    said = {one["name"]: one.get("value") for one in container(found)["env"]}
    return config.webhook.gate, said["CARDQUOTA_SCHEDULER"]


def container(found: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    (one,) = found["Deployment", "cardquota"]["spec"]["template"]["spec"]["containers"]
    return dict(one)


def test_volcano_is_told_where_we_listen(api: PolicyApi, tmp_path: Path) -> None:
    found = by_name(built(api, tmp_path, "volcano"))
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
