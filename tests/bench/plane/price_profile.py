"""Where the API server's processor time for a pod goes: the profile of it, in milliseconds a pod.

The planes and the lives of `price`. While pods of one kind live on one plane, the API server writes
a profile of itself (`/debug/pprof/profile`). Each of its stacks belongs to the first kind of work
below that it names; the figure is that kind's part of all samples, times the processor time of a
pod until it runs. Garbage is collected for all of them, and stands by itself.
"""

import asyncio
import re
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from cardquota_dev.build.toolchain import go
from cardquota_dev.plane.discovery import binary
from cardquota_dev.testing import Cluster

from ..figure import Figure, Report
from ..processes.crowd import Crowd
from ..processes.pod_price import PricedPlane
from . import price

_SECONDS: Final = 15
_ADMISSION: Final = "k8s.io/apiserver/pkg/admission/plugin"
_KINDS: Final[Mapping[str, str]] = {
    "garbage collection": r"gcBgMarkWorker|runtime\.gcStart|bgsweep|bgscavenge",
    "conditions of webhooks": rf"{_ADMISSION}/webhook/generic.*ShouldCallHook",
    "calls of webhooks": rf"{_ADMISSION}/webhook/(mutating|validating)",
    "the policy that sets the gate": rf"{_ADMISSION}/policy/mutating",
    "policies about a create": rf"(?s){_ADMISSION}/policy/validating.*Store\)\.create",
    "policies about a Binding": rf"(?s){_ADMISSION}/policy/validating.*BindingREST",
    "policies about other writes": rf"{_ADMISSION}/policy/validating",
    "other admission": r"k8s\.io/apiserver/pkg/admission|plugin/pkg/admission",
    "managed fields": r"managedfields",
    "watches": r"WatchServer|handlers\.handleWatch|watchEncoder|etcd3\.\(\*watchChan",
    "storage, with patching": r"apiserver/pkg/storage|go\.etcd\.io|google\.golang\.org/grpc",
    "HTTP, TLS, filters": r"net/http|crypto/tls|apiserver/pkg/(server|endpoints)",
    "all else": "",
}
"""What a stack names, from the most particular to all."""

_VARIANTS: Final = tuple(
    variant for variant in price.VARIANTS if variant.mode == price.VARIANTS[0].mode
)


def run(report: Report) -> None:
    """All figures."""
    with tempfile.TemporaryDirectory() as name, price.planes(Path(name)) as clusters:
        asyncio.run(_measure(clusters, Path(name), report))


async def _measure(clusters: Mapping[str, Cluster], folder: Path, report: Report) -> None:
    async with AsyncExitStack() as stack:
        for number, variant in enumerate(_VARIANTS):
            cluster = clusters[variant.plane]
            plane = PricedPlane(cluster, await stack.enter_async_context(Crowd(cluster)))
            await price.life(plane, variant, f"warm-{number}")
            file = folder / f"profile-{number}"
            lives = await _while_profiled(plane, variant, file, f"profiled-{number}")
            cost = sum(life.price for life in lives) / len(lives)
            samples = await asyncio.to_thread(_samples, file)
            report(Figure(f"{variant.said}: API server, until it runs", cost, "ms"))
            for kind in _KINDS:
                part = samples[kind] / sum(samples.values())
                report(Figure(f"{variant.said}: {kind}", part * cost, "ms"))


async def _while_profiled(
    plane: PricedPlane, variant: price.Variant, file: Path, name: str
) -> list[price.Life]:
    lives: list[price.Life] = []
    profile = asyncio.create_task(asyncio.to_thread(_profile, plane.cluster, file))
    while not profile.done():
        lives.append(await price.life(plane, variant, f"{name}-{len(lives)}"))
    await profile
    return lives


def _profile(cluster: Cluster, file: Path) -> None:
    path = f"/debug/pprof/profile?seconds={_SECONDS}"
    command = [str(cluster.binary), f"--kubeconfig={cluster.kubeconfig}", "get", "--raw", path]
    file.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def _samples(file: Path) -> dict[str, float]:
    """Milliseconds of each kind of work in a profile. An empty one is an error."""
    command = [str(go()), "tool", "pprof", "-traces", str(binary("kube-apiserver")), str(file)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = dict.fromkeys(_KINDS, 0.0)
    for block in re.split(r"^-+\+-+$", text, flags=re.MULTILINE)[1:]:
        first = re.match(r"\s*([\d.]+)(us|ms|s)\s", block)
        if first is not None:
            amount = float(first[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[first[2]]
            found[next(kind for kind, named in _KINDS.items() if re.search(named, block))] += amount
    if not sum(found.values()):
        raise RuntimeError("the profile of the API server has no samples")
    return found
