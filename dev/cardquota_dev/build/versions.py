"""What is built, from where, and with which flags: the parts of the cache's digest.

Only go.mod has the versions. Clients parse the version that the API server reports; a build outside
the Kubernetes tree would report none, so the linker sets it. What only the real node needs are sets
of their own, so that nobody else waits for them.
"""

import hashlib
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..paths import CNI_MODULE, CONTAINERD_MODULE, GO_MODULE, cache


@dataclass(frozen=True)
class BinarySet:
    """Binaries of one Go module that are built together."""

    module: Path
    packages: Mapping[str, str]
    """Go package by name of its binary, in build order."""


CONTROL_PLANE = BinarySet(
    GO_MODULE,
    {
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    },
)

KUBELET = BinarySet(GO_MODULE, {"kubelet": "k8s.io/kubernetes/cmd/kubelet"})

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

_KUBERNETES = re.compile(r"^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d\S*)", re.MULTILINE)


def linker_flags(module: Path = GO_MODULE) -> str:
    """The value of `-ldflags`: no symbol tables, and Kubernetes' version if go.mod has one."""
    found = _KUBERNETES.search((module / "go.mod").read_text())
    if found is None:
        return "-s -w"
    version, major, minor = found.groups()
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


def digest(wanted: BinarySet = CONTROL_PLANE) -> str:
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


def built(wanted: BinarySet = CONTROL_PLANE) -> Path:
    """The cache's folder for the present binaries. It need not exist."""
    return cache() / digest(wanted) / "bin"
