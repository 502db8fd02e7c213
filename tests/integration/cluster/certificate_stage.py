"""Two webhook configurations, a Secret, and replicas that keep their certificates by them."""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from cryptography import x509

from cardquota.cluster.api import Client
from cardquota.cluster.certificates import (
    CaBundles,
    CertificateManager,
    GivenSecret,
    KeyPair,
    OwnSecret,
    PathSecrets,
    read_certificates,
    trusted_through,
)

NAMES = ["hook.system.svc", "127.0.0.1"]
DAY = timedelta(days=1)
KNOWN_AFTER, LINGER = 10.0, 60.0
BY_URL: dict[str, Any] = {"url": "https://127.0.0.1:1"}
BY_SERVICE: dict[str, Any] = {"service": {"name": "hook", "namespace": "system", "port": 443}}
_GROUP = "admissionregistration.k8s.io/v1"
_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@dataclass
class StageClock:
    """Seconds, and the time of day; both stand still until told."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return self.day

    day: datetime = datetime(2026, 5, 1, tzinfo=UTC)

    def go(self, *, seconds: float = 0, days: float = 0) -> None:
        passed = timedelta(seconds=seconds, days=days)
        self.seconds += passed.total_seconds()
        self.day += passed


@dataclass
class Shelf:
    """What the API server holds."""

    client: Client
    namespace: str
    configurations: str
    clock: StageClock

    def replica(self, *, given: bool = False) -> CertificateManager:
        """One that has just started, and remembers nothing."""
        source = self.given_secret() if given else self.own_secret()
        secrets = PathSecrets(lambda: self.clock.day.timestamp())
        bundles = self.bundles(secrets)
        return CertificateManager(
            source, bundles, secrets, now=self.clock.now, known_after=KNOWN_AFTER
        )

    def own_secret(self) -> OwnSecret:
        return OwnSecret(
            self.client, namespace=self.namespace, name="hook", names=NAMES, now=self.clock.now
        )

    def given_secret(self) -> GivenSecret:
        return GivenSecret(
            self.client, namespace=self.namespace, name="hook", names=NAMES, now=self.clock.now
        )

    def bundles(self, secrets: PathSecrets | None = None) -> CaBundles:
        if secrets is None:
            secrets = PathSecrets(lambda: self.clock.day.timestamp())
            secrets.learn(KeyPair(b"certificate", b"key"))
        paths = {
            f"mutatingwebhookconfigurations/{self.configurations}": "/mutate",
            f"validatingwebhookconfigurations/{self.configurations}": "/validate",
        }
        return CaBundles(self.client, paths, secrets, clock=self.clock, linger=LINGER)

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/secrets/hook"

    async def secret(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(await self.client.get(self.path))
        return found

    async def held(self) -> dict[str, bytes]:
        """The Secret's values."""
        data = (await self.secret()).get("data", {})
        return {key: base64.b64decode(value) for key, value in data.items()}

    async def authorities(self) -> list[x509.Certificate]:
        """The CAs in the Secret."""
        return read_certificates((await self.held())["ca.crt"])

    async def put(self, values: Mapping[str, bytes | None], **more: object) -> None:
        """Write values of the Secret, as a person would."""
        data = {k: v if v is None else base64.b64encode(v).decode() for k, v in values.items()}
        await self.client.patch(self.path, {"data": data, **more})

    async def create(self, values: Mapping[str, bytes], kind: str = "Opaque") -> None:
        data = {key: base64.b64encode(value).decode() for key, value in values.items()}
        body = {"metadata": {"name": "hook"}, "type": kind, "data": data}
        await self.client.post(self.path.rpartition("/")[0], body)

    async def configurations_now(self) -> list[dict[str, Any]]:
        return [
            msgspec.json.decode(await self.client.get(f"{_collection(kind)}/{self.configurations}"))
            for kind in _KINDS
        ]

    async def published(self) -> list[list[x509.Certificate]]:
        """What each webhook trusts."""
        return [
            read_certificates(base64.b64decode(webhook["clientConfig"].get("caBundle", "")))
            for configuration in await self.configurations_now()
            for webhook in configuration["webhooks"]
        ]

    async def paths(self) -> list[str]:
        """Where each webhook is called, without the host."""
        clients = [
            webhook["clientConfig"]
            for configuration in await self.configurations_now()
            for webhook in configuration["webhooks"]
        ]
        return [
            one["url"].removeprefix(BY_URL["url"]) if "url" in one else one["service"]["path"]
            for one in clients
        ]

    async def trusts(self, pair: KeyPair | None) -> bool:
        """Whether every webhook trusts this certificate, and it is valid."""
        assert pair is not None
        chain = read_certificates(pair.cert_pem)
        in_time = chain[0].not_valid_before_utc <= self.clock.day < chain[0].not_valid_after_utc
        published = await self.published()
        return in_time and all(trusted_through(chain, bundle) for bundle in published)


@asynccontextmanager
async def a_shelf(client: Client, namespace: str, name: str) -> AsyncIterator[Shelf]:
    """With two configurations of that name, of two webhooks each, which match nothing."""
    for kind in _KINDS:
        body = {
            "apiVersion": _GROUP,
            "kind": kind,
            "metadata": {"name": name},
            "webhooks": [_webhook("a", BY_URL), _webhook("b", BY_SERVICE)],
        }
        await client.post(_collection(kind), body)
    yield Shelf(client, namespace, name, StageClock())
    for kind in _KINDS:
        await client.send("DELETE", f"{_collection(kind)}/{name}")


def path_of(configuration: Mapping[str, Any]) -> str:
    return f"{_collection(configuration['kind'])}/{configuration['metadata']['name']}"


def _collection(kind: str) -> str:
    return f"/apis/{_GROUP}/{kind.lower()}s"


def _webhook(name: str, called: dict[str, Any]) -> dict[str, Any]:
    rule = {
        "apiGroups": ["none.example.com"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["x"],
    }
    return {
        "name": f"{name}.example.com",
        "clientConfig": called,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
