"""The bearer token that the operator is shown: the user's own, or one of a service account."""

import time
from typing import Final, Protocol

import msgspec

from ...cluster.api.access import Access, AccessError
from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...quota.words import show
from ..reading import ClusterError, without_call

_BEARER: Final = "Bearer "
_LIFE: Final = 3_600
"""Seconds for which a token of a service account is asked for. It is made anew after half of it."""
_NONE: Final = (
    "your kubeconfig has no bearer token to show to the operator (a client certificate goes no "
    "further than the API server): name an account of which you may make one, --service-account "
    "NAMESPACE/NAME; what it may see the page shows"
)


class TokenSource(Protocol):
    """Gives the value of the header `Authorization`, with a token that is valid now."""

    async def __call__(self) -> str:
        """Errors: ClusterError."""


class UserToken:
    """That of the kubeconfig, whose credential plugin renews it."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def __call__(self) -> str:
        """Errors: ClusterError, also where there is none."""
        try:
            found = await self._access.authorization()
        except AccessError as error:
            raise ClusterError(str(error)) from error
        if found is None or not found.startswith(_BEARER):
            raise ClusterError(_NONE)
        return found


class _TokenStatus(msgspec.Struct):
    token: str


class _TokenAnswer(msgspec.Struct):
    status: _TokenStatus


class AccountToken:
    """One of a service account, made with the user's rights (TokenRequest)."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        self._whose = show(f"{namespace}/{name}")
        self._token, self._renew_at = "", float("-inf")

    async def __call__(self) -> str:
        """Errors: ClusterError."""
        if time.monotonic() >= self._renew_at:
            spec = {"spec": {"expirationSeconds": _LIFE}}
            try:
                answer = await self._client.post(self._path, spec)
                self._token = msgspec.json.decode(answer, type=_TokenAnswer).status.token
            except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
                why = without_call(str(error))
                raise ClusterError(f"cannot make a token of <{self._whose}>: {why}") from error
            self._renew_at = time.monotonic() + _LIFE / 2
        return f"{_BEARER}{self._token}"
