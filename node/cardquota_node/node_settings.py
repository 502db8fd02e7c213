"""All settings of the node agent: one model, each with its unit and default. Keys are camelCase,
unknown keys are refused.
"""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cardquota.section import Section

from .cdi import FOLDER as CDI_FOLDER
from .inventory import OF_APPLICATIONS
from .kubelet.registration import FOLDER as PLUGIN_FOLDER
from .memory_resource import Told, Unannotated
from .memory_units import UnitSetting
from .yaml_file import YamlFileError, read_yaml


class InventorySource(Section):
    """Where the cards of the node are listed."""

    file: Path | None = None
    """A YAML file that stands for the driver: for nodes without cards, and for tests. Relative to
    the folder of the configuration. None: the driver is asked (NVML)."""
    interval: Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)] = 5.0
    """Seconds between two looks at the cards."""


class Memory(Section):
    """Memory of single cards (`aliyun.com/gpu-mem`)."""

    unit: UnitSetting = UnitSetting.AUTO
    """What one of it is: `MiB`, `GiB`, or `auto`: MiB unless the node would have more than 40,000
    of them."""
    unannotated: Unannotated = Unannotated.REFUSE
    """What a pod gets that no scheduler has given a card: `refuse` an error, `leastFree` the card
    with the least free memory that has enough."""
    told: Told = Told.CDI
    """How the container runtime is told the card of a container: `cdi`, or `allocate` for one that
    reads no CDI files. Then two pods of equal size may be taken for each other, and do not start.
    """


class Health(Section):
    """Which cards count as sick."""

    ignored_xids: Annotated[tuple[int, ...], Field(max_length=1_000)] = OF_APPLICATIONS
    """XIDs that say nothing of the card: an application causes them by its own fault."""
    recovers_after: Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)] = 1_800.0
    """Seconds without another XID after which a card counts as healthy again."""


class Kubelet(Section):
    """Where the kubelet is found."""

    plugins: Path = PLUGIN_FOLDER
    """Folder of the sockets of device plugins."""
    pod_resources: Path = Path("/var/lib/kubelet/pod-resources/kubelet.sock")
    """Socket of its PodResources API, within its own folder (`--root-dir`)."""


class Log(Section):
    """What the agent writes to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severity that is written."""


class Http(Section):
    """The plain HTTP server: `/metrics`, `/healthz`."""

    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 9446
    """TCP port to listen on; 0: any that is free."""


class NodeSettings(Section):
    """The whole configuration."""

    node: str = ""
    """Name of the node. Empty: `NODE_NAME` of the environment."""
    kubeconfig: Path | None = None
    """Of the API server. None: the service account of the agent's pod."""
    inventory: InventorySource = InventorySource()
    memory: Memory = Memory()
    health: Health = Health()
    kubelet: Kubelet = Kubelet()
    cdi: Path = CDI_FOLDER
    """Folder of the files that tell the container runtime what a container gets (CDI). The runtime
    must read it: containerd does by default from 2.0 on."""
    http: Http = Http()
    log: Log = Log()

    @property
    def node_name(self) -> str:
        """Raises YamlFileError if it is nowhere said."""
        name = self.node or os.environ.get("NODE_NAME", "")
        if not name:
            raise YamlFileError("node: is missing: set it, or NODE_NAME in the environment")
        return name


def load(path: Path | None) -> NodeSettings:
    """The settings of a file over the defaults. Raises YamlFileError."""
    if path is None:
        return NodeSettings()
    settings = read_yaml(path, NodeSettings)
    file = settings.inventory.file
    if file is None:
        return settings
    source = settings.inventory.model_copy(update={"file": path.parent / file})
    return settings.model_copy(update={"inventory": source})
