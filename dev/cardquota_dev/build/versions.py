"""What is built, from where, and under which flags: the parts of the cache's digest.

Versions stand in go.mod alone. The clients parse the version that the API server reports, and
a build outside the Kubernetes tree would report none, so the linker sets it.
"""

import hashlib
import platform
import re
from pathlib import Path

from ..failure import PlaneError
from ..paths import GO_MODULE, cache

PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
}
"""Go package by the name of its binary, in the order they are built."""

COMPILER_FLAGS = ("-trimpath", "-buildvcs=false", "-mod=readonly", "-tags=grpcnotrace,notest")
"""Flags that decide what is compiled; `go list` takes them too."""

_KUBERNETES = re.compile(r"^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d\S*)", re.MULTILINE)


def linker_flags(module: Path = GO_MODULE) -> str:
    """The value of `-ldflags`: no symbol tables, and the version that go.mod names."""
    found = _KUBERNETES.search((module / "go.mod").read_text())
    if found is None:
        raise PlaneError(f"{module / 'go.mod'} names no version of k8s.io/kubernetes")
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


def digest(module: Path = GO_MODULE) -> str:
    """Names one set of binaries: it changes when anything changes that they are made from."""
    parts = [
        (module / "go.mod").read_bytes(),
        (module / "go.sum").read_bytes(),
        repr((COMPILER_FLAGS, linker_flags(module), sorted(PACKAGES.items()))).encode(),
        f"{platform.system()}/{platform.machine()}".encode(),
    ]
    # The length of each part keeps two different lists from reading the same.
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return hashlib.sha256(text).hexdigest()[:16]


def built(module: Path = GO_MODULE) -> Path:
    """The cache's folder for today's binaries. It need not exist."""
    return cache() / digest(module) / "bin"
