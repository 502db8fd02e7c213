"""The plane of a run as the faults see it: processes, ways, who leads, and what was done so far."""

import asyncio
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from cardquota_dev.plane.process import Process
from cardquota_dev.testing import Cluster

from .api import Api
from .clients.steady import Steady
from .judging.leeway import Trouble
from .volcano_side import VolcanoSide
from .way import Way

TERM = "/apis/cardquota.volcano.sh/v1alpha1/namespaces/cardquota-system/terms/cardquota"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/cardquota-system/leases/cardquota"
REPLICAS = 3


class NothingDoneError(Exception):
    """A fault found nothing to do: there was no leader, or the API server took no for it."""


@dataclass
class Scene:
    """What faults work on."""

    cluster: Cluster
    api: Api
    ways: Sequence[Way]
    """By replica."""
    lease_ways: Sequence[Way]
    """The same for the Lease, which is held or stalled with no other."""
    steady: Steady
    dice: Random
    tally: Counter[str]
    volcano: VolcanoSide | None = None
    """None: it is not there."""
    troubles: list[Trouble] = field(default_factory=list)
    """When views were old, or answers late."""
    happened: list[tuple[float, float, str]] = field(default_factory=list)
    """What went wrong, from when until when (monotonic)."""
    needs_a_term: bool = False
    """Whether a fault waits for what a leader does after a while, so that none is killed."""
    found: list[str] = field(default_factory=list)
    """What must not be, as a fault saw it."""

    async def leader(self) -> int | None:
        """The number of the replica that holds the Lease."""
        reply = await self.api.get(LEASE)
        holder = str(reply.body.get("spec", {}).get("holderIdentity") or "")
        found = re.match(r"cardquota-(\d)_", holder)
        return int(found[1]) if found else None

    async def deciding(self) -> int | None:
        """The number of the leader, if it decides by now."""
        leader = await self.leader()
        if leader is not None and await self.metric(leader, "cardquota_leader") == 1:
            return leader
        return None

    async def until_deciding(self, but: int | None = None, seconds: float = 60.0) -> int | None:
        """The leader, once one decides that is another one than `but`; None: it took too long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            leader = await self.deciding()
            if leader is not None and leader != but:
                return leader
            await asyncio.sleep(0.3)
        return None

    async def page(self, replica: int) -> str:
        """A replica's metrics; empty if it does not answer."""
        address = self.process(f"cardquota-{replica}").address
        reply = await self.api.ask("GET", f"{address}/metrics", timeout=3)
        return reply.text if reply.code == 200 else ""

    async def metric(self, replica: int, row: str) -> float:
        """One row of them; -1 where there is none."""
        found = re.search(rf"^{re.escape(row)} (\S+)$", await self.page(replica), re.MULTILINE)
        return float(found[1]) if found else -1.0

    async def releases(self, replica: int) -> int:
        """Gates that a replica has opened since it was started."""
        return int(await self.metric(replica, "cardquota_release_seconds_count"))

    def process(self, name: str) -> Process:
        """A process of the plane, as it runs now."""
        return self.cluster.state.process(name)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Signal a process of the plane, if it runs."""
        self.process(name).signal(number)

    async def pause(self, name: str, seconds: float) -> None:
        """Stop a process still, and let it go on after a while."""
        process = self.process(name)
        process.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            process.signal(signal.SIGCONT)

    async def until_served(self, seconds: float = 60.0) -> bool:
        """Whether the API server answers again, within some seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if (await self.api.ask("GET", "/readyz", timeout=2)).code == 200:
                return True
            await asyncio.sleep(0.2)
        return False

    @contextmanager
    def noted(self, what: str) -> Iterator[None]:
        """What goes wrong while the block runs. What did nothing is counted apart."""
        begun = time.monotonic()
        try:
            yield
        except NothingDoneError:
            self.tally[f"{what}, nothing done"] += 1
        else:
            self.tally[what] += 1
            self.happened.append((begun, time.monotonic(), what))

    @contextmanager
    def views_are_old(self, behind: float = 0.0, *, anew: bool = False) -> Iterator[None]:
        """For as long as the block runs; `behind`: and some may be for so many seconds longer.

        `anew`: the leader is killed in it.
        """
        begun = time.monotonic()
        try:
            yield
        finally:
            self.troubles.append(Trouble(begun, time.monotonic(), behind=behind, anew=anew))

    @contextmanager
    def answers_are_late(self, *, anew: bool = False) -> Iterator[None]:
        """What was decided before the block ends may be stored as late as that."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.troubles.append(Trouble(begun, time.monotonic(), old=False, anew=anew))
