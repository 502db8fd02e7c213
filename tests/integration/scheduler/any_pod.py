"""Pods of every shape that asks for something: seeded, valid by construction, as people write them.

What Kubernetes allows and nobody would write is in: amounts of zero, a limit without a request,
thousandths of a byte, cards written as `1000m`.
"""

import random
from collections.abc import Iterator
from typing import Any

from builders import GPU

XPU = "example.com/xpu"

Amount = str | int | float
Amounts = dict[str, Amount]

# Each in ascending order, so that a request is never above its limit.
_CPU: tuple[Amount, ...] = (
    *("0", "1m", "100m", "0.1", "1e-1", 0.25, "1500m", 2, "3", "1E3", "12k"),
)
_FINE_CPU: tuple[Amount, ...] = ("0", "1u", "0.0005", *_CPU[1:])
"""Parts of a milli-core are rounded up one by one. Not beside a request at pod level: that is
worked out before they are, is then too small, and the API server refuses the pod."""
_MEMORY: tuple[Amount, ...] = (
    *("0", "1m", "1500m", "2500m", "10", "0.5Ki", 700, "1k", "1.5Ki", "1e6", "123Mi"),
    *("128974848000m", "129M", "1G", "1.5Gi"),
)
_FINE_MEMORY: tuple[Amount, ...] = ("0", "100n", "1u", *_MEMORY[1:])
_HUGE_MEMORY: tuple[Amount, ...] = (*("0", "12Gi", "1Ti", "16T", "1P", "1Pi", "1e18", "1E", "1Ei"),)
"""Whole 32Ki: so far up a float holds whole bytes no more."""
_CARDS: tuple[tuple[str | int, ...], ...] = ((0, "0"), (1, "1", "1000m"), (3, "3"), ("10", "1e1"))
"""Of each, ways to write the same number: the API server wants request and limit to be equal."""

# At pod level: above whatever the containers come to, as the API server demands. Powers of two that
# are large or broken (`1Ei`, `1.5Gi`) do not meet an overhead here: kube-scheduler 1.36 then adds
# the overhead to its copy of the pod, anew each time it looks.
_LEVEL_CPU = ("100k", "2e5")
_LEVEL_MEMORY = ("50G", "60e9")
_HUGE_LEVEL_MEMORY = ("9E", "9e18")
_SMALL_LEVEL_CPU = ("0", "100m", "4")
_SMALL_LEVEL_MEMORY = ("0", "1500m", "64Mi")
"""Where no container names the resource."""


def any_spec(chance: random.Random, runtime_classes: tuple[str, ...]) -> dict[str, Any]:
    """A pod's specification; some have the overhead of one of the runtime classes."""
    level, huge = chance.random() < 0.35, chance.random() < 0.15
    cpu = _CPU if level else _FINE_CPU
    memory = _HUGE_MEMORY if huge else _MEMORY if level else _FINE_MEMORY
    texts = (("cpu", cpu), ("memory", memory))
    containers = [_container(chance, f"c{n}", texts) for n in range(chance.randint(1, 3))]
    steps = [_container(chance, f"i{n}", texts) for n in range(chance.choice((0, 0, 1, 2, 3)))]
    for step in steps:
        if chance.random() < 0.5:
            step["restartPolicy"] = "Always"
    spec: dict[str, Any] = {"containers": containers}
    if steps:
        spec["initContainers"] = steps
    if level:
        spec["resources"] = _level(chance, [*containers, *steps], huge=huge)
    if chance.random() < 0.25 and not (level and huge):
        spec["runtimeClassName"] = chance.choice(runtime_classes)
    return spec


def _container(
    chance: random.Random, name: str, texts: tuple[tuple[str, tuple[Amount, ...]], ...]
) -> Any:
    limits: Amounts = {}
    requests: Amounts = {}
    for resource, ways in texts:
        low, high = sorted(chance.randrange(len(ways)) for _ in range(2))
        if chance.random() < 0.5:
            limits[resource] = ways[high]
        if chance.random() < 0.6:
            requests[resource] = ways[low]
    for resource, share in ((GPU, 0.5), (XPU, 0.15)):
        if chance.random() < share:
            same = chance.choice(_CARDS)
            limits[resource] = chance.choice(same)
            if chance.random() < 0.5:
                requests[resource] = chance.choice(same)
    found = {"limits": limits, "requests": requests}
    written = {what: amounts for what, amounts in found.items() if amounts}
    return {"name": name, "image": "i", **({"resources": written} if written else {})}


def _level(chance: random.Random, containers: list[Any], *, huge: bool) -> dict[str, Amounts]:
    """Amounts of the pod as a whole: of cpu, of memory or of both; request, limit or both."""
    found: dict[str, Amounts] = {"limits": {}, "requests": {}}
    for resource, large, small in (
        ("cpu", _LEVEL_CPU, _SMALL_LEVEL_CPU),
        ("memory", _HUGE_LEVEL_MEMORY if huge else _LEVEL_MEMORY, _SMALL_LEVEL_MEMORY),
    ):
        free = not any(resource in amounts for amounts in _written(containers))
        texts = small if free and chance.random() < 0.7 else large
        low, high = sorted(chance.randrange(len(texts)) for _ in range(2))
        for what, text in (("requests", texts[low]), ("limits", texts[high])):
            if chance.random() < 0.5:
                found[what][resource] = text
    return {what: amounts for what, amounts in found.items() if amounts}


def _written(containers: list[Any]) -> Iterator[Amounts]:
    for container in containers:
        yield from container.get("resources", {}).values()
