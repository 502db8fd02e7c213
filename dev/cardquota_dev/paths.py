"""Paths that do not belong to one plane: the checkout, the cache."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""The root of the source tree."""

TESTS = CHECKOUT / "tests"
"""The tests, with what they share."""

GO_MODULES = CHECKOUT / "dev" / "controlplane"
"""A Go module for each minor version of Kubernetes: it pins the control plane and the kubelet."""

CONTAINERD_MODULE = CHECKOUT / "dev" / "containerd"
"""The Go module that pins the version of containerd, with the program of the node's one image."""

CERT_MANAGER_MODULE = CHECKOUT / "dev" / "certmanager"
"""The Go module that pins the version of cert-manager, with the program that starts it."""

HELM_MODULE = CHECKOUT / "dev" / "helm"
"""The Go module that pins the version of Helm, which the chart is tried with."""

CNI_MODULE = CHECKOUT / "dev" / "cni"
"""The Go module that pins the version of the plugins that give pods a network."""

DEFAULT_PLANE = CHECKOUT / ".up"
"""The default folder of a plane started by `up`: one per checkout."""

IMAGES = CHECKOUT / "build" / "image"
"""The default folder of images: one per checkout."""


def cache() -> Path:
    """The folder that holds built binaries, one folder per digest. It need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cardquota" / "controlplane"
