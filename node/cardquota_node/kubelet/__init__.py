"""The kubelet: what it is offered as devices, and what it says of containers.

In: a `DeviceResource`, which says what is offered and what a container gets. Out: `serve`, which
keeps it registered, and `PodResources`, which tells who owns device IDs. The messages are generated
from the `.proto` files beside them.
"""

from .plugin_server import DeviceResource, OfferedDevice, PluginServer, RefusedError
from .pod_resources import ContainerOwner, PodResources, PodResourcesError
from .registration import serve
