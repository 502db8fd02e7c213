"""Our CA in the webhook configurations: the one field of them that is ours to write."""

import base64
import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from .api_error import ApiError
from .client import JSON_PATCH, Client

log = logging.getLogger(__name__)

_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"
_TRIES: Final = 5
_MOVED: Final = frozenset({409, 422})
"""Answers to a JSON patch whose `test` does not hold any more."""


class _ClientConfig(msgspec.Struct, rename="camel"):
    ca_bundle: str = ""


class _Webhook(msgspec.Struct, rename="camel"):
    name: str
    client_config: _ClientConfig


class _Configuration(msgspec.Struct):
    webhooks: list[_Webhook] | None = None


_decode = msgspec.json.Decoder(_Configuration).decode


async def publish_ca(
    client: Client, ca_pem: bytes, *, mutating: Sequence[str], validating: Sequence[str]
) -> list[str]:
    """Put `ca_pem` into every webhook of the named configurations; returns the missing ones.

    Guarantees: nothing but `clientConfig.caBundle` is written, and nothing at all where it is
    right already; a webhook that is renamed or moved meanwhile does not get it by mistake.
    A missing configuration, which an administrator has to apply, is logged and returned as
    `mutatingwebhookconfigurations/NAME`. Errors: ApiError, OutcomeUnknown (call it again).
    """
    wanted = base64.b64encode(ca_pem).decode()
    named = [f"mutatingwebhookconfigurations/{name}" for name in mutating]
    named += [f"validatingwebhookconfigurations/{name}" for name in validating]
    return [name for name in named if not await _publish(client, name, wanted)]


async def _publish(client: Client, name: str, wanted: str) -> bool:
    """Whether the configuration exists; then it is right when this returns."""
    path = f"{_GROUP}/{name}"
    for attempt in range(1, _TRIES + 1):
        try:
            webhooks = _decode(await client.get(path)).webhooks or []
            patch = _patch(webhooks, wanted)
            if patch:
                await client.patch(path, patch, content_type=JSON_PATCH)
                log.info("%s: published the CA", name)
        except ApiError as error:
            if error.status == 404:
                log.warning("%s is missing: apply the output of `cardquota manifests`", name)
                return False
            if error.status not in _MOVED or attempt == _TRIES:
                raise
        else:
            break
    return True


def _patch(webhooks: Sequence[_Webhook], wanted: str) -> list[dict[str, str]]:
    patch = []
    for index, webhook in enumerate(webhooks):
        if webhook.client_config.ca_bundle != wanted:
            at = f"/webhooks/{index}"
            patch += [
                {"op": "test", "path": f"{at}/name", "value": webhook.name},
                {"op": "add", "path": f"{at}/clientConfig/caBundle", "value": wanted},
            ]
    return patch
