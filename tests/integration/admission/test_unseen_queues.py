"""A queue that no watch has told of: the API server itself says whether it is there."""

import re

from builders import H200
from cardquota.cluster.api import Client, QueueLookup, from_kubeconfig
from integration.team import Team


def test_a_queue_that_is_not_there_is_refused_by_name(team: Team) -> None:
    """That nobody waits for it is shown by `tests/unit/webhooks`, with a clock."""
    _, text = team.refused(team.a_pod("a", 1, H200, queue="nowhere"))
    assert re.search(r"Queue <\S*nowhere> does not exist", text)


async def test_it_says_of_each_queue_whether_it_is_there_now(team: Team) -> None:
    queue = team.has_queue({"NVIDIA-H200": 1})
    client = Client(await from_kubeconfig([team.cluster.kubeconfig]))
    try:
        lookup = QueueLookup(client)
        assert await lookup.exists(queue) is True
        assert await lookup.exists(f"{queue}-not") is False
        assert team.delete(team.a_queue({})).ok
        assert await lookup.exists(queue) is False
    finally:
        await client.close()
