"""P1: a pod asks for containers plus sidecars, at least each init step, plus overhead."""

from typing import Any

import pytest

from builders import GPU, a_pod
from cardquota.quota import QuantityError
from cardquota.quota.pods import pod_totals


def container(*, always: bool = False, requests: Any = None, **limits: Any) -> dict[str, Any]:
    """A container with limits by short name: gpu, cpu, memory; `always` makes it a sidecar."""
    named = {GPU if name == "gpu" else name: amount for name, amount in limits.items()}
    found: dict[str, Any] = {"resources": {"limits": named, "requests": requests or {}}}
    return {**found, "restartPolicy": "Always"} if always else found


def test_p1_parts_of_a_byte_are_added_up_before_they_are_rounded() -> None:
    def memory(*amounts: str) -> int:
        containers = [container(requests={"memory": amount}) for amount in amounts]
        return pod_totals(a_pod().with_spec(containers=containers).wire().spec).memory

    assert memory("1500m", "1500m") == 3
    assert memory("1500m", "1m") == 2
    assert memory("7Ei", "500m") == 7 * 2**60 + 1


def test_p1_a_limit_at_pod_level_counts_only_where_no_container_names_the_resource() -> None:
    level = {"limits": {"cpu": "5", "memory": "2Gi"}}
    spec = a_pod().with_cpu("1").with_spec(resources=level).wire().spec
    assert pod_totals(spec)[1:] == (1_000, 2 * 2**30)
    spec = a_pod().with_cpu("0").with_spec(resources=level).wire().spec
    assert pod_totals(spec).cpu == 0
    step = container(memory="1Gi")
    spec = a_pod().with_spec(initContainers=[step], resources=level).wire().spec
    assert pod_totals(spec)[1:] == (5_000, 2**30)


def test_p7_only_extended_resources_are_devices() -> None:
    spec = (
        a_pod()
        .with_cpu("1")
        .asking_for(1)
        .asking_for(0, "nvidia.com/gpu.shared")
        .asking_for(2, "rdma/hca")
        .asking_for(3, "attachable-volumes.kubernetes.io/disk")
        .asking_for(4, "kubernetes.io/thing")
        .asking_for("1Gi", "ephemeral-storage")
        .wire()
        .spec
    )
    assert pod_totals(spec).devices == ((GPU, 1), ("rdma/hca", 2))


@pytest.mark.parametrize("amount", ["-1", "0.5", "many", "1e400"])
def test_p4_an_amount_that_cannot_be_counted_is_an_error_that_names_the_resource(
    amount: str,
) -> None:
    with pytest.raises(QuantityError, match=f"resource {GPU}"):
        pod_totals(a_pod().asking_for(amount).wire().spec)
