"""Users change a gang while it starts, and the leader dies at any write of that (E2, T2, I1)."""

from collections.abc import Callable

import pytest

from builders import H200
from cardquota.cluster.api import Client
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota_dev.testing import Cluster
from integration.team import Team, notes

from .release_walk import ChangeByUser, ReleaseScene, Store, gang, member, walk

pytestmark = pytest.mark.long


async def reserved(store: Store) -> bool:
    """The reservation is written, and no gate is open."""
    return v.RESERVATION in notes(await store.group())


async def opening(store: Store) -> bool:
    """The first gate is open."""
    return bool(await store.open_members())


async def c_is_deleted(store: Store) -> None:
    await store.delete("c")


def c_is_gone(ledger: Ledger) -> bool:
    return all(record.facts.name != "c" for record in ledger.pods.values())


async def c_comes_to_those_that_wait(store: Store) -> None:
    assert await store.open_members() == [], "two of three began without it"
    await c_comes(store)


async def c_comes(store: Store) -> None:
    await store.create(member("c").gated())


def knows(members: int) -> Callable[[Ledger], bool]:
    """Whether a leader knows that minimum."""
    return lambda ledger: all(group.minimum == members for group in ledger.groups.values())


async def lowered(store: Store) -> None:
    await store.set_minimum(2)


async def raised(store: Store) -> None:
    await store.set_minimum(3)


def of_three(team: Team, change: ChangeByUser, *beyond: str) -> ReleaseScene:
    """A gang of three that fits."""
    members = tuple(member(name) for name in "abc")
    return ReleaseScene({H200: 3}, gang(team, 3), members, change=change, beyond=beyond)


SCENES: dict[str, Callable[[Team], ReleaseScene]] = {
    "a member is deleted before the first gate": lambda team: of_three(
        team, ChangeByUser(reserved, c_is_deleted, c_is_gone, c_comes_to_those_that_wait)
    ),
    "a member is deleted after the first gate": lambda team: of_three(
        team, ChangeByUser(opening, c_is_deleted, c_is_gone, c_comes)
    ),
    "minMember is lowered after the first gate": lambda team: of_three(
        team, ChangeByUser(opening, lowered, knows(2)), "c"
    ),
    "minMember is raised before the first gate": lambda team: ReleaseScene(
        {H200: 3},
        gang(team, 2),
        (member("a"), member("b")),
        rival="",
        comes=("c",),
        change=ChangeByUser(reserved, raised, knows(3), c_comes_to_those_that_wait),
    ),
}


@pytest.mark.parametrize("name", SCENES)
async def test_e2_whenever_the_leader_dies_what_is_there_starts_whole(
    name: str, client: Client, plane: Cluster, namespace: str, unique: str
) -> None:
    def store(number: int) -> Store:
        team = Team(plane, namespace, f"{unique}-{number}")
        return Store(client, team, SCENES[name](team))

    await walk(client, store)
