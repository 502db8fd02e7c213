"""The product as the scheduler's extender: where it listens, and how the two know each other."""

import asyncio
import base64
from collections.abc import Iterable
from typing import Any

from ..folder import Folder, write_private
from ..probe import Probe

_SECRETS = "/api/v1/namespaces/cardquota-system/secrets"
_SERVER, _CLIENT = "cardquota-extender", "cardquota-extender-client"
_FILES = (("ca.crt", _SERVER), ("tls.crt", _CLIENT), ("tls.key", _CLIENT))


def extender_config(own: int, front: int) -> dict[str, Any]:
    """What a replica's configuration says of it. `front`: the port that the scheduler calls."""
    return {
        "extender": {
            "enabled": True,
            "host": "127.0.0.1",
            "port": own,
            "url": f"https://127.0.0.1:{front}",
            "advertise": f"127.0.0.1:{own}",
        }
    }


async def write_credentials(probe: Probe, folder: Folder) -> bool:
    """Write what the scheduler needs of the product's Secrets. False while one is missing."""
    folder.extender.mkdir(mode=0o700, exist_ok=True)
    for name, secret in _FILES:
        found = await probe.read(f"{_SECRETS}/{secret}")
        encoded = ((found or {}).get("data") or {}).get(name)
        if not encoded:
            return False
        write_private(folder.extender / name, base64.b64decode(encoded).decode())
    return True


async def listen(ports: Iterable[int]) -> bool:
    """Whether somebody listens on each of these ports of this machine."""
    for port in ports:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return False
        writer.close()
    return True
