"""caBundle on a real API server: nothing else is written, nothing is taken away too soon."""

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest

from builders.certificates import issue
from cardquota.cluster.api import Client
from cardquota.cluster.certificates import (
    OVERLAP,
    PERIOD,
    READ_BY_ALL,
    CaBundles,
    KeyPair,
    PathSecrets,
    read_certificates,
)

from .certificate_stage import LINGER, NAMES, Shelf, StageClock, a_shelf, path_of


@pytest.fixture
async def shelf(client: Client, namespace: str, unique: str) -> AsyncIterator[Shelf]:
    async with a_shelf(client, namespace, unique) as found:
        yield found


def a_ca() -> bytes:
    return issue(NAMES, now=StageClock().day, days=60).ca_pem


def without_ours(configurations: list[dict[str, Any]]) -> list[Any]:
    found = deepcopy(configurations)
    for configuration in found:
        for webhook in configuration["webhooks"]:
            called = webhook["clientConfig"]
            called.pop("caBundle", None)
            called.get("service", {}).pop("path", None)
            if "url" in called:
                called["url"] = "/".join(called["url"].split("/")[:3])
    return [configuration["webhooks"] for configuration in found]


def revisions(configurations: list[dict[str, Any]]) -> list[str]:
    return [configuration["metadata"]["resourceVersion"] for configuration in configurations]


async def test_only_bundle_and_path_are_published_and_only_once(shelf: Shelf) -> None:
    before = await shelf.configurations_now()
    ca = a_ca()
    bundles = shelf.bundles()
    await bundles.look(ca)
    after = await shelf.configurations_now()
    assert await shelf.published() == [read_certificates(ca)] * 4
    assert without_ours(after) == without_ours(before)
    for one in (bundles, shelf.bundles()):
        await one.look(ca)
    assert revisions(await shelf.configurations_now()) == revisions(after)


async def test_a_ca_is_trusted_from_when_all_webhooks_were_seen_to_have_it(shelf: Shelf) -> None:
    (ca,), (pem,) = (read_certificates(found := a_ca())), (found,)
    bundles = shelf.bundles()
    await bundles.look(pem)
    assert bundles.trusted(0) == [ca]
    assert bundles.trusted(5) == []
    shelf.clock.go(seconds=5)
    assert bundles.trusted(5) == [ca]
    configuration = (await shelf.configurations_now())[1]
    configuration["webhooks"][1]["clientConfig"].pop("caBundle")
    await shelf.client.send("PUT", path_of(configuration), configuration)
    await bundles.look(None)
    assert bundles.trusted(0) == [], "one webhook lost it"
    await bundles.look(pem)
    assert bundles.trusted(0) == [ca]
    assert bundles.trusted(5) == []


async def test_what_is_not_wanted_lingers(shelf: Shelf) -> None:
    """Also what another replica wants, and what stood there when this one began."""
    old, new = a_ca(), a_ca()
    first, second = shelf.bundles(), shelf.bundles()
    await first.look(old)
    await second.look(new)
    assert second.others
    for _ in range(3):
        await first.look(old)
        await second.look(new)
        for bundle in await shelf.published():
            assert set(bundle) == {*read_certificates(old), *read_certificates(new)}
    await first.look(new)
    shelf.clock.go(seconds=LINGER - 1)
    await first.look(new)
    assert len((await shelf.published())[0]) == 2
    shelf.clock.go(seconds=1)
    await first.look(new)
    await first.look(new)
    assert await shelf.published() == [read_certificates(new)] * 4
    assert not first.others


async def test_a_missing_configuration_is_reported_once_and_filled_when_it_is_there(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    missing = f"mutatingwebhookconfigurations/{shelf.configurations}-x"
    there = f"validatingwebhookconfigurations/{shelf.configurations}"
    secrets = PathSecrets()
    secrets.learn(KeyPair(b"certificate", b"key"))
    bundles = CaBundles(shelf.client, {missing: "/mutate", there: "/validate"}, secrets)
    ca = a_ca()
    for _ in range(2):
        await bundles.look(ca)
    assert bundles.missing == [missing]
    assert caplog.text.count(f"{missing} is missing") == 1
    assert (await shelf.published())[2:] == [read_certificates(ca)] * 2


async def test_n1_every_path_ends_with_the_secret_of_now_however_it_was_written(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    """Also if somebody else keeps the CA, and whatever somebody has applied."""
    caplog.set_level("DEBUG")
    secrets = PathSecrets(lambda: shelf.clock.day.timestamp())
    secrets.learn(KeyPair(b"certificate", b"key"))
    bundles = shelf.bundles(secrets)
    await bundles.look(None)
    before = await shelf.paths()
    first = before[0].rpartition("/")[2]
    assert before == [f"/{one}/{first}" for one in ("mutate", "mutate", "validate", "validate")]
    assert secrets.knows(first)
    configuration = (await shelf.configurations_now())[0]
    configuration["webhooks"][0]["clientConfig"]["url"] = "https://127.0.0.1:1/validate/" + first
    configuration["webhooks"][1]["clientConfig"]["service"].pop("path")
    await shelf.client.send("PUT", path_of(configuration), configuration)
    await bundles.look(None)
    assert await shelf.paths() == before
    shelf.clock.go(seconds=PERIOD)
    await bundles.look(None)
    after = (await shelf.paths())[0].rpartition("/")[2]
    assert after != first
    assert secrets.knows(first)
    shelf.clock.go(seconds=OVERLAP)
    await bundles.look(None)
    assert not secrets.knows(first)
    assert secrets.knows(after)
    assert first not in caplog.text
    assert after not in caplog.text


@pytest.mark.slow
async def test_n1_no_replica_is_called_by_what_it_does_not_know(shelf: Shelf) -> None:
    """The Secret is deleted, one replica starts anew: at each moment all answer what is stored."""
    one, other = (PathSecrets(lambda: shelf.clock.day.timestamp()) for _ in range(2))
    replicas = [(shelf.bundles(secrets), secrets) for secrets in (one, other)]
    old, new = KeyPair(b"certificate", b"key"), KeyPair(b"certificate", b"another key")
    held = {one: old, other: old}
    for step in range(120):
        if step == 40:
            held[one] = new
        if step == 44:  # it reads the Secret some seconds later
            held[other] = new
        if step == 50:
            started = PathSecrets(lambda: shelf.clock.day.timestamp())
            held[started] = new
            replicas[0] = shelf.bundles(started), started
        for bundles, secrets in replicas:
            secrets.learn(held[secrets])
            await bundles.look(None)
        for path in await shelf.paths():
            assert all(secrets.knows(path.rpartition("/")[2]) for _, secrets in replicas), step
        shelf.clock.go(seconds=2)
    assert READ_BY_ALL + OVERLAP < 2 * (120 - 50)
    fresh = PathSecrets(lambda: shelf.clock.day.timestamp())
    fresh.learn(new)
    assert fresh.knows((await shelf.paths())[0].rpartition("/")[2]), "it is of the new one"
