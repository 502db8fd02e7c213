"""Who a caller of ours is and what he may do, as the API server says: a TokenReview of his bearer
token, then SubjectAccessReviews, as kube-rbac-proxy does.

The token crosses the network in plain text where our port has no TLS.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import msgspec

from .api_error import ApiError, OutcomeUnknown
from .client import Client

_LOG = logging.getLogger(__name__)
_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_BEARER: Final = "Bearer "
REMEMBERED: Final = 60.0
"""Seconds for which an answer holds, whatever it was. Longer than between two scrapes: who was
let in need not stand in line with those who are not known."""
MOST: Final = 100
"""Callers who are remembered."""
MOST_RIGHTS: Final = 128
"""Answers about one of them that are remembered."""
AT_ONCE: Final = 4
"""Callers about whom the API server is asked at a time. Who comes then is to try again."""
_TIMEOUT: Final = 3.0
"""Seconds for one question."""
_TOGETHER: Final = 10.0
"""Seconds for all questions about one call."""


class AskedAccess(NamedTuple):
    """Something that a user may do or not, as roles name it."""

    verb: str
    group: str = ""
    resource: str = ""
    name: str = ""
    """Of one object; empty: of all."""
    url: str = ""
    """A URL instead of a resource."""

    @property
    def attributes(self) -> dict[str, Any]:
        """As a SubjectAccessReview asks it."""
        if self.url:
            return {"nonResourceAttributes": {"path": self.url, "verb": self.verb}}
        keys = ("verb", "group", "resource", "name")
        return {"resourceAttributes": {k: v for k in keys if (v := getattr(self, k))}}

    def __str__(self) -> str:
        if self.url:
            return f"{self.verb} on the URL {self.url}"
        return f"{self.verb} on {self.resource}{self.group and '.'}{self.group}"


class KnownCaller(NamedTuple):
    """Who calls, and what of the things asked about he may do."""

    status: HTTPStatus
    """200; 401 nobody known, 429 too many ask, 503 the API server does not say."""
    user: str = ""
    may: frozenset[AskedAccess] = frozenset()


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


@dataclass(slots=True)
class _RememberedCaller:
    until: float
    user: _TokenUser | None
    """None: the API server does not know the token."""
    may: dict[AskedAccess, bool] = field(default_factory=dict)
    """The oldest first."""


class TokenAccess:
    """Answers from memory, or asks. Tokens are not kept, only their digests."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._client = client
        self._clock = clock
        self._known: dict[bytes, _RememberedCaller] = {}
        """By digest of the token. The oldest first."""
        self._asking = 0
        self._failed = False
        """Whether the last question had no answer, which is logged once."""

    def __len__(self) -> int:
        """Callers who are remembered."""
        return len(self._known)

    async def caller(self, authorization: str, *asked: AskedAccess) -> KnownCaller:
        """Who sends this header, and which of these things he may do."""
        token = authorization.removeprefix(_BEARER).strip()
        if not authorization.startswith(_BEARER) or not token or not token.isascii():
            return KnownCaller(HTTPStatus.UNAUTHORIZED)
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is None or self._clock() >= known.until or self._lacks(known, asked):
            if self._asking >= AT_ONCE:
                return KnownCaller(HTTPStatus.TOO_MANY_REQUESTS)
            self._asking += 1
            try:
                async with asyncio.timeout(_TOGETHER):
                    known = await self._ask(digest, token, asked)
            except (ApiError, OutcomeUnknown, TimeoutError, msgspec.DecodeError) as error:
                if not self._failed:
                    _LOG.warning("what a caller may read is not known: %s", error)
                self._failed = True
                return KnownCaller(HTTPStatus.SERVICE_UNAVAILABLE)
            finally:
                self._asking -= 1
            self._failed = False
        if known.user is None:
            return KnownCaller(HTTPStatus.UNAUTHORIZED)
        may = frozenset(one for one in asked if known.may.get(one))
        return KnownCaller(HTTPStatus.OK, known.user.username, may)

    @staticmethod
    def _lacks(known: _RememberedCaller, asked: tuple[AskedAccess, ...]) -> bool:
        return known.user is not None and any(one not in known.may for one in asked)

    async def _ask(
        self, digest: bytes, token: str, asked: tuple[AskedAccess, ...]
    ) -> _RememberedCaller:
        """What is not known of it. Remembered as far as it was answered."""
        known = self._known.get(digest)
        if known is None or self._clock() >= known.until:
            who = await self._review(_TOKENS, {"token": token})
            user = who.user if who.authenticated else None
            known = _RememberedCaller(self._clock() + REMEMBERED, user)
            self._known.pop(digest, None)
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            self._known[digest] = known
        if known.user is not None:
            await self._learn(known, known.user, asked)
        return known

    async def _learn(
        self, known: _RememberedCaller, user: _TokenUser, asked: tuple[AskedAccess, ...]
    ) -> None:
        whose = {
            "user": user.username,
            "uid": user.uid,
            "groups": user.groups,
            "extra": user.extra,
        }
        for one in asked:
            if one not in known.may:
                found = await self._review(_ACCESS, {**whose, **one.attributes})
                if len(known.may) >= MOST_RIGHTS:
                    del known.may[next(iter(known.may))]
                known.may[one] = found.allowed

    async def _review(self, path: str, spec: dict[str, Any]) -> _ReviewStatus:
        answer = await self._client.post(path, {"spec": spec}, timeout=_TIMEOUT)
        return _DECODER.decode(answer).status
