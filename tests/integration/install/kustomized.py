"""What kustomize makes of `manifests/base` and components."""

from os.path import relpath
from pathlib import Path
from typing import Any

import yaml

from builders.rendered import parsed

from .policy_api import ROOT, PolicyApi

MANIFESTS = ROOT / "manifests"
Documents = dict[tuple[str, str], dict[str, Any]]
"""By kind and name."""


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


def by_name(text: str) -> Documents:
    return {(one["kind"], one["metadata"]["name"]): one for one in parsed(text)}


def container(found: Documents) -> dict[str, Any]:
    (one,) = found["Deployment", "cardquota"]["spec"]["template"]["spec"]["containers"]
    return dict(one)
