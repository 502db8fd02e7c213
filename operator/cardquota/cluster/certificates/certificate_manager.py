"""Which certificate this replica serves, and when it switches to another one.

The one rule: *a certificate is served once every API server has had the time to learn of its CA.*
It holds whoever made the certificate, and in whatever order Secret and caBundle changed: we and
cert-manager write CA and certificate together, and a Secret may be edited by hand. Until then the
former certificate is served, if still valid.

Why not a library: `cryptography` makes certificates (`certificates`), but no library knows three
replicas and one caBundle. Kopf's webhook server makes its own certificate in each process, and
serves it before any API server has learnt of its CA, which takes up to `KNOWN_AFTER`.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

import msgspec

from ..api.api_error import ApiError, OutcomeUnknown
from .ca_bundle import CaBundles, PathSecrets
from .certificate_store import CertificateSource, Holding, utc_now
from .certificates import KeyPair, read_certificates, trusted_through

log = logging.getLogger(__name__)

KNOWN_AFTER: Final = 10.0
"""Seconds after which API servers know a CA in caBundle. They watch the webhook configurations and
follow a change within tens of milliseconds (measured). Ten seconds allow for a watch that must be
reopened. Waiting costs nothing: the certificate that is served meanwhile is valid."""


class CertificateManager:
    """Reads Secret and caBundle, and decides what to serve.

    Guarantees: `look` never raises, whatever the API server answers or the Secret contains. It
    returns what was served before if there is nothing better. What is wrong is in `problem`, and
    logged once per change.
    Not guaranteed: that a certificate is trusted if the webhook configurations cannot be written.
    """

    def __init__(
        self,
        source: CertificateSource,
        bundles: CaBundles,
        secrets: PathSecrets,
        *,
        now: Callable[[], datetime] = utc_now,
        known_after: float = KNOWN_AFTER,
    ) -> None:
        self._source = source
        self._bundles = bundles
        self._secrets = secrets
        self._now = now
        self._known_after = known_after
        self._served: Holding | None = None
        self.problem = ""
        """In words for people: why certificates are not in order; empty if they are."""
        self.settled = False
        """Whether the last look found everything in order and no change under way."""

    async def look(self) -> KeyPair | None:
        """What to serve from now on. None while there is nothing to serve."""
        before = self._served.serving if self._served else None
        self.settled = False
        try:
            problem = await self._look()
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            problem = f"certificates: {error}; trying again"
        if problem != self.problem:
            self.problem = problem
            if problem:
                log.warning("%s", problem)
            else:
                log.info("certificates are in order again")
        found = self._served.serving if self._served else None
        if found is not None and found != before:
            cert = read_certificates(found.cert_pem)[0]
            until = cert.not_valid_after_utc
            log.info("serving certificate %x, valid until %s", cert.serial_number, until)
        return found

    @property
    def bundle(self) -> bytes:
        """The CAs by which others know our certificate, PEM; empty if they are not known."""
        return self._served.bundle if self._served is not None else b""

    async def _look(self) -> str:
        found = await self._source.look()
        holding = found.holding or self._served
        if holding is None:
            return found.problem
        self._secrets.learn(holding.serving)
        problem = found.problem
        try:
            await self._bundles.look(holding.bundle or None)
        except ApiError as error:
            # Serve all the same: an administrator may have published the CA.
            problem = problem or f"caBundle of the webhook configurations: {error}; trying again"
        if found.holding is None:
            return problem
        if self._may_serve(holding):
            self._served = holding
            self.settled = not (problem or self._bundles.missing)
        elif not holding.bundle:
            return (
                "caBundle of the webhook configurations does not hold the CA of the new serving "
                "certificate: the one before is still served; the Secret has no ca.crt, so see "
                "why cert-manager's ca-injector does not write it"
            )
        return problem

    def _may_serve(self, holding: Holding) -> bool:
        served = self._served
        if served is not None and served.serving == holding.serving:
            return True
        chain = read_certificates(holding.serving.cert_pem)
        if trusted_through(chain, self._bundles.trusted(self._known_after)):
            return True
        if not holding.bundle and self._bundles.empty:
            return True  # the API server trusts the CAs of its machine, as before
        if served is not None:
            return read_certificates(served.serving.cert_pem)[0].not_valid_after_utc <= self._now()
        # At the start, other replicas may serve under a trusted CA that we do not know.
        return not self._bundles.others
