import asyncio
import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from cardquota.cluster.certificate_store import load_or_create, publish_ca
from cardquota.cluster.certificates import issue
from cardquota.cluster.client import Client
from cardquota_dev.testing import Cluster

NAMES = ["hook.system.svc", "127.0.0.1"]


async def test_all_replicas_get_the_certificate_of_the_first(
    client: Client, namespace: str
) -> None:
    made = await asyncio.gather(
        *(load_or_create(client, namespace=namespace, name="hook", names=NAMES) for _ in range(8))
    )
    assert len({certificate.cert_pem for certificate in made}) == 1
    secret = msgspec.json.decode(await client.get(f"/api/v1/namespaces/{namespace}/secrets/hook"))
    assert secret["type"] == "kubernetes.io/tls"
    assert base64.b64decode(secret["data"]["tls.key"]) == made[0].key_pem
    assert sorted(secret["data"]) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]


async def test_a_certificate_that_will_not_do_is_replaced_once(
    client: Client, namespace: str
) -> None:
    async def load(names: list[str], later: timedelta = timedelta()) -> tuple[bytes, bytes]:
        now = datetime.now(UTC) + later
        made = await asyncio.gather(
            *(
                load_or_create(
                    client, namespace=namespace, name="hook", names=names, now=lambda: now
                )
                for _ in range(4)
            )
        )
        assert len(set(made)) == 1
        return made[0].ca_pem, made[0].cert_pem

    first = await load(NAMES)
    assert await load(NAMES, timedelta(days=300)) == first
    more = await load([*NAMES, "new.system.svc"])
    assert more[0] == first[0], "the authority stays"
    assert more[1] != first[1]
    assert await load(NAMES) == more, "fewer names are covered too"
    renewed = await load(NAMES, timedelta(days=340))
    assert renewed[0] == first[0]
    assert renewed[1] != more[1]


@pytest.mark.parametrize(
    "data", [{}, {"tls.crt": "AA==", "tls.key": "", "ca.crt": "", "x": "AA=="}]
)
async def test_a_secret_that_holds_something_else_is_filled(
    client: Client, namespace: str, data: dict[str, str]
) -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    await client.post(path, {"metadata": {"name": "hook"}, "data": data})
    made = await load_or_create(client, namespace=namespace, name="hook", names=NAMES)
    again = await load_or_create(client, namespace=namespace, name="hook", names=NAMES)
    assert made == again
    kept = msgspec.json.decode(await client.get(f"{path}/hook"))["data"]
    assert set(data) <= set(kept)


@pytest.fixture
def configurations(plane: Cluster, unique: str) -> Iterator[str]:
    """A mutating and a validating configuration of the returned name, matching nothing."""
    hook = """
- name: {n}.example.com
  clientConfig: {{url: "https://127.0.0.1:1/{n}", caBundle: "{ca}"}}
  rules:
  - {{apiGroups: [none.example.com], apiVersions: [v1], operations: [CREATE], resources: [x]}}
  sideEffects: None
  admissionReviewVersions: [v1]
"""
    for kind in ("Mutating", "Validating"):
        plane.apply(
            f"apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}WebhookConfiguration\n"
            f"metadata: {{name: {unique}}}\nwebhooks:"
            + hook.format(n="a", ca="")
            + hook.format(n="b", ca="")
        )
    yield unique
    for kind in ("mutating", "validating"):
        plane.kubectl("delete", f"{kind}webhookconfiguration", unique)


async def test_only_the_bundle_is_published(client: Client, configurations: str) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    paths = [
        f"{group}/{k}webhookconfigurations/{configurations}" for k in ("mutating", "validating")
    ]
    before = [msgspec.json.decode(await client.get(path)) for path in paths]
    ca = issue(NAMES, now=datetime.now(UTC), days=60).ca_pem
    named = [configurations]
    assert await publish_ca(client, ca, mutating=named, validating=named) == []
    after = [msgspec.json.decode(await client.get(path)) for path in paths]
    for old, new in zip(before, after, strict=True):
        for webhook in new["webhooks"]:
            assert base64.b64decode(webhook["clientConfig"].pop("caBundle")) == ca
        assert new["webhooks"] == old["webhooks"]
    revisions = [configuration["metadata"]["resourceVersion"] for configuration in after]
    assert await publish_ca(client, ca, mutating=named, validating=named) == []
    again = [msgspec.json.decode(await client.get(path)) for path in paths]
    assert [c["metadata"]["resourceVersion"] for c in again] == revisions


async def test_a_missing_configuration_is_reported(
    client: Client, unique: str, caplog: pytest.LogCaptureFixture
) -> None:
    missing = await publish_ca(client, b"ca", mutating=[unique], validating=[])
    assert missing == [f"mutatingwebhookconfigurations/{unique}"]
    assert unique in caplog.text
