"""The start of the stand-in on a plane."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from ...failure import PlaneError
from ..children import Children
from ..components import Program
from ..credentials.identities import Identity, write_kubeconfigs
from ..credentials.keys import Keys
from ..folder import Folder, write_private_json
from ..kubectl import apply
from ..options import Options
from ..ports import free_ports
from ..probe import Probe
from .api_objects import QUEUES, SCHEDULING, Json, status
from .registration import ACCOUNTS, accounts, default_queue, webhooks

_PATIENCE: Final = 120.0
_LIFE: Final = 30 * 24 * 3600
"""Seconds that a token is valid: as long as the plane's certificates."""
_BROKEN_QUEUE: Final[Json] = {
    "apiVersion": SCHEDULING,
    "kind": "Queue",
    "metadata": {"name": "is-the-webhook-of-volcano-live"},
    "spec": {"guarantee": {"resource": {"cpu": "1"}}},
}


async def start_volcano(
    options: Options,
    children: Children,
    probe: Probe,
    kubectl: Path,
    keys: Keys,
    server: str,
) -> None:
    """Return once its parts work. Raises PlaneError.

    With the definitions of queues it has a queue `default`, and its webhooks are in force; without
    any it starts and finds nothing to do.
    """
    folder, namespace = options.folder, options.volcano
    await _apply(kubectl, folder, "volcano-accounts", accounts(namespace, "tenant"))
    identities = [await _identity(probe, folder, namespace, one) for one in ACCOUNTS]
    write_kubeconfigs({one.name: one for one in identities}, server, keys)
    ports = free_ports(len(ACCOUNTS))
    for identity, port in zip(identities, ports, strict=True):
        await children.start(_program(options, identity, port, keys))
    for identity, port in zip(identities, ports, strict=True):
        ready = partial(probe.ok, f"https://127.0.0.1:{port}/readyz")
        await children.until(ready, f"{identity.name} ready", _PATIENCE)
    if options.definitions == "none":
        return
    await _apply(kubectl, folder, "volcano-webhooks", webhooks(ports[-1], keys))
    await children.until(lambda: _refuses(probe), "Volcano's webhooks live", _PATIENCE)
    await _apply(kubectl, folder, "volcano-queue", default_queue())
    await children.until(lambda: _is_open(probe), "the queue default is open", _PATIENCE)


async def _apply(kubectl: Path, folder: Folder, name: str, manifest: Json) -> None:
    file = folder.private / f"{name}.json"
    write_private_json(file, manifest)
    await apply(kubectl, folder.kubeconfig, [file])


async def _identity(probe: Probe, folder: Folder, namespace: str, account: str) -> Identity:
    where = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    wanted = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": _LIFE},
    }
    code, answer = await probe.ask("POST", where, wanted)
    if code >= 300 or not code:
        raise PlaneError(f"no token for {namespace}:{account}: {answer.get('message', code)}")
    return Identity(
        name=account,
        user=f"system:serviceaccount:{namespace}:{account}",
        groups=(),
        kubeconfig=folder.private / f"kubeconfig-{account}",
        token=str(status(answer)["token"]),
    )


def _program(options: Options, identity: Identity, port: int, keys: Keys) -> Program:
    flags = [f"--port={port}", f"--certificate={keys.certificate}", f"--key={keys.key}"]
    environment: Mapping[str, str] = {"KUBECONFIG": str(identity.kubeconfig)}
    part = identity.name.removeprefix("volcano-")
    if part == "controllers" and options.volcano_longest_pause is not None:
        flags.append(f"--longest-pause={options.volcano_longest_pause}")
    if part == "scheduler":
        flags.append(f"--period={options.volcano_period}")
        asks = options.folder if options.volcano_asks else None
        configuration = options.volcano_config or (asks and asks.volcano_config)
        if configuration is not None:
            flags.append(f"--configuration={configuration}")
        authorities = options.volcano_ca or (asks and asks.volcano_ca)
        if authorities is not None:
            environment = {**environment, "SSL_CERT_FILE": str(authorities)}
    return Program(
        name=identity.name,
        command=(sys.executable, "-m", "cardquota_dev.plane.volcano", part, *flags),
        address=f"https://127.0.0.1:{port}",
        ready="/readyz",
        environment=environment,
    )


async def _refuses(probe: Probe) -> bool:
    """Whether the webhook of queues is asked."""
    code, answer = await probe.ask("POST", f"{QUEUES}?dryRun=All", _BROKEN_QUEUE)
    return 400 <= code < 500 and "spec.deserved.cpu" in str(answer.get("message"))


async def _is_open(probe: Probe) -> bool:
    """Whether the controllers have looked at the queue `default`."""
    queue = await probe.read(f"{QUEUES}/default")
    return queue is not None and status(queue).get("state") == "Open"
