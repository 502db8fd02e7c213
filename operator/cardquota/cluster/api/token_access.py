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
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from .api_error import ApiError, OutcomeUnknown
from .client import Client

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_BEARER: Final = "Bearer "
REMEMBERED: Final = 60.0
"""Seconds for which an answer holds, whatever it was; twice as long while the API server is asked
about too many others who are known."""
MOST: Final = 100
"""Callers who are remembered, and go first if they were not let in; and as many tokens that nobody
knows."""
MOST_RIGHTS: Final = 128
"""Answers about one of them that are remembered."""
AT_ONCE: Final = 4
"""Callers about whom the API server is asked at a time; and as many who were not let in so far, so
that they keep nobody out who was. Who comes then is to try again."""
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
    user: _TokenUser
    may: dict[AskedAccess, bool] = field(default_factory=dict)
    """The oldest first."""

    @property
    def let_in(self) -> bool:
        """Whether he may do anything that was asked: a tenant makes as many tokens as he likes."""
        return any(self.may.values())


def _put(kept: dict[bytes, T], digest: bytes, found: T) -> None:
    kept.pop(digest, None)
    while len(kept) >= MOST:
        del kept[next(iter(kept))]
    kept[digest] = found


class TokenAccess:
    """Answers from memory, or asks. Tokens are not kept, only their digests."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._client = client
        self._clock = clock
        self._known: dict[bytes, _RememberedCaller] = {}
        """By digest of the token. The oldest first."""
        self._refused: dict[bytes, float] = {}
        """By digest of a token that nobody knows: until when. The oldest first."""
        self._asking = {True: 0, False: 0}
        """About how many callers, who were let in or were not."""
        self._failed = False
        """Whether the last question had no answer, which is logged once."""

    def __len__(self) -> int:
        """Callers who are remembered, and tokens that nobody knows."""
        return len(self._known) + len(self._refused)

    async def caller(self, authorization: str, *asked: AskedAccess) -> KnownCaller:
        """Who sends this header, and which of these things he may do."""
        token = authorization.removeprefix(_BEARER).strip()
        if not authorization.startswith(_BEARER) or not token or not token.isascii():
            return KnownCaller(HTTPStatus.UNAUTHORIZED)
        digest = hashlib.sha256(token.encode()).digest()
        if self._clock() < self._refused.get(digest, 0.0):
            return KnownCaller(HTTPStatus.UNAUTHORIZED)
        known = self._known.get(digest)
        let_in = known is not None and known.let_in
        if self._asking[let_in] >= AT_ONCE:
            if known is None or not self._holds(known, asked, late=REMEMBERED):
                return KnownCaller(HTTPStatus.TOO_MANY_REQUESTS)
        elif known is None or not self._holds(known, asked):
            self._asking[let_in] += 1
            try:
                async with asyncio.timeout(_TOGETHER):
                    known = await self._ask(digest, token, asked)
            except (ApiError, OutcomeUnknown, TimeoutError, msgspec.DecodeError) as error:
                if not self._failed:
                    _LOG.warning("what a caller may read is not known: %s", error)
                self._failed = True
                return KnownCaller(HTTPStatus.SERVICE_UNAVAILABLE)
            finally:
                self._asking[let_in] -= 1
            self._failed = False
            if known is None:
                return KnownCaller(HTTPStatus.UNAUTHORIZED)
        may = frozenset(one for one in asked if known.may.get(one))
        return KnownCaller(HTTPStatus.OK, known.user.username, may)

    def _holds(
        self, known: _RememberedCaller, asked: tuple[AskedAccess, ...], late: float = 0.0
    ) -> bool:
        """Whether it answers all of this, and is not older than it may be by so many seconds."""
        return self._clock() < known.until + late and all(one in known.may for one in asked)

    async def _ask(
        self, digest: bytes, token: str, asked: tuple[AskedAccess, ...]
    ) -> _RememberedCaller | None:
        """What is not known of it; None: the API server does not know the token. Remembered as far
        as it was answered.
        """
        known = self._known.get(digest)
        if known is None or self._clock() >= known.until:
            who, until = await self._review(_TOKENS, {"token": token}), self._clock() + REMEMBERED
            if not who.authenticated:
                self._known.pop(digest, None)
                _put(self._refused, digest, until)
                return None
            known = _RememberedCaller(until, who.user)
            try:
                await self._learn(known, asked)
            finally:  # until then the former answers count
                if digest not in self._known and len(self._known) >= MOST:
                    others = (one for one, caller in self._known.items() if not caller.let_in)
                    self._known.pop(next(others, digest), None)
                _put(self._known, digest, known)
        else:
            await self._learn(known, asked)
        return known

    async def _learn(self, known: _RememberedCaller, asked: tuple[AskedAccess, ...]) -> None:
        user = known.user
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
