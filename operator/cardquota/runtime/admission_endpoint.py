"""The endpoint for the API server's reviews: an HTTPS server, and its certificate.

The certificate is checked again and again. A new one is served without closing the server.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from ..cluster.api.client import Client
from ..cluster.certificates.ca_bundle import CaBundles, PathSecrets
from ..cluster.certificates.certificate_manager import CertificateManager
from ..cluster.certificates.certificate_store import CertificateSource, GivenSecret, OwnSecret
from ..cluster.certificates.certificates import KeyPair
from ..cluster.serving.http_server import HttpServer
from ..cluster.serving.tls import load, server_context
from ..install.manifests import webhook_paths
from ..settings import Extender, Settings, Webhook

_LOG = logging.getLogger(__name__)
_LOOK: Final = 5.0
"""Seconds between two reads of Secret and webhook configurations: three small reads. A changed
Secret, or configurations that were applied again (without our CA), are noticed this soon."""
_LOOK_AGAIN: Final = 1.0
"""The same while something is missing, wrong or under way."""


class AdmissionEndpoint:
    """Serves reviews under a certificate that the API server trusts."""

    def __init__(self, settings: Settings, client: Client, *, grace: float) -> None:
        """`grace`: seconds for reviews in flight when the server closes."""
        self._settings = settings
        self._grace = grace
        self._refused = ""
        self._secrets = PathSecrets()
        self._unknown = asyncio.Event()
        webhook = settings.webhook
        self._certificates = CertificateManager(
            certificate_source(
                settings,
                client,
                webhook,
                webhook.secret,
                serving_names(webhook, settings.namespace),
            ),
            CaBundles(client, webhook_paths(settings), self._secrets),
            self._secrets,
        )

    @property
    def problem(self) -> str:
        """In words for people: why certificates are not in order; empty if they are."""
        return self._certificates.problem or self._refused

    @property
    def bundle(self) -> bytes:
        """The CAs by which others know our certificate, PEM; empty if they are not known."""
        return self._certificates.bundle

    def knows(self, secret: str) -> bool:
        """Whether who calls a path that ends with this is the API server (N1).

        If not, the webhook objects are looked at soon, at most once a second however many call: the
        path may have been applied again without its secret.
        """
        if self._secrets.knows(secret):
            return True
        self._unknown.set()
        return False

    async def run(
        self,
        server: HttpServer,
        beside: Callable[[ssl.SSLContext], Awaitable[None]] | None,
        opened: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        """Serve until cancelled. `beside` begins what else has this certificate: its TLS follows a
        new one by itself. `opened` runs once all listen.

        Errors: OSError if the address is in use; those of `beside` and `opened`.
        """
        served, tls = await self._first()
        webhook = self._settings.webhook
        await server.start(webhook.host, webhook.port, tls)
        try:
            if beside is not None:
                await beside(tls)
            # Both at once: `opened` may wait long for the watches to sync.
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(opened())
                tasks.create_task(self._reload(tls, served))
        finally:
            await server.stop(self._grace)

    async def _first(self) -> tuple[KeyPair, ssl.SSLContext]:
        while True:
            found = await self._certificates.look()
            if found is not None:
                try:
                    return found, server_context(found.cert_pem, found.key_pem)
                except ssl.SSLError as error:
                    self._refuse(error)
            await asyncio.sleep(_LOOK_AGAIN)

    async def _reload(self, tls: ssl.SSLContext, served: KeyPair) -> None:
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            if self._certificates.settled:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK - _LOOK_AGAIN):
                        await self._unknown.wait()
            self._unknown.clear()
            found = await self._certificates.look()
            if found is None or found == served:
                continue
            try:
                load(tls, found.cert_pem, found.key_pem)
            except ssl.SSLError as error:
                self._refuse(error)
            else:
                served, self._refused = found, ""

    def _refuse(self, error: ssl.SSLError) -> None:
        """A readable certificate is not always usable: its key may be too short for the library."""
        where = f"{self._settings.namespace}/{self._settings.webhook.secret}"
        refused = f"Secret <{where}>: its certificate cannot be served: {error.reason}"
        if refused != self._refused:
            self._refused = refused
            _LOG.warning("%s", refused)


def serving_names(server: Webhook | Extender, namespace: str) -> list[str]:
    """The names by which a server may be called: the host of its URL if any, and its Service's. The
    first is the one that is used, so every certificate has it.
    """
    service = f"{server.service}.{namespace}.svc"
    names = [service, f"{service}.cluster.local"]
    host = urlsplit(server.url).hostname if server.url else None
    return [host, *names] if host else names


def certificate_source(
    settings: Settings, client: Client, server: Webhook | Extender, secret: str, names: list[str]
) -> CertificateSource:
    """A Secret by whom the server's settings name, for these names."""
    namespace = settings.namespace
    if server.certificates == "own":
        return OwnSecret(client, namespace=namespace, name=secret, names=names)
    # Its maker need not have included names that are not used; those of callers are not read here.
    used = names[:1] if secret == server.secret else []
    setting = f"{'webhook' if server is settings.webhook else 'extender'}.certificates"
    return GivenSecret(client, namespace=namespace, name=secret, names=used, setting=setting)
