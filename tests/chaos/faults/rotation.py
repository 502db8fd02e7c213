"""The fault that is none: the webhook's certificates end, and are changed while all goes on."""

import asyncio
import base64
import time

from cardquota.cluster.certificates import read_certificates
from harness.short_lived import nearly_ended

from ..api import Object
from ..lengths import Lengths
from ..scene import Scene

_SECRET = "/api/v1/namespaces/cardquota-system/secrets/cardquota-webhook"
_CONFIGURATIONS = tuple(
    f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/cardquota"
    for kind in ("mutating", "validating")
)
_IN_TIME = 120.0
"""Seconds until the new ones are in use, though replicas may be killed meanwhile."""


async def rotate_certificates(scene: Scene, lengths: Lengths) -> None:
    """The serving certificate has little left; by the dice its CA cannot sign any more either.

    Returns when what is new is trusted. That it takes too long is a finding.
    """
    with_authority = scene.dice.random() < 0.5
    held = await _secret(scene)
    if held is None:
        scene.found.append(f"the last change of certificates was not over after {_IN_TIME:.0f} s")
        return
    data: dict[str, str | None] = {
        key: base64.b64encode(value).decode() for key, value in nearly_ended(held).items()
    }
    if with_authority:
        data["ca.key"] = None
    while not (reply := await scene.api.patch(_SECRET, {"data": data})).ok:
        assert reply.code in (0, 409, 429, 500, 503, 504), reply
        await asyncio.sleep(0.5)
    old, deadline = held["ca.crt"], time.monotonic() + _IN_TIME
    while not await _changed(scene, str(data["tls.crt"]), old if with_authority else b""):
        if time.monotonic() > deadline:
            scene.found.append(f"certificates were not changed within {_IN_TIME:.0f} s")
            return
        await asyncio.sleep(1)
    kind = "CA and serving certificate" if with_authority else "serving certificate"
    scene.tally[f"certificates changed: {kind}"] += 1


async def _secret(scene: Scene) -> dict[str, bytes] | None:
    """As it stands, with the CA that signs."""
    deadline = time.monotonic() + _IN_TIME
    while time.monotonic() < deadline:
        reply = await scene.api.get(_SECRET)
        held = {key: base64.b64decode(text) for key, text in reply.body.get("data", {}).items()}
        if {"ca.crt", "ca.key", "tls.crt"} <= held.keys():
            return held
        await asyncio.sleep(0.5)
    return None


async def _changed(scene: Scene, short: str, old: bytes) -> bool:
    """Whether there is another certificate, of another CA than the old one, which is trusted."""
    reply = await scene.api.get(_SECRET)
    data = reply.body.get("data", {})
    if not reply.ok or data.get("tls.crt") in (None, short):
        return False
    text = base64.b64decode(data["ca.crt"])
    if scene.volcano is not None:
        scene.volcano.trust(old + text)  # else it enqueues nothing any more
    if text == old:
        return False
    (authority,) = read_certificates(text)
    bundles = [bundle for path in _CONFIGURATIONS for bundle in await _bundles(scene, path)]
    return bool(bundles) and all(authority in read_certificates(one) for one in bundles)


async def _bundles(scene: Scene, path: str) -> list[bytes]:
    """What each webhook trusts; nothing, if nobody knows."""
    reply = await scene.api.get(path)
    webhooks: list[Object] = reply.body.get("webhooks", []) if reply.ok else [{}]
    return [base64.b64decode(one.get("clientConfig", {}).get("caBundle", "")) for one in webhooks]
