"""One control plane: what is started, in which order, and what must be true before the next.

etcd and the API server together; then controllers, scheduler and kwok, while nodes and the tenant's
role are applied; then, if wanted, a real node, the stand-in for metrics, the definitions of queues
and pod groups, the stand-in for Volcano, and the product. A scheduler that asks the product is
started after it. `stop` uses the reverse order.
"""

import asyncio
from functools import partial
from pathlib import Path

from . import components
from .children import Children
from .credentials.identities import Identity, make_identities, write_kubeconfigs
from .credentials.keys import make_keys
from .deployed.network import SERVICE, Network
from .deployed.operator import start_operator
from .discovery import binaries
from .folder import Folder
from .kubectl import apply
from .options import Options
from .ports import free_ports
from .probe import Probe
from .product.product import Product
from .real_node import cgroups
from .real_node.end import end_real_node
from .real_node.names import NODE
from .real_node.start import start_real_node
from .state import PlaneState
from .usage.registration import HOST
from .usage.start import start_usage
from .volcano.definitions import install_definitions
from .volcano.start import start_volcano

TENANT = Path(__file__).with_name("tenant.yaml")
"""The tenant's role."""

_PATIENCE = 120.0
"""Seconds for one step: a busy machine is slow, not broken."""


class Plane:
    """A plane that starts, runs and stops. `start` may be cancelled anywhere."""

    def __init__(self, options: Options, state: PlaneState, network: Network | None = None) -> None:
        """`network`: the one that the plane is in, if it has one of its own."""
        self._network = network
        self._options, self._state = options, state
        self._folder: Folder = options.folder
        self._children = Children(self._folder, state)
        self._product: Product | None = None

    async def start(self) -> None:
        """Return once all of it is ready. Raises PlaneError."""
        found = binaries(folder=self._options.bin_dir)
        metered = self._options.quick_autoscaler
        node = NODE if self._options.real_node else ""
        keys = make_keys(self._folder, hosts=[HOST, NODE], addresses=[SERVICE])
        identities = make_identities(self._folder, usage=metered, node=node)
        ports = free_ports(6)
        if self._network is not None:
            ports[2] = self._network.port
            await self._network.open()
        store = components.etcd(found["etcd"], self._folder, *ports[:2])
        server = components.api_server(
            found["kube-apiserver"],
            self._folder,
            keys,
            store.address,
            ports[2],
            store_json=self._options.store_json,
            to_pods=self._network is not None,
        )
        write_kubeconfigs(identities, server.address, keys)
        self._state.server, self._state.bin_dir = server.address, str(found["kubectl"].parent)
        await self._children.start(store)
        await self._children.start(server)
        async with Probe(keys, server.address, identities["admin"].token) as probe:
            await self._ready(probe, [server])
            others = [
                components.controller_manager(
                    found["kube-controller-manager"],
                    identities["kube-controller-manager"].kubeconfig,
                    keys,
                    ports[3],
                    quick_autoscaler=metered,
                ),
                components.kwok(
                    found["kwok"], self._folder, identities["kwok"].kubeconfig, ports[5]
                ),
            ]
            scheduler = partial(
                components.scheduler,
                found["kube-scheduler"],
                self._folder,
                identities["kube-scheduler"].kubeconfig,
                keys,
                ports[4],
            )
            if not self._options.extender:
                others.insert(1, scheduler())
            for program in others:
                await self._children.start(program)
            await apply(found["kubectl"], self._folder.kubeconfig, [TENANT, *self._options.nodes])
            await self._ready(probe, others)
            await self._children.until(
                lambda: _usable(probe), "nodes Ready and the default service account", _PATIENCE
            )
            if node:
                await start_real_node(
                    self._folder,
                    self._children,
                    probe,
                    found["kubectl"],
                    keys,
                    server.address,
                    SERVICE if self._network is not None else "",
                )
            if metered:
                await start_usage(
                    self._children, probe, found["kubectl"], self._folder, keys, identities["usage"]
                )
            await install_definitions(self._options, self._children, probe, found["kubectl"])
            if self._options.volcano:
                await start_volcano(
                    self._options, self._children, probe, found["kubectl"], keys, server.address
                )
            if self._options.deployed is not None:
                await start_operator(
                    self._folder, self._children, probe, found["kubectl"], self._options.deployed
                )
            elif self._options.replicas:
                product = await self._start_product(found["kubectl"], identities, probe)
                if self._options.extender:
                    asking = scheduler(rendered=await product.scheduler_configuration())
                    await self._children.start(asking)
                    await self._ready(probe, [asking])
        self._children.settled = True
        self._state.ready = True
        self._state.write(self._folder)

    async def stop(self) -> None:
        """End everything, the last started first."""
        fixed = ["kwok", "kube-scheduler", "kube-controller-manager"]
        core = {"kube-apiserver", "etcd", *fixed}
        if self._product is not None:
            await self._product.stop()
        await self._children.stop([name for name in self._children.names if name not in core])
        if self._options.real_node:
            cgroups.end(self._folder)  # the API server would wait for what its pods ask
        await self._children.stop(fixed)
        await self._children.stop(["kube-apiserver"])
        await self._children.stop(["etcd"])
        if self._network is not None:
            self._network.close()
        end_real_node(self._folder)

    async def _start_product(
        self, kubectl: Path, identities: dict[str, Identity], probe: Probe
    ) -> Product:
        self._product = Product(
            self._options, self._state, self._children, probe, kubectl, identities["product"]
        )
        await self._product.start()
        return self._product

    async def _ready(self, probe: Probe, programs: list[components.Program]) -> None:
        async def answers(url: str, name: str) -> None:
            await self._children.until(lambda: probe.ok(url), f"{name} ready", _PATIENCE)

        await asyncio.gather(
            *(answers(one.address + one.ready, one.name) for one in programs if one.ready)
        )


async def _usable(probe: Probe) -> bool:
    """Whether a pod could be created and scheduled."""
    nodes = await probe.read("/api/v1/nodes")
    account = await probe.read("/api/v1/namespaces/default/serviceaccounts/default")
    return nodes is not None and account is not None and all(map(_node_usable, nodes["items"]))


def _node_usable(node: dict[str, object]) -> bool:
    spec, status = node.get("spec"), node.get("status")
    if not isinstance(spec, dict) or not isinstance(status, dict):
        return False
    ready = any(
        one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions", ())
    )
    taints = [taint["key"] for taint in spec.get("taints", ())]
    return ready and "node.kubernetes.io/not-ready" not in taints
