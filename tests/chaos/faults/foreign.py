"""Somebody else's validating webhook, which takes its time with what we write too."""

import asyncio
import base64
import ssl
from pathlib import Path
from random import Random

from aiohttp import web

from ..api import Api, Object
from ..clients.objects import NAMESPACE

_PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_NAME = "chaos-foreign"


class Foreign:
    """Says yes to everything, a part of it after 1 to 9 s."""

    def __init__(self, private: Path, dice: Random, share: float = 0.2) -> None:
        """`private`: where the plane keeps its keys."""
        self._private, self._dice, self._share = private, dice, share
        self._port = 0

    async def start(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._review))
        await self._runner.setup()
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(self._private / "serving.crt", self._private / "serving.key")
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def install(self, api: Api) -> bool:
        """Have every write of a pod or a pod group go through it."""
        return (await api.create(_PATH, self._configuration())).ok

    async def remove(self, api: Api) -> bool:
        """Whether it is away."""
        return (await api.delete(f"{_PATH}/{_NAME}")).code in (200, 404)

    async def _review(self, request: web.BaseRequest) -> web.Response:
        review = await request.json()
        if self._dice.random() < self._share:
            await asyncio.sleep(self._dice.uniform(1, 9))
        answer = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({**review, "request": None, "response": answer})

    def _configuration(self) -> Object:
        authority = base64.b64encode((self._private / "ca.crt").read_bytes()).decode()
        where = {"url": f"https://127.0.0.1:{self._port}/", "caBundle": authority}
        everything = ["CREATE", "UPDATE"]
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": _NAME},
            "webhooks": [
                {
                    "name": "slow.chaos.example.com",
                    "clientConfig": where,
                    "rules": [
                        {
                            "apiGroups": ["", "scheduling.volcano.sh"],
                            "apiVersions": ["*"],
                            "operations": everything,
                            "resources": ["pods", "podgroups"],
                        }
                    ],
                    "failurePolicy": "Ignore",
                    "timeoutSeconds": 10,
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}
                    },
                }
            ],
        }
