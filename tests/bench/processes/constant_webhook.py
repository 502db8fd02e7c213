"""A webhook on aiohttp that answers a constant: what any Python webhook costs at the least.

`python -m bench.processes.constant_webhook PORT CERTIFICATE KEY PATCH` serves `/mutate` (allowed,
with that JSON patch) and `/validate` (allowed) on 127.0.0.1 until standard input ends. Of a review
it reads the uid alone, which the answer must repeat.
"""

import asyncio
import base64
import ssl
import sys
from collections.abc import Awaitable, Callable

from aiohttp import web

_UID = b'"uid":"'


def application(patch: str) -> web.Application:
    """The answers are made once; a review's uid is put between their halves."""
    encoded = base64.b64encode(patch.encode()).decode()
    app = web.Application()
    app.router.add_post("/mutate", _answering(f',"patchType":"JSONPatch","patch":"{encoded}"'))
    app.router.add_post("/validate", _answering(""))
    return app


def _answering(more: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    head = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"'
    tail = f'","allowed":true{more}}}}}'.encode()

    async def answer(http: web.Request) -> web.Response:
        body = await http.read()
        at = body.index(_UID) + len(_UID)
        uid = body[at : body.index(b'"', at)]
        return web.Response(body=head + uid + tail, content_type="application/json")

    return answer


async def serve(port: int, certificate: str, key: str, patch: str) -> None:
    """Until standard input ends."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.load_cert_chain(certificate, key)
    runner = web.AppRunner(application(patch), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), *sys.argv[2:]))
