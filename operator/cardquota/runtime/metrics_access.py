"""Who may read the metrics, if that is asked: the API server says who it is, and whether he may.

As kube-rbac-proxy does: a TokenReview of the bearer token, then a SubjectAccessReview for `get` on
the URL `/metrics`. The token crosses the network in plain text, as the metrics do.
"""

import hashlib
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client

_LOG = logging.getLogger(__name__)
_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_BEARER: Final = "Bearer "
REMEMBERED: Final = 60.0
"""Seconds for which an answer holds, whatever it was. Longer than between two scrapes: who was
let in need not stand in line with those who are not known."""
MOST: Final = 100
"""Answers that are remembered."""
AT_ONCE: Final = 4
"""Questions to the API server under way. Who comes then is to try again."""
_TIMEOUT: Final = 3.0
"""Seconds."""


class _TokenUser(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}


class _ReviewStatus(msgspec.Struct):
    authenticated: bool = False
    allowed: bool = False
    user: _TokenUser = msgspec.field(default_factory=_TokenUser)


class _AccessReview(msgspec.Struct):
    status: _ReviewStatus = msgspec.field(default_factory=_ReviewStatus)


_DECODER: Final = msgspec.json.Decoder(_AccessReview)


class MetricsAccess:
    """Answers from memory, or asks. Tokens are not kept, only their digests."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._client = client
        self._clock = clock
        self._known: dict[bytes, tuple[float, HTTPStatus]] = {}
        """By digest of the token: until when, and the answer. The oldest first."""
        self._asking = 0
        self._failed = False
        """Whether the last question had no answer, which is logged once."""

    def __len__(self) -> int:
        """Answers that are remembered."""
        return len(self._known)

    async def answer(self, authorization: str) -> HTTPStatus:
        """200, or why not: 401 nobody known, 403 he may not, 429 too many ask, 503 not known."""
        token = authorization.removeprefix(_BEARER).strip()
        if not authorization.startswith(_BEARER) or not token or not token.isascii():
            return HTTPStatus.UNAUTHORIZED
        digest = hashlib.sha256(token.encode()).digest()
        until, known = self._known.get(digest, (0.0, HTTPStatus.UNAUTHORIZED))
        if self._clock() < until:
            return known
        if self._asking >= AT_ONCE:
            return HTTPStatus.TOO_MANY_REQUESTS
        self._asking += 1
        try:
            found = await self._ask(token)
        except (ApiError, OutcomeUnknown, msgspec.DecodeError) as error:
            if not self._failed:
                _LOG.warning("who reads the metrics is not known: %s", error)
            self._failed = True
            return HTTPStatus.SERVICE_UNAVAILABLE
        finally:
            self._asking -= 1
        self._failed = False
        self._known.pop(digest, None)
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[digest] = self._clock() + REMEMBERED, found
        return found

    async def _ask(self, token: str) -> HTTPStatus:
        who = await self._review(_TOKENS, {"token": token})
        if not who.authenticated:
            return HTTPStatus.UNAUTHORIZED
        user = who.user
        may = await self._review(
            _ACCESS,
            {
                "user": user.username,
                "uid": user.uid,
                "groups": user.groups,
                "extra": user.extra,
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            },
        )
        return HTTPStatus.OK if may.allowed else HTTPStatus.FORBIDDEN

    async def _review(self, path: str, spec: dict[str, object]) -> _ReviewStatus:
        return _DECODER.decode(
            await self._client.post(path, {"spec": spec}, timeout=_TIMEOUT)
        ).status
