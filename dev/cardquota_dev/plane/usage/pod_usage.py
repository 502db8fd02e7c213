"""What one pod uses: what it says, else what its namespace says, else what it requests."""

from collections.abc import Callable
from dataclasses import dataclass

from cardquota.quota.amounts import Quantity, QuantityError, milli, whole
from cardquota.quota.objects.pod import Resources

from .annotation import CPU, MEMORY, StatedUsage
from .objects import NamedContainer, UsagePod


@dataclass(frozen=True)
class ContainerUsage:
    """What one container uses."""

    name: str
    cpu: int
    """Thousandths of a core."""
    memory: int
    """Bytes."""


def is_measured(pod: UsagePod) -> bool:
    """Whether the pod uses anything: it runs. One that is being deleted still does."""
    return pod.status.phase == "Running"


def containers(pod: UsagePod, said: StatedUsage) -> list[ContainerUsage]:
    """What its containers use, sidecars too. `said`: by the pod, then by its namespace.

    Each uses what it requests, and nothing where it requests nothing. What is said of the pod, or
    requested for the pod as a whole, is not divided: the first container uses all of it.
    """
    running = [
        *pod.spec.containers,
        *(one for one in pod.spec.init_containers if one.restart_policy == "Always"),
    ]
    cpu = _by_container(CPU, milli, said.cpu, pod, running)
    memory = _by_container(MEMORY, whole, said.memory, pod, running)
    names = (one.name for one in running)
    return [ContainerUsage(*row) for row in zip(names, cpu, memory, strict=True)]


def _by_container(
    name: str,
    read: Callable[[Quantity], int],
    said: int | None,
    pod: UsagePod,
    running: list[NamedContainer],
) -> list[int]:
    whole_pod = _request(name, read, pod.spec.resources) if said is None else said
    if whole_pod is None:
        return [_request(name, read, one.resources) or 0 for one in running]
    return [whole_pod, *(0 for _ in running[1:])]


def _request(name: str, read: Callable[[Quantity], int], resources: Resources | None) -> int | None:
    """None if there is no such request, or one too large to be counted."""
    requested = ((resources and resources.requests) or {}).get(name)
    try:
        return None if requested is None else read(requested)
    except QuantityError:
        return None
