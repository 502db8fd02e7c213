"""`manifests/components`: kustomize gives what is rendered, and an API server takes it."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.install import documents
from cardquota.install.kubernetes_versions import GATE_BY_POLICY
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.settings import (
    CoveredNamespaces,
    Extender,
    GateSetter,
    InstallationMode,
    Settings,
    Webhook,
)

from .kustomized import Documents, built, by_name, container
from .policy_api import ROOT, PolicyApi, allowed

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

SETTINGS: dict[str, dict[str, Any]] = {
    "audit": {"mode": InstallationMode.AUDIT},
    "extender": {"extender": Extender(enabled=True)},
    "gate-policy": {"webhook": Webhook(gate=GateSetter.POLICY)},
    "labelled": {"namespaces": CoveredNamespaces.LABELLED},
    "labelled-audit": {
        "mode": InstallationMode.AUDIT,
        "namespaces": CoveredNamespaces.LABELLED,
    },
    "reclaim": {"reclaim": Reclaim(mode=ReclaimMode.DRY_RUN)},
    "volcano": {"scheduler": "volcano"},
}


_BY_POLICY = pytest.mark.newer_kubernetes(GATE_BY_POLICY)


@pytest.mark.parametrize(
    "components",
    [
        ("audit",),
        ("extender",),
        # This takes a webhook away that the one before it changes.
        pytest.param(("extender", "gate-policy"), marks=_BY_POLICY),
        pytest.param(("gate-policy",), marks=_BY_POLICY),
        pytest.param(("gate-policy", "volcano"), marks=_BY_POLICY),
        ("labelled",),
        ("labelled-audit",),
        ("reclaim",),
        ("reclaim", "audit"),
        ("volcano", "reclaim"),
        ("volcano",),
        pytest.param(("volcano", "gate-policy"), marks=_BY_POLICY),
    ],
    ids=" ".join,
)
def test_it_is_what_the_settings_render(
    api: PolicyApi, tmp_path: Path, components: tuple[str, ...]
) -> None:
    values = {key: value for name in components for key, value in SETTINGS[name].items()}
    settings = Settings.model_construct(**values)
    text = built(api, tmp_path, *components)
    found = by_name(text)
    ours = {k: one for k, one in found.items() if "admissionregistr" in one["apiVersion"]}
    assert ours == {(one["kind"], one["metadata"]["name"]): one for one in documents(settings)}
    modes = settings.mode, settings.namespaces, settings.reclaim.mode
    assert read(found) == (settings.webhook.gate, settings.scheduler, *modes)
    dry_run = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
    allowed(api.kubectl(*dry_run, text=text))


def test_l6_from_the_dry_run_to_reclaiming_as_the_guide_says(
    api: PolicyApi, tmp_path: Path
) -> None:
    guide = (ROOT / "docs" / "reclaim.md").read_text()
    patches = re.search(r"```yaml\n(patches:\n.*?)```", guide, re.DOTALL)
    assert patches is not None
    before = container(by_name(built(api, tmp_path, "reclaim")))["env"]
    after = container(by_name(built(api, tmp_path, "reclaim", **yaml.safe_load(patches[1]))))["env"]
    (changed,) = (one for one in after if one not in before)
    assert changed == {"name": "CARDQUOTA_RECLAIM", "value": "on"}
    assert len(after) == len(before)


def read(found: Documents) -> tuple[GateSetter, str, str, str, str]:
    """What a replica reads of its file and its environment."""
    stored = yaml.safe_load(found["ConfigMap", "cardquota"]["data"]["config.yaml"])
    config = Settings(**(stored or {}))
    said = {one["name"]: one.get("value") for one in container(found)["env"]}
    scheduler = said.get("CARDQUOTA_SCHEDULER", config.scheduler)
    mode = said.get("CARDQUOTA_MODE", config.mode)
    namespaces = said.get("CARDQUOTA_NAMESPACES", config.namespaces)
    reclaim = said.get("CARDQUOTA_RECLAIM", config.reclaim.mode)
    return config.webhook.gate, scheduler, mode, namespaces, reclaim
