"""Two gangs that each need all there is: one gets it, the other waits whole, whoever leads (E2)."""

from collections import Counter

import pytest

from builders import H200, a_pod
from cardquota.cluster.api import Client
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.team import Team, notes

from .release_walk import ReleaseScene, Store, gang, member, walk

pytestmark = pytest.mark.slow

NAMES = "gang", "other"


class TwoGangs(Store):
    """The user deletes the one that runs, with its group, once the other one is told to wait."""

    first = ""
    """The one that was deleted."""

    async def prepare(self) -> None:
        await super().prepare()
        await self.create(self.team.a_gang("other", 2))
        pods = (a_pod(n).naming(H200).asking_for(1).in_group("other") for n in "xy")
        await self.create(*(pod.gated() for pod in pods))

    async def written(self) -> None:
        await self.within_quota()
        await self.starts_whole(*NAMES)
        if not self.first:
            begun = [name for name in NAMES if await self.open_members(name)]
            assert len(begun) <= 1, "both began"

    async def go_on(self) -> None:
        await super().go_on()
        if self.first or self.leader is None or not self.leader.idle:
            return
        for name, other in (NAMES, NAMES[::-1]):
            if await self.runs(name) and await self._waits(other):
                self.first = name
                for pod in await self.open_members(name):
                    await self.delete(pod)
                await self.delete_group(name)

    async def _waits(self, name: str) -> bool:
        """It is told so, and nothing is reserved for it."""
        group = await self.group(name)
        conditions = group.get("status", {}).get("conditions", ())
        told = [one["reason"] for one in conditions if one["type"] == "Unschedulable"]
        return told == [v.Reason.INSUFFICIENT_CARD] and v.RESERVATION not in notes(group)

    async def finished(self) -> bool:
        return bool(self.first) and await self.runs(NAMES[self.first == NAMES[0]])

    async def ended_well(self) -> None:
        left = {pod["metadata"]["name"] for pod in await self.pods()}
        assert left == {*("xy" if self.first == "gang" else "ab")}
        assert await self.held() == Counter(self.scene.quota)


async def test_e2_one_gets_all_the_other_waits_whole_and_starts_when_the_first_is_deleted(
    client: Client, plane: Cluster, namespace: str, unique: str
) -> None:
    def store(number: int) -> Store:
        team = Team(plane, namespace, f"{unique}-{number}")
        pods = tuple(member(name) for name in "ab")
        return TwoGangs(
            client, team, ReleaseScene({H200: 2}, gang(team, 2), pods, rival="", least=7)
        )

    await walk(client, store)
