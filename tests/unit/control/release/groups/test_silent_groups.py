"""E1: a group that says nothing of what it will ask for is Inqueue until its pods are there."""

import pytest

from builders import H200, Body, a_namespace, a_pod, a_queue
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from ...fakes import until
from ...leader import GANG, THREE, waiting
from .test_group_conditions import groups_of, runs

pytestmark = pytest.mark.fake_clock


def member(name: str) -> PodBody:
    return waiting(name).in_group("gang")


async def test_it_is_inqueue_before_its_pods_with_one_write_and_reserves_nothing() -> None:
    async with groups_of(THREE, GANG) as (leader, groups):
        await until(lambda: groups.status("gang").get("phase") == "Inqueue")
        await until(lambda: not leader.busy)
        ((_, body),) = groups.patches
        assert body["metadata"]["annotations"] == {v.RESERVATION: None}
        assert body["status"]["conditions"] == []
        account = leader.ledger.account("queue")
        assert account is not None
        assert not any(row.reserved for row in account.rows.values())
        assert leader.told.events == []


async def test_where_there_is_room_it_is_never_pending() -> None:
    async with groups_of(THREE, GANG) as (leader, groups):
        await until(lambda: groups.status("gang").get("phase") == "Inqueue")
        leader.see(member("a"), member("b"))
        await until(lambda: len(leader.opened) == 2)
        leader.see(runs(member("a")), runs(member("b")))
        await until(lambda: groups.status("gang")["phase"] == "Running")
        assert "Pending" not in [body["status"]["phase"] for _, body in groups.patches]


@pytest.mark.parametrize(
    "shut",
    [
        a_queue().with_quota({H200: 3}).in_state("Closed"),
        a_queue().with_quota({H200: 3}).open_to("others"),
        a_queue("another"),
    ],
)
async def test_it_stays_pending_until_its_queue_takes_it(shut: Body) -> None:
    async with groups_of(shut, GANG) as (leader, groups):
        await until(lambda: groups.status("gang").get("phase") == "Pending")
        leader.see(THREE.at_revision(7_000))
        await until(lambda: groups.status("gang")["phase"] == "Inqueue")
        leader.ledger.queue_gone("queue")
        leader.releaser.wake()
        await until(lambda: groups.status("gang")["phase"] == "Pending")
        await until(lambda: not leader.busy)
        assert len(groups.patches) == 3


@pytest.mark.parametrize("group", [GANG, GANG.asking({H200: 99})])
async def test_where_nothing_is_enforced_its_pods_may_always_come(group: GroupBody) -> None:
    audit = a_namespace("team").in_mode("audit")
    async with groups_of(THREE, audit, group) as (leader, groups):
        await until(lambda: groups.status("gang").get("phase") == "Inqueue")
        leader.see(runs(a_pod("a").in_group("gang").naming(H200).asking_for(1)))
        await until(lambda: groups.status("gang")["running"] == 1)
        assert groups.status("gang")["phase"] == "Inqueue"
        leader.see(runs(a_pod("b").in_group("gang").naming(H200).asking_for(1)))
        await until(lambda: groups.status("gang")["phase"] == "Running")
        await until(lambda: not leader.busy)
        phases = {body["status"]["phase"] for _, body in groups.patches}
        assert phases == {"Inqueue", "Running"}


async def test_where_it_is_enforced_again_it_is_judged() -> None:
    audit = a_namespace("team").in_mode("audit")
    async with groups_of(THREE, audit, GANG.asking({H200: 99})) as (leader, groups):
        await until(lambda: groups.status("gang").get("phase") == "Inqueue")
        leader.see(a_namespace("team").in_mode("enforced").at_revision(7_000))
        await until(lambda: groups.status("gang")["phase"] == "Pending")
