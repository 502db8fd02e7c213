"""CustomResourceDefinitions of other projects, out of their Go modules.

Guarantees: the file is the one of the pinned version and checksum, or there is none. It is kept in
the cache, so that Go and the module proxy are needed the first time only.
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..failure import PlaneError
from ..paths import cache
from .toolchain import environment, go

_TIMEOUT = 300.0


@dataclass(frozen=True)
class ForeignDefinition:
    """A file of a Go module."""

    module: str
    version: str
    checksum: str
    """Of the whole module, as go.sum writes it."""
    path: str
    """Of the file, in the module."""


JOB_SET = ForeignDefinition(
    "sigs.k8s.io/jobset",
    "v0.8.2",
    "h1:WC5a5G7MqfJJy4p+6OxGMpfbB90KoDSay96Mc4yMMZM=",
    "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
)
PYTORCH_JOB = ForeignDefinition(
    "github.com/kubeflow/training-operator",
    "v1.9.3",
    "h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc=",
    "manifests/base/crds/kubeflow.org_pytorchjobs.yaml",
)

_CERT_MANAGER = (
    "github.com/cert-manager/cert-manager",
    "v1.21.2",
    "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
)
CERTIFICATE = ForeignDefinition(*_CERT_MANAGER, "deploy/crds/cert-manager.io_certificates.yaml")
REQUEST = ForeignDefinition(*_CERT_MANAGER, "deploy/crds/cert-manager.io_certificaterequests.yaml")
ISSUER = ForeignDefinition(*_CERT_MANAGER, "deploy/crds/cert-manager.io_issuers.yaml")


def definition_file(wanted: ForeignDefinition) -> Path:
    """The file, downloaded if it is not there yet. Raises PlaneError if it cannot be had."""
    folder = cache().parent / "definitions" / wanted.checksum.encode().hex()
    kept = folder / Path(wanted.path).name
    if not kept.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        found = (_downloaded(wanted) / wanted.path).read_bytes()
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as scratch:
            scratch.write(found)
        Path(scratch.name).rename(kept)  # whole or not at all
    return kept


def _downloaded(wanted: ForeignDefinition) -> Path:
    """The folder of the module in Go's own cache, its checksum compared."""
    named = f"{wanted.module}@{wanted.version}"
    with tempfile.TemporaryDirectory() as nowhere:  # no go.mod here: it is nobody's dependency
        done = subprocess.run(
            [str(go()), "mod", "download", "-json", named],
            cwd=nowhere,
            env=environment() | {"GOSUMDB": "off"},  # the checksum is pinned here
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    if done.returncode != 0:
        raise PlaneError(f"go mod download {named} failed:\n{done.stdout}{done.stderr}".rstrip())
    found = json.loads(done.stdout)
    if found["Sum"] != wanted.checksum:
        raise PlaneError(f"{named}: the checksum is {found['Sum']} and not {wanted.checksum}")
    return Path(found["Dir"])
