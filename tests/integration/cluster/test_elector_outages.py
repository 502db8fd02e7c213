"""The election while the API server itself is away. It breaks the plane, so it has its own."""

import signal
from collections.abc import Iterator

import pytest

from cardquota.cluster.api import Client
from cardquota.loop import boottime
from cardquota_dev.testing import Cluster, fresh_namespace, running_plane

from .conftest import until
from .test_elector import Start, leads, start, stops_in_time

__all__ = ["start"]

pytestmark = [pytest.mark.disruptive, pytest.mark.long]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """In the place of the shared one, for all fixtures here."""
    with running_plane(tmp_path_factory.mktemp("election"), replicas=0) as cluster:
        cluster.warm()
        yield cluster


@pytest.fixture
def namespace(plane: Cluster) -> Iterator[str]:
    with fresh_namespace(plane, "election") as name:
        yield name


@pytest.mark.slow
async def test_without_an_api_server_nobody_leads_for_longer_than_the_deadline(
    plane: Cluster, client: Client, start: Start
) -> None:
    """It is killed and started again; a new term begins, and there is never more than one."""
    candidates = [await start(f"c{number}") for number in range(5)]

    def leading() -> list[str]:
        now = [t for c in candidates if (t := c.elector.term) is not None]
        assert len(now) <= 1
        return now

    await until(leading, "a leader")
    before = leading()
    leader = next(c for c in candidates if c.elector.term in before)
    store = plane.state.process("etcd")
    store.signal(signal.SIGSTOP)
    try:
        await stops_in_time(leader, boottime())
        await until(lambda: not leading(), "nobody leads")
    finally:
        store.signal(signal.SIGCONT)
    await until(leading, "a leader after etcd stood still")
    assert leading() != before
    assert ("lost", before[0]) in leader.told

    before = leading()
    server = plane.state.process("kube-apiserver")
    server.signal(signal.SIGKILL)
    await until(lambda: not server.alive, "the end of the API server")
    await until(lambda: not leading(), "nobody leads")
    await until(leading, "a leader after the API server was away", 60)
    assert leading() != before
    await leads(next(c for c in candidates if c.elector.term is not None))
