"""The product on a plane: its objects, its replicas, and the check that it works.

It has only the rights of its own service account: an administrator would apply what is applied
here, and the replicas run with only the product's kubeconfig.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from cardquota.quota.vocabulary import ReclaimMode
from cardquota.settings import load

from ...failure import PlaneError
from ...paths import CHECKOUT
from ..children import Children
from ..components import Program
from ..credentials.identities import Identity
from ..folder import Folder, write_private
from ..kubectl import apply
from ..options import Options
from ..ports import free_ports
from ..probe import Probe
from ..process import Process
from ..state import PlaneState
from .balancer import Backend, Balancer
from .enqueue import enqueue_config, write_volcano_configuration
from .extender import extender_config, listen, write_credentials

_PATIENCE = 120.0
_GRACE = 20.0
_BASE = ("namespace.yaml", "rbac.yaml", "roles.yaml", "flowschema.yaml")
_CLI = (sys.executable, "-m", "cardquota.cli")
_QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
_BROKEN_QUEUE = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "is-the-webhook-live", "annotations": {"volcano.sh/card.quota": "x"}},
    "spec": {},
}
_PODS = "/api/v1/namespaces/default/pods"
_GATE = {"name": "volcano.sh/card-quota"}
_MANAGED_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "is-the-gate-set",
        "annotations": {"scheduling.k8s.io/group-name": "of-which-nobody-knows"},
    },
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/cardquota-system/leases"
_FORGED_LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "cardquota"},
}
"""Nobody but the operator may write it. No webhook of ours is asked."""


class Product:
    """All replicas of one plane's product, and the balancer before them."""

    def __init__(
        self,
        options: Options,
        state: PlaneState,
        children: Children,
        probe: Probe,
        kubectl: Path,
        identity: Identity,
    ) -> None:
        self._options, self._state, self._children = options, state, children
        self._probe, self._kubectl, self._identity = probe, kubectl, identity
        self._folder: Folder = options.folder
        self._balancers: dict[str, Balancer] = {}
        self._replicas: list[str] = []
        self._configs: list[dict[str, Any]] = []

    async def start(self) -> None:
        """Return once a broken quota is refused. Raises PlaneError."""
        configs = self._write_configs()
        await self._apply()
        programs = [self._program(number, config) for number, config in enumerate(configs)]
        for program in programs:
            self._replicas.append(program.name)
            await self._children.start(program)
        if len(programs) > 1:
            await self._start_balancers(configs)
        for program in programs:
            await self._until_ready(program)
        await self._children.until(lambda: self._live(configs[0]), "admission live", _PATIENCE)
        if self._options.volcano_asks and self._state.enqueue:
            asking = partial(
                write_volcano_configuration, self._probe, self._folder, self._state.enqueue
            )
            await self._children.until(asking, "Volcano's scheduler asks", _PATIENCE)

    async def stop(self) -> None:
        """End the replicas, then the balancer: until then they may still get requests."""
        await self._children.stop(self._replicas)
        for balancer in self._balancers.values():
            await balancer.stop()
        self._state.drop(self._balancers)

    async def scheduler_configuration(self) -> dict[str, Any]:
        """What the product prints for a scheduler that asks it, once it can be asked.

        The certificates that this names are written to the plane's folder.
        """
        ports = [config["extender"]["port"] for config in self._configs]
        for condition, what in (
            (lambda: write_credentials(self._probe, self._folder), "the extender's Secrets"),
            (lambda: listen(ports), "the extender listens"),
        ):
            await self._children.until(condition, what, _PATIENCE)
        where = f"--credentials={self._folder.extender}"
        printed: dict[str, Any] = yaml.safe_load(await self._print("scheduler-config", where))
        return printed

    def _write_configs(self) -> list[dict[str, Any]]:
        count = self._options.replicas
        theirs = read_config(self._options.config)
        front, extenders_front, votes_front, *ports = free_ports(3 + 5 * count)
        webhooks, metrics, probes, extenders, votes = (ports[start::5] for start in range(5))
        port = front if count > 1 else webhooks[0]
        self._state.webhook = f"https://127.0.0.1:{port}"
        configs = [
            replica_config(theirs, number, webhooks[number], metrics[number], probes[number], port)
            for number in range(count)
        ]
        if self._options.extender:
            port = extenders_front if count > 1 else extenders[0]
            self._state.extender = f"https://127.0.0.1:{port}"
            pairs = zip(configs, extenders, strict=True)
            configs = [laid_over(config, extender_config(own, port)) for config, own in pairs]
        if theirs.get("scheduler") == "volcano":
            port = votes_front if count > 1 else votes[0]
            self._state.enqueue = f"https://127.0.0.1:{port}"
            pairs = zip(configs, votes, strict=True)
            configs = [laid_over(config, enqueue_config(own)) for config, own in pairs]
        self._configs = configs
        for number, config in enumerate(configs):
            write_private(self._config(number), yaml.safe_dump(config, sort_keys=False))
        return configs

    async def _apply(self) -> None:
        """Apply what an administrator would besides the CRDs: the base, the rendered manifests."""
        files = [CHECKOUT / "manifests" / "base" / name for name in _BASE]
        if self._configs[0]["page"]["enabled"]:
            files.append(CHECKOUT / "manifests" / "components" / "page" / "rbac.yaml")
        if self._options.extender:
            files.append(CHECKOUT / "manifests" / "components" / "extender" / "rbac.yaml")
        if self._configs[0].get("scheduler") == "volcano":
            files.append(CHECKOUT / "manifests" / "components" / "volcano" / "rbac.yaml")
        if load(self._config(0)).reclaim.mode is not ReclaimMode.OFF:
            files.append(CHECKOUT / "manifests" / "components" / "reclaim" / "rbac.yaml")
        admin = self._folder.kubeconfig
        configuration = self._folder.private / "configuration.json"
        write_private(configuration, json.dumps(_config_map(self._configs[0])))
        files.append(configuration)
        rendered = self._folder.private / "manifests.yaml"
        _, text = await asyncio.gather(apply(self._kubectl, admin, files), self._print("manifests"))
        write_private(rendered, text)
        await apply(self._kubectl, admin, [rendered])

    async def _print(self, command: str, *options: str) -> str:
        """What a command prints for the first replica's configuration."""
        process = await asyncio.create_subprocess_exec(
            *_CLI,
            command,
            f"--config={self._config(0)}",
            *options,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            text, said = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode != 0:
            words = said.decode(errors="replace").strip()
            raise PlaneError(f"`cardquota {command}` failed:\n{words}")
        return text.decode()

    def _program(self, number: int, config: Mapping[str, Any]) -> Program:
        metrics = config["metrics"]
        return Program(
            name=f"cardquota-{number}",
            command=(*(self._options.product or _CLI), "run", f"--config={self._config(number)}"),
            address=f"http://127.0.0.1:{metrics['port']}",
            ready="/readyz",
            environment={"KUBECONFIG": str(self._identity.kubeconfig)},
            grace=_GRACE,
        )

    async def _until_ready(self, program: Program) -> None:
        url = f"{program.address}{program.ready}"
        await self._children.until(lambda: self._probe.ok(url), f"{program.name} ready", _PATIENCE)

    async def _start_balancers(self, configs: list[dict[str, Any]]) -> None:
        """One before each server that the replicas have."""
        webhooks = [one["webhook"]["port"] for one in configs]
        await self._start_balancer("balancer", webhooks, self._state.webhook, configs)
        if self._options.extender:
            extenders = [one["extender"]["port"] for one in configs]
            await self._start_balancer(
                "extender-balancer", extenders, self._state.extender, configs
            )
        if self._state.enqueue:
            votes = [one["volcano"]["enqueue"]["port"] for one in configs]
            await self._start_balancer("enqueue-balancer", votes, self._state.enqueue, configs)

    async def _start_balancer(
        self, name: str, ports: list[int], url: str, configs: list[dict[str, Any]]
    ) -> None:
        probes = [f"http://127.0.0.1:{one['probes']['port']}/readyz" for one in configs]
        self._balancers[name] = balancer = Balancer(
            [Backend(port, probe) for port, probe in zip(ports, probes, strict=True)]
        )
        await balancer.start(_port(url))
        self._state.put(Process.of(name, os.getpid(), url))

    async def _live(self, config: Mapping[str, Any]) -> bool:
        """Whether all our webhooks have a CA bundle and one refuses a broken quota, and policies
        are in force: the API server reads those some seconds after they were applied. If a policy
        sets the gate, also whether that is in force.

        In audit mode nothing is refused, so only the CA bundles are checked.
        """
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            listed = await self._probe.read(f"/apis/admissionregistration.k8s.io/v1/{kind}")
            if listed is None or not all(map(self._trusted, listed["items"])):
                return False
        if config.get("mode") == "audit":
            return True
        status, answer = await self._probe.ask("POST", f"{_LEASES}?dryRun=All", _FORGED_LEASE)
        if "ValidatingAdmissionPolicy" not in str(answer.get("message")):
            return False
        status, answer = await self._probe.ask("POST", f"{_QUEUES}?dryRun=All", _BROKEN_QUEUE)
        if not (400 <= status < 500 and "denied the request" in str(answer.get("message"))):
            return False
        exempt = config.get("exemptNamespaces", ())
        labelled = config.get("namespaces") == "labelled"
        if config["webhook"].get("gate") != "policy" or "default" in exempt or labelled:
            return True
        status, pod = await self._probe.ask("POST", f"{_PODS}?dryRun=All", _MANAGED_POD)
        return status == 201 and _GATE in pod["spec"].get("schedulingGates", ())

    def _trusted(self, configuration: Mapping[str, Any]) -> bool:
        clients = [one["clientConfig"] for one in configuration.get("webhooks", ())]
        ours = [one for one in clients if str(one.get("url", "")).startswith(self._state.webhook)]
        return all(one.get("caBundle") for one in ours)

    def _config(self, number: int) -> Path:
        return self._folder.path / f"config-{number}.yaml"


def _config_map(config: Mapping[str, Any]) -> dict[str, Any]:
    """As manifests/base has it: who looks at the installation finds its settings there."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cardquota", "namespace": "cardquota-system"},
        "data": {"config.yaml": yaml.safe_dump(config, sort_keys=False)},
    }


def read_config(path: Path | None) -> dict[str, Any]:
    """The content of the user's file. Raises PlaneError if it is no mapping."""
    try:
        stored = yaml.safe_load(path.read_text()) if path else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PlaneError(f"{path} cannot be read: {error}") from error
    if stored is not None and not isinstance(stored, dict):
        raise PlaneError(f"{path} must hold a mapping of settings")
    return stored or {}


def replica_config(
    theirs: Mapping[str, Any], number: int, webhook: int, metrics: int, probes: int, front: int
) -> dict[str, Any]:
    """The user's configuration, overridden by the plane's settings key by key.

    `front` is the port that the API server calls: the replica's own, or the balancer's.
    """
    ours = {
        "webhook": {
            "host": "127.0.0.1",
            "port": webhook,
            "url": f"https://127.0.0.1:{front}",
        },
        "metrics": {"host": "127.0.0.1", "port": metrics},
        "probes": {"host": "127.0.0.1", "port": probes},
        "leaderElection": {"identity": f"cardquota-{number}"},
    }
    return laid_over(laid_over({"page": {"enabled": True}}, theirs), ours)


def laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both merged, mapping by mapping. If both have a value, `over` wins. Neither is changed."""
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping):
            merged[key] = laid_over(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])
