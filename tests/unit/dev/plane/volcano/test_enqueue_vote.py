"""Who decides whether a group is enqueued."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.volcano.scheduler.configuration import (
    ConfigurationFile,
    ExtenderArguments,
    SchedulerConfiguration,
    SchedulerConfigurationError,
    TierPlugin,
    read_configuration,
)
from cardquota_dev.plane.volcano.scheduler.enqueue_vote import ask_extender, is_permitted
from cardquota_dev.plane.volcano.scheduler.session import VolcanoSession

from .volcano_objects import Json, a_pod, a_pod_group, an_open_queue

TEXT = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: extender
    arguments:
      extender.urlPrefix: https://127.0.0.1:8443/volcano/
      extender.httpTimeout: 500ms
      extender.jobEnqueueableVerb: jobEnqueueable
      extender.ignorable: true
- plugins:
  - name: capacity
configurations:
- name: allocate
  arguments: {predicateErrorCacheEnable: false}
"""


def test_a_configuration_in_volcanos_form() -> None:
    found = read_configuration(TEXT)
    assert [[one.name for one in tier] for tier in found.tiers] == [
        ["priority", "extender"],
        ["capacity"],
    ]
    assert found.tiers[0][1].extender == ExtenderArguments(
        "https://127.0.0.1:8443/volcano", "jobEnqueueable", timeout=0.5, ignorable=True
    )
    assert not found.cache_predicate_errors
    assert read_configuration("").cache_predicate_errors


@pytest.mark.parametrize("text", ["[", "text", "tiers: 7", "tiers: [{plugins: [{}]}]"])
def test_what_is_no_configuration(text: str) -> None:
    with pytest.raises(SchedulerConfigurationError):
        read_configuration(text)


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    file = ConfigurationFile(path)
    assert file.now() == SchedulerConfiguration()
    path.write_text(TEXT)
    assert not file.now().cache_predicate_errors
    path.write_text("tiers: []")
    assert file.now() == SchedulerConfiguration(())


class VotingExtender:
    """An extender that votes as it is told."""

    def __init__(self) -> None:
        self.vote: object = 1
        self.code = 200
        self.asked: list[Json] = []
        self.arguments = ExtenderArguments("", "")

    async def answer(self, http: web.Request) -> web.Response:
        self.asked.append((await http.json())["job"])
        return web.json_response({"status": self.vote}, status=self.code)


@pytest.fixture
async def voting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[VotingExtender]:
    """One over HTTPS, whose CA is in SSL_CERT_FILE."""
    folder = Folder(tmp_path / "plane")
    folder.prepare()
    folder.clear()
    keys = make_keys(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(keys.authority))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(keys.certificate, keys.key)
    found = VotingExtender()
    app = web.Application()
    app.add_routes([web.post("/enqueue", found.answer)])
    server = TestServer(app, host="127.0.0.1", scheme="https")
    await server.start_server(ssl=tls)
    found.arguments = ExtenderArguments(f"https://127.0.0.1:{server.port}", "enqueue")
    yield found
    await server.close()


def a_waiting_session(*pods: Json, resources: dict[str, str] | None = None) -> VolcanoSession:
    group = a_pod_group(phase="Pending", resources=resources)
    return VolcanoSession(pods, [], [group], {"default": an_open_queue(cpu="1")}, {})


async def permitted(session: VolcanoSession, *tiers: tuple[TierPlugin, ...]) -> bool:
    return await is_permitted(SchedulerConfiguration(tiers), session, session.groups[0])


async def test_the_extender_is_told_of_the_job(voting: VotingExtender) -> None:
    plugin = TierPlugin("extender", voting.arguments)
    pod = a_pod("a", gated=True)
    assert await permitted(a_waiting_session(pod, resources={"cpu": "2"}), (plugin,))
    (job,) = voting.asked
    assert (job["UID"], job["Name"], job["Namespace"]) == ("team/g", "g", "team")
    assert (job["Queue"], job["MinAvailable"]) == ("default", 2)
    assert job["Tasks"]["uid-a"]["Pod"] == pod
    assert job["TotalRequest"]["MilliCPU"] == 1_000
    assert job["PodGroup"]["metadata"]["name"] == "g"
    assert job["PodGroup"]["spec"]["minResources"] == {"cpu": "2"}
    assert job["PodGroup"]["status"] == {"phase": "Pending"}


async def test_a_group_without_a_minimum_is_never_asked_about(voting: VotingExtender) -> None:
    voting.vote = -1
    assert await permitted(a_waiting_session(), (TierPlugin("extender", voting.arguments),))
    assert voting.asked == []


async def test_the_first_tier_that_votes_decides(voting: VotingExtender) -> None:
    """The queue has no room: `capacity` rejects."""
    asks, capacity = TierPlugin("extender", voting.arguments), TierPlugin("capacity")
    session = a_waiting_session(resources={"cpu": "2"})
    assert not await permitted(session, (TierPlugin("gang"),), (capacity,))
    assert await permitted(session, (asks,), (capacity,))
    assert not await permitted(session, (asks, capacity))
    voting.vote = 0
    assert not await permitted(session, (asks,), (capacity,))
    assert await permitted(session, (asks,))
    voting.asked.clear()
    voting.vote = -1
    assert await permitted(session, (TierPlugin("overcommit"),), (asks,))
    assert voting.asked == []
    assert not await permitted(session, (TierPlugin("overcommit"), asks))


@pytest.mark.parametrize("ignorable", [True, False])
async def test_a_failure_is_a_vote_too(voting: VotingExtender, ignorable: bool) -> None:
    url = voting.arguments.url_prefix
    for prefix, code, vote in (
        ("https://127.0.0.1:1", 200, 1),
        (url, 500, 1),
        (url, 200, "x"),
    ):
        voting.code, voting.vote = code, vote
        asked = ExtenderArguments(prefix, "enqueue", ignorable=ignorable)
        assert await ask_extender(asked, {}) == (1 if ignorable else -1)


async def test_one_of_another_authority_is_not_trusted(
    voting: VotingExtender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    assert await ask_extender(voting.arguments, {}) == -1
    assert voting.asked == []
