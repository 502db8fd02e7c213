"""caBundle on a real API server: nothing else is written, nothing is taken away too soon."""

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest

from builders.certificates import issue
from cardquota.cluster.api.client import Client
from cardquota.cluster.certificates.ca_bundle import CaBundles
from cardquota.cluster.certificates.pem import read_certificates

from .certificate_stage import LINGER, NAMES, Shelf, StageClock, a_shelf, path_of


@pytest.fixture
async def shelf(client: Client, namespace: str, unique: str) -> AsyncIterator[Shelf]:
    async with a_shelf(client, namespace, unique) as found:
        yield found


def a_ca() -> bytes:
    return issue(NAMES, now=StageClock().day, days=60).ca_pem


def without_bundles(configurations: list[dict[str, Any]]) -> list[Any]:
    found = deepcopy(configurations)
    for configuration in found:
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"].pop("caBundle", None)
    return [configuration["webhooks"] for configuration in found]


def revisions(configurations: list[dict[str, Any]]) -> list[str]:
    return [configuration["metadata"]["resourceVersion"] for configuration in configurations]


async def test_only_the_bundle_is_published_and_only_once(shelf: Shelf) -> None:
    before = await shelf.configurations_now()
    ca = a_ca()
    bundles = shelf.bundles()
    await bundles.look(ca)
    after = await shelf.configurations_now()
    assert await shelf.published() == [read_certificates(ca)] * 4
    assert without_bundles(after) == without_bundles(before)
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
    await shelf.client.put(path_of(configuration), configuration)
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
    bundles = CaBundles(
        shelf.client, mutating=[f"{shelf.configurations}-x"], validating=[shelf.configurations]
    )
    ca = a_ca()
    for _ in range(2):
        await bundles.look(ca)
    missing = f"mutatingwebhookconfigurations/{shelf.configurations}-x"
    assert bundles.missing == [missing]
    assert caplog.text.count(f"{missing} is missing") == 1
    assert (await shelf.published())[2:] == [read_certificates(ca)] * 2
