"""Who reviews the pods of a namespace: our webhooks, constant ones, or none, by a label.

All webhook configurations stand side by side the whole time, and the constant ones are copies of
ours, with the same rules, match conditions and time-outs. Only `namespaceSelector` and the address
differ. So nothing has to be switched between rounds, and the API server looks at the same
configurations in each.
"""

import base64
import json
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from cardquota.quota import GATE, IS_MANAGED, MANAGED, NAMESPACE_MODE
from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import Cluster, eventually
from integration.asking import ask

from .child import Child

OURS: Final = "ours"
CONSTANT: Final = "constant"
NONE: Final = "none"

_VARIANT: Final = "bench.cardquota.dev/webhooks"
_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"
_KINDS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_PATCH: Final = [
    {"op": "add", "path": "/spec/schedulingGates/-", "value": {"name": GATE}},
    {"op": "add", "path": "/metadata/labels", "value": {MANAGED: IS_MANAGED}},
]
"""What ours answers for a pod that has a gate of somebody else's already, and no label."""


def labels(variant: str) -> dict[str, str]:
    """Of a namespace with that variant; without webhooks our policies do not look at it either."""
    found = {_VARIANT: variant}
    return found | {NAMESPACE_MODE: "off"} if variant == NONE else found


@contextmanager
def webhook_variants(cluster: Cluster) -> Iterator[None]:
    """All of them, open for the block."""
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as scratch:
        folder = Folder(Path(scratch))
        folder.private.mkdir()
        keys = make_keys(folder)
        (port,) = free_ports(1)
        module = [sys.executable, "-m", "bench.processes.constant_webhook", str(port)]
        command = [*module, str(keys.certificate), str(keys.key), json.dumps(_PATCH)]
        authority = base64.b64encode(keys.authority.read_bytes()).decode()
        with Child(command, Path(scratch, "constant.log")):
            eventually(lambda: _listens(port), "the constant webhook listens")
            for kind in _KINDS:
                path = f"{_GROUP}/{kind}"
                ours = ask(cluster, "GET", f"{path}/cardquota").body
                copy = _copied(ours, f"https://127.0.0.1:{port}", authority)
                assert (reply := ask(cluster, "POST", path, copy)).ok, reply
                for webhook in ours["webhooks"]:
                    _select(webhook, OURS)
                assert (reply := ask(cluster, "PUT", f"{path}/cardquota", ours)).ok, reply
            yield


def _copied(ours: dict[str, Any], address: str, authority: str) -> dict[str, Any]:
    """Our configuration as another's: what it says about pods, at another address."""
    webhooks = []
    for webhook in deepcopy(ours["webhooks"]):
        if any("pods" in rule["resources"] for rule in webhook["rules"]):
            path = "/mutate" if "/mutate/" in webhook["clientConfig"]["url"] else "/validate"
            webhook["clientConfig"] = {"url": address + path, "caBundle": authority}
            _select(webhook, CONSTANT)
            webhooks.append(webhook)
    metadata = {"name": f"bench-{CONSTANT}"}
    return {**{key: ours[key] for key in ("apiVersion", "kind")}, "metadata": metadata} | {
        "webhooks": webhooks
    }


def _select(webhook: dict[str, Any], variant: str) -> None:
    expressions = webhook["namespaceSelector"].setdefault("matchExpressions", [])
    expressions.append({"key": _VARIANT, "operator": "In", "values": [variant]})


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
