"""Helm and kustomize, and what they make of the chart and of `manifests`."""

import json
import subprocess
from collections.abc import Mapping
from copy import deepcopy
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml

from builders.rendered import parsed
from cardquota.settings import settings_from
from cardquota_dev.build.versions import HELM, built
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.discovery import binary

CHART = CHECKOUT / "charts" / "cardquota"
MANIFESTS = CHECKOUT / "manifests"
KUBERNETES = "1.36.3"
OWN = "cardquota-system"
Object = dict[str, Any]
Objects = dict[tuple[str, str, str], Object]
"""By kind, namespace and name."""


def helm(*arguments: str, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the real Helm. The caller checks the result."""
    where = (f"--kubeconfig={kubeconfig}",) if kubeconfig else ()
    return subprocess.run(
        [str(built(HELM) / "helm"), *arguments, *where],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def rendered(
    folder: Path, values: Mapping[str, Any], namespace: str = OWN
) -> subprocess.CompletedProcess[str]:
    """`helm template` with these values."""
    file = folder / "values.yaml"
    file.write_text(json.dumps(values))
    version = f"--kube-version={KUBERNETES}"
    return helm("template", "cardquota", str(CHART), f"-n={namespace}", f"-f={file}", version)


def by_helm(folder: Path, values: Mapping[str, Any], namespace: str = OWN) -> Objects:
    """The objects that Helm renders."""
    done = rendered(folder, values, namespace)
    assert done.returncode == 0, done.stderr
    return by_name(done.stdout)


def by_kustomize(folder: Path, *components: str, **more: Any) -> Objects:
    """The objects that kustomize builds."""
    kustomization = {
        "resources": [relpath(MANIFESTS / "base", folder)],
        "components": [relpath(MANIFESTS / "components" / name, folder) for name in components],
        **more,
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    done = subprocess.run(
        [str(binary("kubectl")), "kustomize", str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return by_name(done.stdout)


def by_name(text: str) -> Objects:
    """The objects of a YAML text."""
    found = [one for one in parsed(text) if one]
    keys = [
        (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"])
        for one in found
    ]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found, strict=True))


def comparable(objects: Objects) -> Objects:
    """The same without what may differ: where settings stand, and what the API server adds too.
    And without what Helm has its own way for: the definitions and the namespace.
    """
    helms_own = ("CustomResourceDefinition", "Namespace")
    found = deepcopy({key: one for key, one in objects.items() if key[0] not in helms_own})
    for (kind, _, name), one in found.items():
        if kind in ("Deployment", "DaemonSet"):
            _plain_pods(one["spec"]["template"])
        elif kind == "ConfigMap" and name != "cardquota":
            one["data"] = {key: yaml.safe_load(text) for key, text in one["data"].items()}
        elif kind == "Service":
            _sortby_name(one["spec"]["ports"])
    (operator,) = (one for key, one in found.items() if key[::2] == ("Deployment", "cardquota"))
    (stored,) = (one for key, one in found.items() if key[::2] == ("ConfigMap", "cardquota"))
    container = operator["spec"]["template"]["spec"]["containers"][0]
    environment = {one["name"]: one["value"] for one in container["env"] if "value" in one}
    container["env"] = [one for one in container["env"] if "value" not in one]
    settings = yaml.safe_load(stored["data"]["config.yaml"]) or {}
    stored["data"] = settings_from(settings, "config.yaml", environment).model_dump()
    return found


def _plain_pods(template: Object) -> None:
    notes = template["metadata"].get("annotations", {})
    notes.pop("checksum/config", None)
    if not notes:
        template["metadata"].pop("annotations", None)
    for one in template["spec"]["containers"]:
        if one.get("imagePullPolicy") == "IfNotPresent":
            del one["imagePullPolicy"]
        _sortby_name(one.get("env", []))
        _sortby_name(one["ports"])


def _sortby_name(entries: list[Object]) -> None:
    entries.sort(key=lambda one: str(one["name"]))
