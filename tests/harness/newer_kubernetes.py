"""Tests that need a newer Kubernetes than the oldest: `@pytest.mark.newer_kubernetes(WHAT)`.

WHAT is a name of the product's table, or of what only tests need. On an older Kubernetes such a
test is skipped, and the reason names what is missing and since when it is there.
"""

from collections.abc import Mapping
from typing import Final

import pytest

from cardquota.install.kubernetes_versions import FEATURES, KubernetesVersion
from cardquota_dev.build.versions import chosen

DEVICE_CLAIMS: Final = "device claims (resource.k8s.io/v1)"
DEVICE_CLASSES_AS_RESOURCES: Final = "device classes asked for as a resource"
HEALTH_OF_DEVICES: Final = "the health of devices in a pod's status"
POD_LEVEL_RESOURCES: Final = "what a pod itself asks for"
_SINCE: Final[Mapping[str, KubernetesVersion]] = {
    **{name: one.since for name, one in FEATURES.items()},
    DEVICE_CLAIMS: KubernetesVersion(1, 34),
    DEVICE_CLASSES_AS_RESOURCES: KubernetesVersion(1, 36),
    HEALTH_OF_DEVICES: KubernetesVersion(1, 36),
    POD_LEVEL_RESOURCES: KubernetesVersion(1, 34),
}


@pytest.hookimpl(tryfirst=True)  # before the fixtures, which would need it
def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("newer_kubernetes"):
        (what,) = mark.args
        major, minor = map(int, chosen().split("."))
        if KubernetesVersion(major, minor) < _SINCE[what]:
            pytest.skip(f"{what} needs Kubernetes {_SINCE[what]}")
