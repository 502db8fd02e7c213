"""The door the API server knocks at: its certificate, its server, and who is told whom to trust.

The certificate is looked at again and again, and a new one is served without closing the door.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from aiohttp import web

from cardquota_webhooks.server import serve
from cardquota_webhooks.tls import load, server_context

from ..cluster.api_error import ApiError, OutcomeUnknown
from ..cluster.ca_bundle import publish_ca
from ..cluster.certificate_store import load_or_create
from ..cluster.certificates import ServingCertificate
from ..cluster.client import Client
from ..install.manifests import names as webhook_names
from ..settings import Settings

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_RENEW_CERTIFICATE: Final = 600.0
"""Seconds between two looks at the certificate."""
_MISSING: Final = 2.0
"""Seconds between tries while something the administrator applies is missing."""


class AdmissionDoor:
    """Serves reviews under a certificate that the API server trusts."""

    def __init__(self, settings: Settings, client: Client, *, grace: float) -> None:
        """`grace`: seconds given to reviews in flight when the door closes."""
        self._settings = settings
        self._client = client
        self._grace = grace

    async def run(self, server: web.Server, opened: Callable[[], Awaitable[None]]) -> None:
        """Serve until cancelled. `opened` is awaited once the door is open, before the CA is
        published.

        Errors: OSError where the address is taken.
        """
        certificate = await self._certificate()
        tls = server_context(certificate.cert_pem, certificate.key_pem)
        runner = await serve(
            server,
            host=self._settings.webhook.host,
            port=self._settings.webhook.port,
            tls=tls,
            grace=self._grace,
        )
        try:
            await opened()
            while True:
                await self._publish(certificate)
                await asyncio.sleep(_RENEW_CERTIFICATE)
                certificate = await self._certificate()
                load(tls, certificate.cert_pem, certificate.key_pem)
        finally:
            await runner.cleanup()

    async def _certificate(self) -> ServingCertificate:
        settings = self._settings
        return await _insist(
            lambda: load_or_create(
                self._client,
                namespace=settings.namespace,
                name=settings.webhook.secret,
                names=serving_names(settings),
            ),
            "the serving certificate",
        )

    async def _publish(self, certificate: ServingCertificate) -> None:
        """Until our webhook configurations are there and trust our CA."""
        found = webhook_names(self._settings)

        async def publish() -> list[str]:
            return await publish_ca(
                self._client,
                certificate.ca_pem,
                mutating=found.mutating,
                validating=found.validating,
            )

        while True:
            if not await _insist(publish, "caBundle"):
                return
            await asyncio.sleep(_MISSING)


async def _insist(call: Callable[[], Coroutine[Any, Any, T]], what: str) -> T:
    """Try until the API server gives a usable answer."""
    while True:
        try:
            return await call()
        except (ApiError, OutcomeUnknown) as error:
            _LOG.warning("%s: %s; trying again", what, error)
            await asyncio.sleep(_MISSING)


def serving_names(settings: Settings) -> list[str]:
    """What the API server calls us by: the Service's names, and the host of the URL if any."""
    service = f"{settings.webhook.service}.{settings.namespace}.svc"
    names = [service, f"{service}.cluster.local"]
    host = urlsplit(settings.webhook.url).hostname if settings.webhook.url else None
    return [*names, host] if host else names
