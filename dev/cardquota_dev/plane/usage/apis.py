"""The two APIs that the stand-in serves, as group and version."""

from typing import Final

RESOURCE_METRICS: Final = "metrics.k8s.io/v1beta1"
CUSTOM_METRICS: Final = "custom.metrics.k8s.io/v1beta2"
