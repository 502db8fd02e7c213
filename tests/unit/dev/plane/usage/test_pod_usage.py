import pytest

from cardquota.quota.objects import Resources
from cardquota_dev.plane.usage.annotation import StatedUsage
from cardquota_dev.plane.usage.objects import (
    NamedContainer,
    UsageMeta,
    UsagePod,
    UsageSpec,
    UsageStatus,
)
from cardquota_dev.plane.usage.pod_usage import ContainerUsage, containers, is_measured


def a_container(name: str, *, restarts: str | None = None, **requests: str) -> NamedContainer:
    resources = Resources(requests=dict(requests)) if requests else None
    return NamedContainer(name=name, resources=resources, restart_policy=restarts)


def a_pod(*found: NamedContainer, init: tuple[NamedContainer, ...] = (), **whole: str) -> UsagePod:
    resources = Resources(requests=dict(whole)) if whole else None
    spec = UsageSpec(containers=found, init_containers=init, resources=resources)
    return UsagePod(metadata=UsageMeta(name="p"), spec=spec)


MAIN, LOGS = a_container("main", cpu="2", memory="1Gi"), a_container("logs", cpu="100m")


def test_a_busy_pod_uses_what_its_containers_request() -> None:
    assert containers(a_pod(MAIN, LOGS), StatedUsage()) == [
        ContainerUsage("main", 2_000, 2**30),
        ContainerUsage("logs", 100, 0),
    ]


def test_what_is_said_is_all_of_the_pod() -> None:
    assert containers(a_pod(MAIN, LOGS), StatedUsage(cpu=1)) == [
        ContainerUsage("main", 1, 2**30),
        ContainerUsage("logs", 0, 0),
    ]


def test_what_the_pod_requests_as_a_whole_is_what_it_uses() -> None:
    found = containers(a_pod(LOGS, a_container("main"), cpu="4"), StatedUsage())
    assert found == [ContainerUsage("logs", 4_000, 0), ContainerUsage("main", 0, 0)]


def test_of_init_containers_only_sidecars_run_on() -> None:
    init = a_container("prepare", cpu="8"), a_container("proxy", restarts="Always", cpu="1")
    found = containers(a_pod(MAIN, init=init), StatedUsage())
    assert [(one.name, one.cpu) for one in found] == [("main", 2_000), ("proxy", 1_000)]


def test_a_request_too_large_to_be_counted_counts_as_none() -> None:
    assert containers(a_pod(a_container("main", cpu="9E")), StatedUsage())[0].cpu == 0


@pytest.mark.parametrize("phase", ["", "Pending", "Succeeded", "Failed"])
def test_only_a_running_pod_uses_anything(phase: str) -> None:
    pod = a_pod(MAIN)
    pod.status = UsageStatus(phase=phase)
    assert not is_measured(pod)
    pod.status = UsageStatus(phase="Running")
    assert is_measured(pod)
