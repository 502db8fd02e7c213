"""`manifests/components/audit`: without it the rest is what enforces."""

from pathlib import Path

import pytest

from cardquota.install import documents
from cardquota.settings import Settings

from .kustomized import built, by_name
from .policy_api import PolicyApi

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]


def test_without_it_is_what_enforces(api: PolicyApi, tmp_path: Path) -> None:
    """Whoever takes the line out and applies again has nothing left of audit mode."""
    without, with_it = by_name(built(api, tmp_path)), by_name(built(api, tmp_path, "audit"))
    assert set(without) == set(with_it)
    changed = {name for name in without if without[name] != with_it[name]}
    assert ("Deployment", "cardquota") in changed
    wanted = {(one["kind"], one["metadata"]["name"]): one for one in documents(Settings())}
    assert {name: one for name, one in without.items() if name in wanted} == wanted
