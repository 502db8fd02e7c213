"""`manifests/components/extender`: kustomize gives what is rendered, and an API server takes it."""

import re
from os.path import relpath
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.install import documents
from cardquota.settings import Extender, GateSetter, Settings, Webhook

from .policy_api import ROOT, PolicyApi, allowed

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

MANIFESTS = ROOT / "manifests"
GUIDE = ROOT / "docs" / "extender.md"
SCHEDULER = "cardquota-scheduler"


def built(api: PolicyApi, folder: Path, *components: str, **more: Any) -> str:
    kustomization = {
        "resources": [relpath(MANIFESTS / "base", folder)],
        "components": [relpath(MANIFESTS / "components" / name, folder) for name in components],
        **more,
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    done = api.plane.kubectl("kustomize", str(folder))
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_name(text: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(text)}


@pytest.mark.parametrize("gate", GateSetter)
def test_it_is_what_the_settings_render(api: PolicyApi, tmp_path: Path, gate: GateSetter) -> None:
    """With the component gate-policy after it, which takes a webhook away that this one changes."""
    components = ["extender"] if gate is GateSetter.WEBHOOK else ["extender", "gate-policy"]
    settings = Settings.model_construct(webhook=Webhook(gate=gate), extender=Extender(enabled=True))
    wanted = {(one["kind"], one["metadata"]["name"]): one for one in documents(settings)}
    text = built(api, tmp_path, *components)
    found = by_name(text)
    ours = {k: one for k, one in found.items() if "admissionregistr" in one["apiVersion"]}
    assert ours == wanted
    (container,) = found["Deployment", "cardquota"]["spec"]["template"]["spec"]["containers"]
    assert [port["name"] for port in container["ports"]] == [
        *("extender", "webhook", "metrics", "probes"),
    ]
    dry_run = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
    allowed(api.kubectl(*dry_run, text=text))


def test_without_the_second_scheduler_as_the_guide_says(api: PolicyApi, tmp_path: Path) -> None:
    patches = re.search(r"```yaml\n(patches:\n.*?)```", GUIDE.read_text(), re.DOTALL)
    assert patches is not None
    found = by_name(built(api, tmp_path, "extender", **yaml.safe_load(patches[1])))
    everything = by_name(built(api, tmp_path, "extender"))
    gone = {name for name in everything if name not in found}
    assert gone == {name for name in everything if name[1].startswith(SCHEDULER)}
    assert ("Deployment", SCHEDULER) in gone
