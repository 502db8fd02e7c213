"""All settings of the node agent: one model, each with its unit and default. Keys are camelCase,
unknown keys are refused.
"""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from cardquota.quota.vocabulary import GPU_MEMORY, SLOT
from cardquota.section import Section

from .cdi import FOLDER as CDI_FOLDER
from .container_starts import Told
from .inventory import OF_APPLICATIONS
from .kubelet.registration import FOLDER as PLUGIN_FOLDER
from .memory_resource import KIND as MEMORY_KIND
from .memory_resource import Unannotated
from .memory_units import UnitSetting
from .slot_resource import KIND as SLOT_KIND
from .slot_resource import SlotLoad
from .yaml_file import YamlFileError, read_yaml

_RESOURCE_NAME: Final = (
    r"^[a-z0-9]([a-z0-9.-]{0,199}[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9_.-]{0,39}[A-Za-z0-9])?$"
)
"""Its last part is the name of a socket as well, whose path has at most 107 bytes."""


class Offer(StrEnum):
    """How the cards are shared. Never both ways: a card would be given twice."""

    MEMORY = "memory"
    SLOTS = "slots"


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

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.told, self.unannotated) == (Told.ALLOCATE, Unannotated.LEAST_FREE):
            raise ValueError(
                "told: allocate needs unannotated: refuse: whom the kubelet asks for is told by "
                "the annotation alone"
            )
        return self


class SlotSettings(Section):
    """Logical cards, with `offer: slots`."""

    name: Annotated[str, Field(pattern=_RESOURCE_NAME)] = SLOT
    """Name of the resource."""
    unit: Annotated[int, Field(ge=1_024, le=1_048_576)] = 8_000
    """MiB: a card has as many slots as this is in its memory, and at least two. Drivers report
    somewhat less than the whole GiB of a card."""
    load: SlotLoad = SlotLoad.UTILIZATION
    """By what a card is the least loaded one: `utilization`, or `memory` that processes hold."""


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
    forget_after: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 60.0
    """Seconds after which a container that it does not list any more counts as gone. One that has
    just started lists none for a while."""


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
    offer: Offer = Offer.MEMORY
    """What containers get parts of cards by: `memory`, or `slots`. Change it on a node without
    such containers."""
    memory: Memory = Memory()
    slots: SlotSettings = SlotSettings()
    health: Health = Health()
    kubelet: Kubelet = Kubelet()
    cdi: Path = CDI_FOLDER
    """Folder of the files that tell the container runtime what a container gets (CDI). The runtime
    must read it: containerd does by default from 2.0 on."""
    http: Http = Http()
    log: Log = Log()

    @property
    def resource(self) -> str:
        """Name of the resource that the cards are offered as."""
        return self.slots.name if self.offer is Offer.SLOTS else GPU_MEMORY

    @property
    def told(self) -> Told:
        """How the container runtime is told: slots are never guessed."""
        return Told.CDI if self.offer is Offer.SLOTS else self.memory.told

    @property
    def cdi_kind(self) -> str:
        """Of the CDI devices of its containers."""
        return SLOT_KIND if self.offer is Offer.SLOTS else MEMORY_KIND

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
