"""Which binary is run, in the order that users of envtest expect.

The explicit folder, `TEST_ASSET_<NAME>`, `KUBEBUILDER_ASSETS`, our cache, and last
`/usr/local/kubebuilder/bin`, unless KUBERNETES names a version. Explicit names (the first three)
must exist: a typing error must not silently select another version. `USE_EXISTING_CLUSTER` is not
about binaries: `existing_cluster` reads it, and only test fixtures use that.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from ..build.versions import ETCD_AND_KWOK, KUBERNETES, VARIABLE, built, kubernetes
from ..failure import PlaneError

KUBEBUILDER = Path("/usr/local/kubebuilder/bin")
"""The last place where envtest looks."""

_KUBEBUILDER_BINARIES = frozenset({"etcd", "kube-apiserver", "kubectl"})
_NAMES = (*ETCD_AND_KWOK.packages, *KUBERNETES)


def binary(name: str, *, folder: Path | None = None, env: Mapping[str, str] = os.environ) -> Path:
    """The binary of that name. Raises PlaneError, with what to do, if there is none."""
    if name not in _NAMES:
        raise PlaneError(f"{name} is no part of the control plane")
    if folder is not None:
        return _named(name, folder / name, "--bin-dir")
    variable = f"TEST_ASSET_{name.replace('-', '_').upper()}"
    if env.get(variable):
        return _named(name, Path(env[variable]), variable)
    assets = env.get("KUBEBUILDER_ASSETS")
    # envtest's folder has three of our six binaries, and does not affect the others.
    if assets and (name in _KUBEBUILDER_BINARIES or _runs(Path(assets) / name)):
        return _named(name, Path(assets) / name, "KUBEBUILDER_ASSETS")
    cached = built(kubernetes(env) if name in KUBERNETES else ETCD_AND_KWOK)
    for place in (cached,) if env.get(VARIABLE) else (cached, KUBEBUILDER):
        if _runs(place / name):
            return place / name
    raise PlaneError(f"{name} is not built: run `python -m cardquota_dev build`")


def binaries(*, folder: Path | None = None, env: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """All of them, by name."""
    return {name: binary(name, folder=folder, env=env) for name in _NAMES}


def existing_cluster(env: Mapping[str, str] = os.environ) -> Path | None:
    """The kubeconfig for tests instead of a plane, if `USE_EXISTING_CLUSTER` is true."""
    if env.get("USE_EXISTING_CLUSTER", "").lower() not in {"1", "true", "yes"}:
        return None
    path = env.get("KUBECONFIG")
    if not path:
        raise PlaneError("USE_EXISTING_CLUSTER needs KUBECONFIG")
    return Path(path)


def _named(name: str, path: Path, by: str) -> Path:
    if not _runs(path):
        raise PlaneError(f"{by} names {path} for {name}, which is not an executable file")
    return path


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
