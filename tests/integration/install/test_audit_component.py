"""`manifests/components/audit`: kustomize gives what is rendered for audit mode, and an API server
takes it; without the component it is what enforces.
"""

from pathlib import Path

import pytest

from cardquota.install import documents
from cardquota.settings import InstallationMode, Settings

from .policy_api import PolicyApi, allowed
from .test_extender_component import built, by_name
from .test_volcano_component import container

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]
REFUSED = ("MutatingWebhookConfiguration", "cardquota-refused")


def test_it_is_what_audit_mode_renders(api: PolicyApi, tmp_path: Path) -> None:
    settings = Settings.model_construct(mode=InstallationMode.AUDIT)
    wanted = {(one["kind"], one["metadata"]["name"]): one for one in documents(settings)}
    text = built(api, tmp_path, "audit")
    found = by_name(text)
    ours = {k: one for k, one in found.items() if "admissionregistr" in one["apiVersion"]}
    assert ours == wanted
    said = {one["name"]: one.get("value") for one in container(found)["env"]}
    assert said["CARDQUOTA_MODE"] == "audit"
    dry_run = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
    allowed(api.kubectl(*dry_run, text=text))


def test_without_it_is_what_enforces(api: PolicyApi, tmp_path: Path) -> None:
    """Whoever takes the line out and applies again has nothing left of audit mode."""
    without, with_it = by_name(built(api, tmp_path)), by_name(built(api, tmp_path, "audit"))
    assert set(without) == set(with_it)
    changed = {name for name in without if without[name] != with_it[name]}
    assert ("Deployment", "cardquota") in changed
    wanted = {(one["kind"], one["metadata"]["name"]): one for one in documents(Settings())}
    assert {name: one for name, one in without.items() if name in wanted} == wanted
