"""A leader that dies between any two writes of a gang's release: the next finishes it (T2, I1)."""

from collections.abc import Callable

import pytest

from builders import H200, H800
from cardquota.cluster.api import Client
from cardquota_dev.testing import Cluster
from integration.team import Team

from .release_walk import ReleaseScene, Store, gang, member, walk

pytestmark = pytest.mark.slow

EITHER = f"{H200}|{H800}"

SCENES: dict[str, Callable[[Team], ReleaseScene]] = {
    "a gang": lambda team: ReleaseScene(
        {H200: 3},
        gang(team, 3),
        tuple(member(name) for name in "abc"),
    ),
    "enqueued before its pods": lambda team: ReleaseScene(
        {H200: 3},
        gang(team, 3).requesting({H200: 3}),
        tuple(member(name) for name in "abc"),
        least=6,
    ),
    "a choice of cards": lambda team: ReleaseScene(
        {H200: 2, H800: 1},
        gang(team, 3),
        (member("a", EITHER), member("b", EITHER), member("c", H200)),
        rival=EITHER,
    ),
    "members that run, and one replaced": lambda team: ReleaseScene(
        {H200: 4},
        gang(team, 4),
        (member("c"), member("d")),
        running={"a": {H200: 1}, "b": {H200: 1}},
        least=4,
    ),
    "tasks with different cards": lambda team: ReleaseScene(
        {H200: 2, H800: 1},
        gang(team, 3),
        (member("head", H800), member("worker-0"), member("worker-1")),
        rival=H800,
    ),
}


@pytest.mark.parametrize("name", SCENES)
async def test_t2_whenever_the_leader_dies_the_next_one_finishes_the_release(
    name: str, client: Client, plane: Cluster, namespace: str, unique: str
) -> None:
    def store(number: int) -> Store:
        team = Team(plane, namespace, f"{unique}-{number}")
        return Store(client, team, SCENES[name](team))

    await walk(client, store)
