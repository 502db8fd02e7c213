"""The product as what Volcano asks: where it listens, and the configuration of the scheduler."""

import base64
from typing import Any, Final

from ...paths import CHECKOUT
from ..folder import Folder, write_private
from ..probe import Probe

BLOCK: Final = CHECKOUT / "manifests" / "components" / "volcano" / "volcano-scheduler.conf"
"""What an administrator merges with Volcano's configuration."""
_IN_A_CLUSTER: Final = "https://cardquota-webhook.cardquota-system.svc:9445"
_CERTIFICATE: Final = "/api/v1/namespaces/cardquota-system/secrets/cardquota-webhook"


def enqueue_config(own: int) -> dict[str, Any]:
    """What a replica's configuration says of it."""
    listens = {"host": "127.0.0.1", "port": own, "advertise": f"127.0.0.1:{own}"}
    return {"volcano": {"enqueue": listens}}


def volcano_block(url: str) -> str:
    """The component's block for a product that listens at this address."""
    text = BLOCK.read_text()
    if _IN_A_CLUSTER not in text:
        raise AssertionError(f"{BLOCK} does not name {_IN_A_CLUSTER}")
    return text.replace(_IN_A_CLUSTER, url)


async def write_volcano_configuration(probe: Probe, folder: Folder, url: str) -> bool:
    """Have the stand-in ask the product. False while the product's CA is missing."""
    found = await probe.read(_CERTIFICATE)
    encoded = ((found or {}).get("data") or {}).get("ca.crt")
    if not encoded:
        return False
    write_private(folder.volcano_ca, base64.b64decode(encoded).decode())
    write_private(folder.volcano_config, volcano_block(url))
    return True
