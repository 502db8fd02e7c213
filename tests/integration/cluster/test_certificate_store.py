"""The certificate in a Secret of a real API server: made once, renewed, or given."""

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime

import pytest

from builders.certificates import Issued, issue
from cardquota.cluster.api import Client, find_access
from cardquota.cluster.certificates import (
    CertificateManager,
    KeyPair,
    PathSecrets,
    read_certificates,
)
from cardquota_dev.testing import Cluster

from .certificate_stage import DAY, KNOWN_AFTER, LINGER, NAMES, Shelf, a_shelf, path_of


@pytest.fixture
async def shelf(client: Client, namespace: str, unique: str) -> AsyncIterator[Shelf]:
    async with a_shelf(client, namespace, unique) as found:
        yield found


async def looked(*replicas: CertificateManager) -> list[KeyPair]:
    """What each serves after one more look."""
    found = [await one.look() for one in replicas]
    assert None not in found
    return [one for one in found if one is not None]


def given(issued: Issued) -> dict[str, bytes]:
    return {"tls.crt": issued.cert_pem, "tls.key": issued.key_pem, "ca.crt": issued.ca_pem}


async def test_all_replicas_get_the_certificate_of_the_first(shelf: Shelf) -> None:
    replicas = [shelf.replica() for _ in range(8)]
    await asyncio.gather(*(one.look() for one in replicas))
    served = await looked(*replicas)
    assert len(set(served)) == 1
    secret = await shelf.secret()
    assert secret["type"] == "kubernetes.io/tls"
    assert sorted(secret["data"]) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    assert await shelf.trusts(served[0])


async def test_a_serving_certificate_is_renewed_once_and_its_authority_stays(shelf: Shelf) -> None:
    replicas = [shelf.replica() for _ in range(4)]
    await asyncio.gather(*(one.look() for one in replicas))
    before = (await looked(*replicas))[0]
    authorities = await shelf.authorities()
    shelf.clock.go(days=61)
    at_once = await asyncio.gather(*(one.look() for one in replicas))
    after = await looked(*replicas)
    assert len(set(after)) == 1
    assert set(at_once) <= {before, after[0]}, "only one of them was written"
    assert after[0] != before
    assert await shelf.authorities() == authorities
    assert await shelf.trusts(before)
    assert await shelf.trusts(after[0])


@pytest.mark.parametrize("lost", ["its key", "the Secret"])
async def test_a_new_authority_without_a_gap(shelf: Shelf, lost: str) -> None:
    """Whatever anybody serves is trusted by every webhook, and valid."""
    replicas = [shelf.replica(), shelf.replica()]
    before = (await looked(*replicas))[0]
    old, keys = await shelf.authorities(), await shelf.held()
    if lost == "its key":
        await shelf.put({"ca.key": None})  # what an administrator does to have a new CA
    else:
        await shelf.client.send("DELETE", shelf.path)
    assert await looked(*replicas) == [before, before], "nobody knows the new one yet"
    for _ in range(8):
        served = await looked(*replicas)
        assert [await shelf.trusts(one) for one in served] == [True, True]
        shelf.clock.go(seconds=KNOWN_AFTER / 2)
    assert served[0] == served[1] != before
    held = await shelf.held()
    assert not {held["ca.key"], held["tls.key"]} & {keys["ca.key"], keys["tls.key"]}
    assert not set(old) & set(await shelf.authorities())
    shelf.clock.go(seconds=LINGER)
    await looked(*replicas)
    assert not await shelf.trusts(before), "nothing that the old one signed is trusted for long"


def end(pair: KeyPair) -> datetime:
    return read_certificates(pair.cert_pem)[0].not_valid_after_utc


async def test_a_certificate_of_an_unknown_authority_waits_until_it_is_known(shelf: Shelf) -> None:
    """A hand, or cert-manager, changed CA and certificate in one write."""
    replica = shelf.replica(given=True)
    first = issue(NAMES, now=shelf.clock.day, days=60)
    await shelf.create(given(first))
    assert await looked(replica) == [first.pair]
    second = issue(NAMES, now=shelf.clock.day, days=60)
    await shelf.put(given(second))
    assert await looked(replica) == [first.pair]
    assert await shelf.trusts(first.pair)
    assert await shelf.trusts(second.pair), "the bundle is published first"
    shelf.clock.go(seconds=KNOWN_AFTER - 1)
    assert await looked(replica) == [first.pair]
    shelf.clock.go(seconds=1)
    assert await looked(replica) == [second.pair]
    shelf.clock.go(seconds=LINGER - KNOWN_AFTER - 1)
    assert await looked(replica) == [second.pair]
    assert await shelf.trusts(first.pair), "others may be slower"
    shelf.clock.go(seconds=1)
    await looked(replica)
    assert not await shelf.trusts(first.pair)
    assert await shelf.trusts(second.pair)


async def test_a_new_replica_does_not_begin_under_a_ca_that_nobody_knows(shelf: Shelf) -> None:
    """The Secret is lost while another replica serves: who starts has no memory of it."""
    at_work = shelf.replica()
    (before,) = await looked(at_work)
    await shelf.client.send("DELETE", shelf.path)
    newcomer = shelf.replica()
    assert await newcomer.look() is None
    assert await looked(at_work) == [before]
    shelf.clock.go(seconds=KNOWN_AFTER)
    served = await looked(newcomer, at_work)
    assert served[0] == served[1] != before
    assert await shelf.trusts(before)
    assert await shelf.trusts(served[0])


@pytest.mark.parametrize(
    "values",
    [
        {"tls.crt": b"x", "tls.key": b"x", "ca.crt": b"x", "ca.key": b"x"},
        {"tls.crt": b"\x00"},
        {"ca.crt": b""},
        {"mine": b"stays"},
    ],
)
@pytest.mark.parametrize("remembers", [True, False])
async def test_a_secret_edited_to_nonsense_is_replaced(
    shelf: Shelf, values: dict[str, bytes], remembers: bool
) -> None:
    replica = shelf.replica()
    (before,) = await looked(replica)
    await shelf.put(values)
    if not remembers:
        replica = shelf.replica()
    for _ in range(5):
        served = await replica.look()
        if remembers:
            assert await shelf.trusts(served)
        shelf.clock.go(seconds=KNOWN_AFTER)
    (served,) = await looked(replica)
    assert await shelf.trusts(served)
    assert replica.problem == ""
    assert await shelf.trusts(before), "replicas that still serve it are not cut off"
    assert (await shelf.held()).get("mine") == values.get("mine")


async def test_a_secret_that_cannot_be_written_is_reported_and_no_end(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    replica = shelf.replica()
    (before,) = await looked(replica)
    await shelf.put({"ca.key": None}, immutable=True)
    for one in (replica, shelf.replica()):
        assert await looked(one) == [before]
        assert f"Secret <{shelf.namespace}/hook> cannot be written: " in one.problem
        assert not one.settled
    assert "immutable" in caplog.text


@pytest.mark.parametrize("missing", [True, False])
async def test_a_given_secret_that_will_not_do_is_named_and_tried_again(
    shelf: Shelf, missing: bool, caplog: pytest.LogCaptureFixture
) -> None:
    replica = shelf.replica(given=True)
    if not missing:
        await shelf.create({"tls.crt": b"x"})
    for _ in range(3):
        assert await replica.look() is None
        assert f"Secret <{shelf.namespace}/hook> " in replica.problem
    assert caplog.text.count(replica.problem) == 1, "once, not at every look"
    issued = issue(NAMES, now=shelf.clock.day, days=1)
    await (shelf.create if missing else shelf.put)(given(issued))
    assert await looked(replica) == [issued.pair]
    assert replica.problem == ""
    other = issue(["other"], now=shelf.clock.day, days=1)
    for spoilt in (
        given(other),
        {**given(issued), "tls.key": other.key_pem},
        {**given(issued), "ca.crt": b"nonsense"},
        {**given(issued), "ca.crt": other.ca_pem},
        {**given(issued), "tls.crt": b"nonsense"},
    ):
        await shelf.put(spoilt)
        before = (await shelf.secret())["metadata"]["resourceVersion"]
        assert await looked(replica) == [issued.pair], "the last good one goes on"
        assert "cannot be served: " in replica.problem
        assert await shelf.trusts(issued.pair)
        assert (await shelf.secret())["metadata"]["resourceVersion"] == before, "never written"
    assert "PRIVATE KEY" not in caplog.text


@pytest.mark.parametrize("annotated", [True, False])
async def test_a_bundle_that_is_injected_is_left_alone(shelf: Shelf, annotated: bool) -> None:
    """By cert-manager's ca-injector: told by its annotation, or by a Secret without a CA."""
    first = issue(NAMES, now=shelf.clock.day, days=60)
    second = issue(NAMES, now=shelf.clock.day, days=60)

    def values(issued: Issued) -> dict[str, bytes]:
        return given(issued) if annotated else {**given(issued), "ca.crt": b""}

    if annotated:
        note = {"metadata": {"annotations": {"cert-manager.io/inject-ca-from": "a/b"}}}
        for configuration in await shelf.configurations_now():
            await shelf.client.patch(path_of(configuration), note)
    await shelf.create(values(first))
    replica = shelf.replica(given=True)
    assert await looked(replica) == [first.pair]
    assert not any(await shelf.published())
    await _inject(shelf, first.ca_pem)
    await looked(replica)
    await shelf.put(values(second))
    shelf.clock.go(seconds=KNOWN_AFTER * 2)
    assert await looked(replica) == [first.pair], "nobody would trust it yet"
    assert ("ca-injector" in replica.problem) == (not annotated)
    revisions = [c["metadata"]["resourceVersion"] for c in await shelf.configurations_now()]
    await looked(replica)
    assert [c["metadata"]["resourceVersion"] for c in await shelf.configurations_now()] == revisions
    await _inject(shelf, first.ca_pem + second.ca_pem)
    assert await looked(replica) == [first.pair]
    shelf.clock.go(seconds=KNOWN_AFTER)
    assert await looked(replica) == [second.pair]
    assert replica.problem == ""


async def _inject(shelf: Shelf, ca_pem: bytes) -> None:
    """As the ca-injector does."""
    for configuration in await shelf.configurations_now():
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"]["caBundle"] = base64.b64encode(ca_pem).decode()
        await shelf.client.send("PUT", path_of(configuration), configuration)


async def test_an_ended_certificate_is_replaced_at_once(shelf: Shelf) -> None:
    """The operator was down for too long: nothing is trusted any more, so nothing can be lost."""
    await looked(shelf.replica())
    shelf.clock.go(days=95)
    (served,) = await looked(shelf.replica())
    assert await shelf.trusts(served)
    assert end(served) > shelf.clock.day + 80 * DAY


async def test_a_bundle_that_may_not_be_written_is_reported_and_no_reason_not_to_serve(
    shelf: Shelf, plane: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    if plane.folder is None:
        pytest.skip("needs an identity without that right")
    monkeypatch.setenv("KUBECONFIG", str(plane.folder.tenant_kubeconfig))
    tenant = Client(await find_access())
    try:
        bundles = replace(shelf, client=tenant).bundles()
        replica = CertificateManager(
            shelf.own_secret(), bundles, PathSecrets(), now=shelf.clock.now
        )
        (served,) = await looked(replica)
        assert "caBundle of the webhook configurations: 403 Forbidden" in replica.problem
        assert not replica.settled
        assert await looked(replica) == [served]
    finally:
        await tenant.close()
