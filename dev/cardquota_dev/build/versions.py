"""What is built, from where, and with which flags: the parts of the cache's digest.

Only go.mod has the versions. Clients parse the version that the API server reports; a build outside
the Kubernetes tree would report none, so the linker sets it. What only the real node or the chart
needs are sets of their own, so that nobody else waits for them.

The environment variable KUBERNETES chooses the minor version, for every command and every test:
`make demo KUBERNETES=1.33`. Without it the newest is used.
"""

import hashlib
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..failure import PlaneError
from ..paths import (
    CERT_MANAGER_MODULE,
    CNI_MODULE,
    CONTAINERD_MODULE,
    GO_MODULES,
    HELM_MODULE,
    cache,
)


@dataclass(frozen=True)
class BinarySet:
    """Binaries of one Go module that are built together."""

    module: Path
    packages: Mapping[str, str]
    """Go package by name of its binary, in build order."""


VARIABLE: Final = "KUBERNETES"
"""The environment variable that chooses the minor version."""

MINORS: Final = tuple(
    sorted((one.parent.name for one in GO_MODULES.glob("*/go.mod")), key=lambda m: int(m[2:]))
)
"""The minor versions that can be built, the oldest first."""

ETCD_AND_KWOK = BinarySet(
    GO_MODULES / MINORS[-1],
    {"etcd": "go.etcd.io/etcd/server/v3", "kwok": "sigs.k8s.io/kwok/cmd/kwok"},
)
"""Of no version of Kubernetes: built once, for all."""

KUBERNETES: Final = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}
"""The packages of the control plane that are built for each version, by name."""


def chosen(env: Mapping[str, str] = os.environ) -> str:
    """The chosen minor version. Raises PlaneError if it is none that can be built."""
    minor = env.get(VARIABLE) or MINORS[-1]
    if minor not in MINORS:
        raise PlaneError(f"{VARIABLE}={minor} is not one of {', '.join(MINORS)}")
    return minor


def kubernetes(env: Mapping[str, str] = os.environ) -> BinarySet:
    """The control plane of the chosen version, but for etcd. Raises PlaneError."""
    return BinarySet(GO_MODULES / chosen(env), KUBERNETES)


def kubelet() -> BinarySet:
    """The kubelet of the chosen version. Raises PlaneError."""
    return BinarySet(GO_MODULES / chosen(), {"kubelet": "k8s.io/kubernetes/cmd/kubelet"})


_CONTAINERD = "github.com/containerd/containerd/v2/cmd"

CONTAINERD = BinarySet(
    CONTAINERD_MODULE,
    {
        "containerd": f"{_CONTAINERD}/containerd",
        "containerd-shim-runc-v2": f"{_CONTAINERD}/containerd-shim-runc-v2",
        "ctr": f"{_CONTAINERD}/ctr",
        "environment": "./environment",
    },
)

HELM = BinarySet(HELM_MODULE, {"helm": "helm.sh/helm/v3/cmd/helm"})

CERT_MANAGER = BinarySet(CERT_MANAGER_MODULE, {"cert-manager": "."})

_CNI = "github.com/containernetworking/plugins/plugins"

CNI = BinarySet(
    CNI_MODULE,
    {
        "bridge": f"{_CNI}/main/bridge",
        "host-local": f"{_CNI}/ipam/host-local",
        "loopback": f"{_CNI}/main/loopback",
    },
)

COMPILER_FLAGS = ("-trimpath", "-buildvcs=false", "-mod=readonly", "-tags=grpcnotrace,notest")
"""Flags that decide what is compiled; `go list` takes them too."""

_KUBERNETES = re.compile(r"^(?:require)?\s+k8s\.io/kubernetes (v\d+\.\d+\.\d\S*)", re.MULTILINE)


def release(module: Path) -> str:
    """The release of Kubernetes in its go.mod; empty: there is none."""
    found = _KUBERNETES.search((module / "go.mod").read_text())
    return found[1] if found is not None else ""


def linker_flags(module: Path) -> str:
    """The value of `-ldflags`: no symbol tables, and Kubernetes' version if go.mod has one."""
    version = release(module)
    if not version:
        return "-s -w"
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    settings = [
        f"-X {package}.{key}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for key, value in values.items()
    ]
    return " ".join(["-s", "-w", *settings])


def digest(wanted: BinarySet) -> str:
    """The name of one set of binaries. It changes whenever any of their sources changes."""
    module = wanted.module
    parts = [
        (module / "go.mod").read_bytes(),
        (module / "go.sum").read_bytes(),
        repr((COMPILER_FLAGS, linker_flags(module), sorted(wanted.packages.items()))).encode(),
        f"{platform.system()}/{platform.machine()}".encode(),
        *(source.read_bytes() for source in sorted(module.rglob("*.go"))),
    ]
    # With the length of each part, two different lists never give the same text.
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return hashlib.sha256(text).hexdigest()[:16]


def built(wanted: BinarySet) -> Path:
    """The cache's folder for the binaries of the set. It need not exist."""
    return cache() / digest(wanted) / "bin"
