"""One run from the plane to the verdict."""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import yaml

from cardquota_dev.testing import Cluster, running_plane

from .api import Api
from .breakages.breaker import Breaker, NotThereError
from .breakages.broken import BREAKAGES
from .clients import memory_objects, objects, volcano_objects
from .clients.clients import WorkloadClient
from .clients.everybody import all_clients
from .clients.memory_clients import put_nodes_right
from .clients.objects import SUPERIOR, URGENT
from .clients.steady import Steady
from .clients.updates import wake_the_sleepers
from .faults.schedule import Kills, everything_else
from .history import History
from .judging.agreement import disagreements
from .judging.refused_late import RefusedLate
from .judging.verdicts import RESERVATION_TIMEOUT
from .lengths import RECLAIM, Lengths, beside_volcano
from .report import HISTORY, Beside, Report, copied, judged, write
from .scene import REPLICAS, Scene
from .volcano_side import PERIOD, VolcanoSide, volcano_side
from .way import Way

_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
_MOST_QUIET = 10
"""Times the quiet that is given even if something still changes."""
_BROKE = "broke"
"""The file in which replicas write what was broken, a line each time."""
_TESTS = Path(__file__).resolve().parents[1]
_BESIDE_VOLCANO = {
    "crds": "volcano",
    "volcano": volcano_objects.SCHEDULER_NAMESPACE,
    "volcano_asks": True,
    "volcano_period": PERIOD,
}
"""What a plane has instead of an extender. The definitions are Volcano's own."""
_REPLICA = ("env", f"PYTHONPATH={_TESTS}", sys.executable, "-m", "chaos.replica")


def run(
    lengths: Lengths,
    seed: int,
    breakage: str = "",
    folder: Path | None = None,
    *,
    volcano: bool = False,
) -> Report:
    """Start a plane, have everything go wrong on it, and judge what happened.

    `folder`: where the plane and the history are; a temporary one if None. Of that the history is
    kept, and what it is judged by, if something is found in it that nobody broke. `volcano`: it
    schedules too, and no extender is asked.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="cardquota-chaos-") as temporary:
            report = run(lengths, seed, breakage, Path(temporary), volcano=volcano)
            if report.findings and not breakage:
                kept = Path(tempfile.mkdtemp(prefix="cardquota-chaos-found-"))
                report.kept = str(copied(Path(temporary), kept))
            return report
    lengths = beside_volcano(lengths) if volcano else lengths
    lengths = BREAKAGES[breakage].focus(lengths) if breakage else lengths
    return asyncio.run(_run(lengths, seed, breakage, folder, volcano=volcano))


async def _run(
    lengths: Lengths, seed: int, breakage: str, folder: Path, *, volcano: bool
) -> Report:
    expected = labels_of(breakage)
    ways = [Way() for _ in range(2 * REPLICAS)]
    for way in ways:
        await way.start()
    config = folder / "config.yaml"
    # Its clients share cards without queues.
    extender = {"memoryNeedsQuota": False}
    reclaim = {} if volcano else RECLAIM
    config.write_text(yaml.safe_dump({"extender": extender, **reclaim, **lengths.config}))
    ports = ",".join(str(way.port) for way in ways)
    plane = running_plane(
        folder / "plane",
        replicas=REPLICAS,
        config=config,
        product=(*_REPLICA, ports, breakage or "-", str(folder / _BROKE)),
        store_json=True,
        **(_BESIDE_VOLCANO if volcano else {"extender": True}),
    )
    aim = asyncio.create_task(_aim(ways, folder / "plane" / "kubeconfig-product"))
    # The plane is waited for in a thread: its replicas need our ways to come up.
    cluster = await asyncio.to_thread(plane.__enter__)
    try:
        await aim
        assert cluster.folder is not None
        side = volcano_side(cluster) if volcano else None
        async with Api(cluster.kubeconfig) as api, _asking(side, api):
            report = await _on(cluster, api, ways, side, lengths, seed, breakage, folder)
            found = report.run
            found.invalid = found.invalid or never_broken(folder / _BROKE, expected, found.tally)
            return report
    finally:
        for way in ways:
            await way.stop()
        await asyncio.to_thread(plane.__exit__, None, None, None)


def labels_of(breakage: str) -> list[str]:
    """What it replaces. Errors: NotThereError, before anything is started."""
    if not breakage:
        return []
    with Breaker() as breaker:
        BREAKAGES[breakage].apply(breaker)
        return breaker.labels


def never_broken(file: Path, expected: list[str], tally: dict[str, int]) -> str:
    """Why the run says nothing of its breakage: what it takes out was never asked for."""
    broke = Counter(file.read_text().splitlines() if file.exists() else ())
    for label in expected:
        tally[f"broken: {label}"] = broke[label]
    missing = [label for label in expected if not broke[label]]
    return f"never broken: {', '.join(missing)}" if missing else ""


@asynccontextmanager
async def _asking(side: VolcanoSide | None, api: Api) -> AsyncIterator[None]:
    """For as long as the block runs Volcano, if it is there, asks by our way."""
    if side is None:
        yield
        return
    await side.start()
    try:
        yield
    finally:
        await side.stop()


async def _aim(ways: list[Way], kubeconfig: Path) -> None:
    """Point the ways at the API server as soon as it is known where it listens."""
    while not kubeconfig.exists():
        await asyncio.sleep(0.05)
    async with Api(kubeconfig) as api:
        for way in ways:
            way.target = int(api.server.rpartition(":")[2])


async def _on(
    cluster: Cluster,
    api: Api,
    ways: list[Way],
    side: VolcanoSide | None,
    lengths: Lengths,
    seed: int,
    breakage: str,
    folder: Path,
) -> Report:
    tally: Counter[str] = Counter()
    steady = Steady(api, tally)
    dice = Random(f"{seed}/faults")
    scene = Scene(cluster, api, ways[::2], ways[1::2], steady, dice, tally, side)
    await _furnish(scene)
    without = BREAKAGES[breakage].without if breakage else ()
    for binding in without:
        reply = await api.delete(f"{_BINDINGS}/{binding}")
        if not reply.ok:
            raise NotThereError(f"binding {binding} cannot be taken away: {reply.message}")
    await scene.until_deciding()
    late = RefusedLate(api)
    with History(
        cluster.state.process("etcd").address, objects.NAMESPACE, folder / HISTORY
    ) as history:
        looking = asyncio.create_task(late.run())
        clients = await _trouble(scene, lengths, seed, breakage)
        remaining = await _quiet(scene, lengths)
        looking.cancel()
        await late.look()
        complete = await history.complete()
        back = [one for one in without if (await api.get(f"{_BINDINGS}/{one}")).code != 404]
    invalid = history.failure or ("" if complete else "the history is not complete")
    if back and not invalid:
        invalid = f"somebody made {', '.join(back)} again: it was not as broken as it should"
    beside = Beside(
        seed=seed,
        breakage=breakage,
        kills=lengths.kills,
        wanted=lengths.wanted,
        tally=tally,
        remaining=[*scene.found, *remaining],
        refused_late=late.count,
        happened=scene.happened,
        troubles=scene.troubles,
        denials=[denial for client in clients for denial in client.denials],
        reservation_timeout=lengths.config.get("reservationTimeout", RESERVATION_TIMEOUT),
        longest_pause=lengths.longest_pause,
        volcano=side is not None,
        invalid=invalid,
    )
    write(folder, beside)
    return judged(folder)


async def _furnish(scene: Scene) -> None:
    api = scene.api
    await api.create("/api/v1/namespaces", {"metadata": {"name": objects.NAMESPACE}})
    sharing = memory_objects.SHARING if scene.volcano is None else {}
    for name, card in objects.CARD_OF_NODE.items():
        if name not in sharing:
            await api.create("/api/v1/nodes", objects.node(name, card))
    for name, cards in sharing.items():
        await api.create("/api/v1/nodes", memory_objects.sharing_node(name, cards))
    for priority, preempts in ((URGENT, "Never"), (SUPERIOR, "PreemptLowerPriority")):
        await api.create(objects.PRIORITIES, objects.priority_class(priority, preempts))
    others = volcano_objects.JOB_QUEUES if scene.volcano is not None else objects.LENDING_QUEUES
    queues = {**objects.QUEUES, **others}
    for name in queues:
        while not (await api.create(objects.QUEUE_PATH, objects.queue(name, queues))).ok:
            await asyncio.sleep(0.2)
    account = f"/api/v1/namespaces/{objects.NAMESPACE}/serviceaccounts/default"
    while not (await api.get(account)).ok:
        await asyncio.sleep(0.1)


async def _trouble(
    scene: Scene, lengths: Lengths, seed: int, breakage: str
) -> list[WorkloadClient]:
    """Clients at work while things go wrong."""
    broken = BREAKAGES.get(breakage)
    kills = Kills(scene, lengths, f"{seed}/kills", only=broken.kill if broken else "")
    volcano = scene.volcano is not None
    clients = all_clients(scene.api, seed, scene.tally, volcano=volcano)
    working = [asyncio.create_task(client.run()) for client in (*clients, scene.steady)]
    over = asyncio.Event()
    faults = [
        asyncio.create_task(kills.run(over)),
        asyncio.create_task(everything_else(scene, lengths, f"{seed}/schedule", kills, over)),
    ]
    begun = time.monotonic()
    try:
        while not _enough(time.monotonic() - begun, kills, lengths, scene.tally):
            for task in (*working, *faults):
                if task.done():
                    task.result()  # none of them ends by itself
            await asyncio.sleep(0.2)
        over.set()
        await asyncio.gather(*faults)
    finally:
        for task in (*working, *faults):
            task.cancel()
        ends = await asyncio.gather(*working, *faults, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end
    scene.tally["seconds"] = round(time.monotonic() - begun)
    return clients


def _enough(spent: float, kills: Kills, lengths: Lengths, tally: Counter[str]) -> bool:
    """Whether the run has lasted as long as it should."""
    lacks = kills.count < lengths.kills or not all(tally[name] for name in lengths.wanted)
    return spent >= lengths.seconds * (1 + (lengths.overtime if lacks else 0))


async def _quiet(scene: Scene, lengths: Lengths) -> list[str]:
    """What is still not as it must be after some quiet; as soon as nothing is, empty.

    The quiet lasts while what is found changes: how fast things go on is the machine's matter.
    """
    await scene.until_served()
    if scene.volcano is None:
        await put_nodes_right(scene.api)
    await wake_the_sleepers(scene.api)
    await scene.until_deciding()
    began = changed = time.monotonic()
    before: list[str] = []
    while found := await disagreements(scene):
        now = time.monotonic()
        changed = now if found != before else changed
        if now - changed > lengths.quiet or now - began > _MOST_QUIET * lengths.quiet:
            break
        before = found
        await asyncio.sleep(1)
    scene.tally["seconds of quiet that were needed"] = round(time.monotonic() - began)
    return found
