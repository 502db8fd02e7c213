"""Who reviews the pods of a namespace: our webhooks, constant ones, or none, by a label.

All webhook configurations stand side by side the whole time, and the constant ones are copies of
ours, with the same rules, match conditions and time-outs. Only `namespaceSelector` and the address
differ. So nothing has to be switched between rounds, and the API server looks at the same
configurations in each.
"""

import base64
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from cardquota.quota import GATE, IS_MANAGED, MANAGED, NAMESPACE_MODE
from cardquota_dev.build.toolchain import environment, go
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.credentials.keys import Keys, make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import Cluster, eventually
from integration.asking import ask

OURS: Final = "ours"
AIOHTTP: Final = "aiohttp"
GO: Final = "go"
GO_HTTP1: Final = "go-http1"
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
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as scratch, ExitStack() as stack:
        folder = Folder(Path(scratch))
        folder.private.mkdir()
        keys = make_keys(folder)
        commands = {
            AIOHTTP: [sys.executable, "-m", "bench.processes.constant_webhook"],
            GO: [str(_built(Path(scratch)))],
            GO_HTTP1: [str(_built(Path(scratch))), "-http1"],
        }
        addresses = {
            name: stack.enter_context(_running(command, keys)) for name, command in commands.items()
        }
        authority = base64.b64encode(keys.authority.read_bytes()).decode()
        for kind in _KINDS:
            path = f"{_GROUP}/{kind}"
            ours = ask(cluster, "GET", f"{path}/cardquota").body
            for name, address in addresses.items():
                copy = _copied(ours, name, address, authority)
                assert (reply := ask(cluster, "POST", path, copy)).ok, reply
            for webhook in ours["webhooks"]:
                _select(webhook, OURS)
            assert (reply := ask(cluster, "PUT", f"{path}/cardquota", ours)).ok, reply
        yield


def _copied(ours: dict[str, Any], name: str, address: str, authority: str) -> dict[str, Any]:
    """Our configuration as another's: what it says about pods, at another address."""
    webhooks = []
    for webhook in deepcopy(ours["webhooks"]):
        if any("pods" in rule["resources"] for rule in webhook["rules"]):
            path = "/mutate" if "/mutate/" in webhook["clientConfig"]["url"] else "/validate"
            webhook["clientConfig"] = {"url": address + path, "caBundle": authority}
            _select(webhook, name)
            webhooks.append(webhook)
    metadata = {"name": f"bench-{name}"}
    return {**{key: ours[key] for key in ("apiVersion", "kind")}, "metadata": metadata} | {
        "webhooks": webhooks
    }


def _select(webhook: dict[str, Any], variant: str) -> None:
    expressions = webhook["namespaceSelector"].setdefault("matchExpressions", [])
    expressions.append({"key": _VARIANT, "operator": "In", "values": [variant]})


@contextmanager
def _running(command: list[str], keys: Keys) -> Iterator[str]:
    """A constant webhook for the block; its address. It ends with its standard input."""
    (port,) = free_ports(1)
    arguments = [str(port), str(keys.certificate), str(keys.key), json.dumps(_PATCH)]
    paths = os.pathsep.join([str(CHECKOUT / "tests"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert process.stdin is not None
    try:
        eventually(lambda: _listens(port), f"{command} listens")
        yield f"https://127.0.0.1:{port}"
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _built(folder: Path) -> Path:
    """The Go one, built with the Go that builds the control plane."""
    binary = folder / "constant-webhook"
    subprocess.run(
        [str(go()), "build", "-trimpath", "-buildvcs=false", "-o", str(binary), "."],
        cwd=Path(__file__).with_name("constant_webhook_go"),
        env=environment(),
        check=True,
    )
    return binary
