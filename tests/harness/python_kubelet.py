"""Stands for the kubelet where there is none: it is not one. It replays, in the kubelet's order,
what the kubelet does with device plugins, as it was seen with Kubernetes 1.36: it dials back within
`Register`, takes the options, reads the list, asks for each container which IDs are preferred,
allocates them in any order, tells who has them, and asks before each start of a container.
"""

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from cardquota_dev.testing import eventually
from cardquota_node.kubelet import device_plugin_pb2 as plugin
from cardquota_node.kubelet import pod_resources_pb2 as resources

_LONGEST = 4 * 1024 * 1024
"""Bytes that it reads of a list of devices; of a longer one it reads nothing."""


class UnexpectedAdmissionError(Exception):
    """The pod has failed: this is what its status would say."""


class StartError(Exception):
    """The container does not start now; the kubelet would try again."""


class ContainerOnNode(NamedTuple):
    namespace: str
    pod: str
    container: str


class PythonKubelet:
    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.plugins = folder / "device-plugins"
        self.pod_resources = folder / "pod-resources.sock"
        self.cdi = folder / "cdi"
        self.plugins.mkdir(parents=True)
        self._random = random.Random(seed)
        self._endpoints: dict[str, grpc.Channel] = {}
        self._options: dict[str, plugin.DevicePluginOptions] = {}
        self.devices: dict[str, dict[str, str]] = {}
        """By resource, by ID: its health."""
        self.registrations = 0
        self._held: dict[ContainerOnNode, dict[str, list[str]]] = {}
        """By container and resource: its IDs."""
        self._environments: dict[ContainerOnNode, dict[str, str]] = {}
        self._nodes: dict[ContainerOnNode, list[str]] = {}
        """What plugins have answered to `Allocate`."""
        self._cdi_devices: dict[ContainerOnNode, list[str]] = {}
        self._servers: list[grpc.Server] = []
        self.answers_about_pods = True
        self.asks_for_preferences = True
        self.waited: dict[str, list[float]] = {}
        """By call to a plugin: seconds of each."""
        self._listed: dict[tuple[str, str], bytes] = {}
        """What is told of a pod, as a message: made once, for it is asked often."""
        self._telling = threading.Lock()
        """Of `_held` and `_listed`, which are read in threads of the server."""

    # --- its life -----------------------------------------------------------------------------

    def start(self) -> None:
        for path in self.plugins.iterdir():  # as a kubelet that starts does
            path.unlink()
        self.pod_resources.unlink(missing_ok=True)
        self._servers = [
            _server(
                f"unix:{self.plugins / 'kubelet.sock'}",
                "v1beta1.Registration",
                {"Register": (self._register, plugin.RegisterRequest)},
            ),
            _server(
                f"unix:{self.pod_resources}",
                "v1.PodResourcesLister",
                {"List": (self._list, resources.ListPodResourcesRequest)},
            ),
        ]

    def stop(self) -> None:
        for server in self._servers:
            server.stop(None).wait()
        for channel in self._endpoints.values():
            channel.close()
        self._endpoints.clear()
        self.devices.clear()

    # --- what plugins and others ask it -------------------------------------------------------

    def _register(self, asked: Any, _: Any) -> plugin.Empty:
        channel = grpc.insecure_channel(
            f"unix:{self.plugins / asked.endpoint}",
            options=(
                ("grpc.max_receive_message_length", _LONGEST),
                # Else a plugin that starts again is not called for as long as the former was not
                # there: a kubelet's connection is a new one.
                ("grpc.use_local_subchannel_pool", 1),
            ),
        )
        options = _call(channel, "GetDevicePluginOptions", plugin.DevicePluginOptions)(
            plugin.Empty(), timeout=10
        )
        former = self._endpoints.pop(asked.resource_name, None)
        if former is not None:
            former.close()  # the newest wins
        self._options[asked.resource_name] = options
        self._endpoints[asked.resource_name] = channel
        threading.Thread(target=self._watch, args=(asked.resource_name, channel)).start()
        self.registrations += 1
        return plugin.Empty()

    def _watch(self, resource: str, channel: grpc.Channel) -> None:
        stream = channel.unary_stream(
            "/v1beta1.DevicePlugin/ListAndWatch",
            request_serializer=plugin.Empty.SerializeToString,
            response_deserializer=plugin.ListAndWatchResponse.FromString,
        )(plugin.Empty())
        with suppress(grpc.RpcError, ValueError):
            for found in stream:
                if self._endpoints.get(resource) is channel:
                    self.devices[resource] = {one.ID: one.health for one in found.devices}
        if self._endpoints.get(resource) is channel:
            # The plugin is gone: nothing of it can be had.
            self.devices[resource] = {}

    def _list(self, _: Any, context: grpc.ServicerContext) -> bytes:
        if not self.answers_about_pods:
            context.abort(grpc.StatusCode.UNAVAILABLE, "rate limit exceeded")
        with self._telling:
            for pod in {owner[:2] for owner in self._held}.difference(self._listed):
                self._listed[pod] = self._told_of(*pod).SerializeToString()
            return b"".join(self._listed.values())

    def _told_of(self, namespace: str, pod: str) -> resources.ListPodResourcesResponse:
        """An entry for each ID, as a kubelet has."""
        containers = [
            resources.ContainerResources(
                name=owner.container,
                devices=[
                    resources.ContainerDevices(resource_name=name, device_ids=[one])
                    for name, ids in held.items()
                    for one in ids
                ],
            )
            for owner, held in self._held.items()
            if owner[:2] == (namespace, pod)
        ]
        found = resources.PodResources(namespace=namespace, name=pod, containers=containers)
        return resources.ListPodResourcesResponse(pod_resources=[found])

    # --- what it does with pods ---------------------------------------------------------------

    def admit(self, namespace: str, pod: str, asked: Mapping[str, Mapping[str, int]]) -> None:
        """`asked`: by container, by resource. One container after the other, as it does."""
        owners = [ContainerOnNode(namespace, pod, container) for container in asked]
        with self._telling:
            self._held.update((owner, {}) for owner in owners)
            self._listed.pop((namespace, pod), None)
        try:
            for owner in owners:
                for resource, number in asked[owner.container].items():
                    self._allocate(owner, resource, number)
        except UnexpectedAdmissionError:
            self.remove(namespace, pod)
            raise

    def _allocate(self, owner: ContainerOnNode, resource: str, number: int) -> None:
        taken = {one for held in self._held.values() for one in held.get(resource, ())}
        healthy = [i for i, h in self.devices.get(resource, {}).items() if h == "Healthy"]
        free = [one for one in healthy if one not in taken]
        if len(free) < number:
            text = f"requested: {number}, available: {len(free)}"
            raise UnexpectedAdmissionError(f"Allocate failed: {resource} {text}")
        self._random.shuffle(free)
        channel, ids = self._endpoints[resource], free[:number]
        able = self._options[resource].get_preferred_allocation_available
        if able and self.asks_for_preferences:
            asked = plugin.ContainerPreferredAllocationRequest(
                available_deviceIDs=free, allocation_size=number
            )
            found = self._ask(
                channel,
                "GetPreferredAllocation",
                plugin.PreferredAllocationRequest(container_requests=[asked]),
                plugin.PreferredAllocationResponse,
            )
            preferred = list(found.container_responses[0].deviceIDs)
            if len(preferred) == number and set(preferred) <= set(free):
                ids = preferred
        self._random.shuffle(ids)
        request = plugin.AllocateRequest(
            container_requests=[plugin.ContainerAllocateRequest(devices_ids=ids)]
        )
        try:
            answer = self._ask(channel, "Allocate", request, plugin.AllocateResponse)
        except grpc.RpcError as error:
            raise UnexpectedAdmissionError(f"Allocate failed: {_details(error)}") from None
        with self._telling:
            self._held[owner][resource] = ids
            self._listed.pop(owner[:2], None)
        (answered,) = answer.container_responses
        names = [device.name for device in answered.cdi_devices]
        self._cdi_devices[owner] = self._cdi_devices.get(owner, []) + names
        self._environments.setdefault(owner, {}).update(answered.envs)
        self._nodes.setdefault(owner, []).extend(one.host_path for one in answered.devices)

    def _ask(self, channel: grpc.Channel, method: str, request: Any, answer: Any) -> Any:
        begun = time.perf_counter()
        try:
            return _call(channel, method, answer)(request, timeout=30)
        finally:
            self.waited.setdefault(method, []).append(time.perf_counter() - begun)

    def start_container(self, namespace: str, pod: str, container: str) -> dict[str, str]:
        """Ask whether all is ready, and return the environment that the runtime would add."""
        owner = ContainerOnNode(namespace, pod, container)
        for resource, ids in self._held[owner].items():
            if self._options[resource].pre_start_required:
                try:
                    self.ask_to_start(resource, ids)
                except grpc.RpcError as error:
                    raise StartError(_details(error)) from None
        return self.created(namespace, pod, container)

    def created(self, namespace: str, pod: str, container: str) -> dict[str, str]:
        """The environment that the runtime adds when it creates the container."""
        owner = ContainerOnNode(namespace, pod, container)
        env = dict(self._environments.get(owner, {}))
        for name in self._cdi_devices.get(owner, ()):
            env |= self._injected(name)
        return env

    def _injected(self, name: str) -> dict[str, str]:
        """As a container runtime does: a device that no file has is an error."""
        kind, _, device = name.partition("=")
        for spec in self.specs():
            for one in spec["devices"] if spec["kind"] == kind else ():
                if one["name"] == device:
                    return dict(entry.split("=", 1) for entry in one["containerEdits"]["env"])
        raise StartError(f"unresolvable CDI devices {name}")

    def specs(self) -> Iterator[Any]:
        """All that is in its folder: the agent takes files away meanwhile."""
        for path in self.cdi.glob("*.json"):
            with suppress(FileNotFoundError):
                yield json.loads(path.read_text())

    def forget_all(self) -> None:
        """All pods are gone, and what their containers had; it asks and answers as at first."""
        for owner in list(self._held):
            self.remove(owner.namespace, owner.pod)
        for path in self.cdi.glob("*.json"):
            path.unlink(missing_ok=True)
        self.asks_for_preferences = self.answers_about_pods = True

    def remove(self, namespace: str, pod: str) -> None:
        """The pod is gone."""
        owners = [one for one in self._held if one[:2] == (namespace, pod)]
        with self._telling:
            self._listed.pop((namespace, pod), None)
            for owner in owners:
                del self._held[owner]
        for owner in owners:
            self._cdi_devices.pop(owner, None)
            self._environments.pop(owner, None)
            self._nodes.pop(owner, None)

    def hear_of(self, namespace: str, pod: str, container: str) -> None:
        """The pod is bound to this node, and not yet admitted."""
        with self._telling:
            self._held[ContainerOnNode(namespace, pod, container)] = {}
            self._listed.pop((namespace, pod), None)

    def ids(self, namespace: str, pod: str, resource: str) -> list[str]:
        """Of all containers of the pod."""
        held = [held for owner, held in self._held.items() if owner[:2] == (namespace, pod)]
        return [one for of in held for one in of.get(resource, ())]

    def device_nodes(self, namespace: str, pod: str) -> list[str]:
        return [
            node
            for owner, nodes in self._nodes.items()
            if owner[:2] == (namespace, pod)
            for node in nodes
        ]

    def ask_for(self, resource: str, ids: list[str]) -> None:
        """`Allocate` for these IDs, whoever offered them."""
        asked = plugin.ContainerAllocateRequest(devices_ids=ids)
        request = plugin.AllocateRequest(container_requests=[asked])
        self._ask(self._endpoints[resource], "Allocate", request, plugin.AllocateResponse)

    def ask_to_start(self, resource: str, ids: list[str]) -> None:
        request = plugin.PreStartContainerRequest(devices_ids=ids)
        answer = plugin.PreStartContainerResponse
        self._ask(self._endpoints[resource], "PreStartContainer", request, answer)

    def number(self, resource: str, health: str = "Healthy") -> int:
        return list(self.devices.get(resource, {}).values()).count(health)

    def waits_for(self, resource: str, number: int) -> None:
        eventually(lambda: self.number(resource) == number, f"{number} healthy {resource}")


def _server(address: str, service: str, methods: Mapping[str, Any]) -> grpc.Server:
    server = grpc.server(ThreadPoolExecutor(8))
    handlers: dict[str, Any] = {
        name: grpc.unary_unary_rpc_method_handler(
            answer,
            request_deserializer=asked.FromString,
            response_serializer=lambda found: (
                found if isinstance(found, bytes) else found.SerializeToString()
            ),
        )
        for name, (answer, asked) in methods.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    server.add_insecure_port(address)
    server.start()
    return server


def _call(channel: grpc.Channel, method: str, answer: Any) -> Any:
    return channel.unary_unary(
        f"/v1beta1.DevicePlugin/{method}",
        request_serializer=lambda asked: asked.SerializeToString(),
        response_deserializer=answer.FromString,
    )


def _details(error: Any) -> str:
    return str(error.details())
