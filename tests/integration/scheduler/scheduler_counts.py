"""What kube-scheduler says that each pod asks for: its own page of metrics, `/metrics/resources`.

The page comes from the function that also decides whether a pod fits a node. It has a row per pod
and resource, none for an amount of zero, and none for pods that have ended. Gated pods and those
without a node are on it.
"""

from collections.abc import Mapping
from fractions import Fraction

from prometheus_client.parser import text_string_to_metric_families

from cardquota_dev.testing import Cluster

from ..asking import credentials

_REQUEST = "kube_pod_resource_request"


def scheduler_counts(cluster: Cluster, namespace: str) -> dict[str, dict[str, float]]:
    """By pod and resource, for the pods of a namespace; cores, bytes, pieces."""
    address = cluster.state.process("kube-scheduler").address
    answer = cluster.admin.rest_client.pool_manager.request(
        "GET", f"{address}/metrics/resources", headers=credentials(cluster), timeout=30.0
    )
    assert answer.status == 200, answer.data
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(answer.data.decode()):
        for sample in family.samples:
            if sample.name == _REQUEST and sample.labels["namespace"] == namespace:
                row = found.setdefault(sample.labels["pod"], {})
                row[sample.labels["resource"]] = sample.value
    return found


def in_milli_cores(counts: Mapping[str, float]) -> int:
    """The API server keeps cpu in whole milli-cores; the page has cores, a float that is within
    some parts in 2**53 of them: rounding finds the whole number again, up to 10**12 cores.
    """
    return round(Fraction(counts.get("cpu", 0)) * 1000)


def in_bytes(counts: Mapping[str, float]) -> int:
    """Bytes, rounded up as the scheduler does when it compares.

    The API server keeps memory in whole thousandths of a byte, and below 2**40 bytes the float is
    near enough to find them again. Larger amounts are exact if they were whole multiples of 32Ki.
    """
    value = Fraction(counts.get("memory", 0))
    if value < 2**40:
        return -(-round(value * 1000) // 1000)
    return round(value / 2**15) * 2**15


def devices(counts: Mapping[str, float]) -> tuple[tuple[str, int], ...]:
    """Extended resources, sorted by name."""
    return tuple(sorted((name, int(value)) for name, value in counts.items() if "/" in name))
