"""What is read of pods, namespaces and nodes."""

from msgspec import field

from cardquota.quota.objects.meta import LabelledMeta, Wire
from cardquota.quota.objects.pod import Resources

from .annotation import ANNOTATION


class Annotations(Wire):
    """The one annotation that is read."""

    usage: str | None = field(default=None, name=ANNOTATION)


class UsageMeta(LabelledMeta):
    """Metadata with labels and the annotation."""

    annotations: Annotations | None = None

    @property
    def usage(self) -> str | None:
        """The annotation's text."""
        return self.annotations.usage if self.annotations else None


class NamedContainer(Wire):
    """A container with its name: metrics are told by container."""

    name: str
    resources: Resources | None = None
    restart_policy: str | None = None


class UsageSpec(Wire):
    """The part of a pod's specification that says what it requests, and its node."""

    containers: tuple[NamedContainer, ...] = ()
    init_containers: tuple[NamedContainer, ...] = ()
    resources: Resources | None = None
    node_name: str = ""


class UsageStatus(Wire):
    """The phase of a pod."""

    phase: str = ""


class UsagePod(Wire):
    """A pod."""

    metadata: UsageMeta
    spec: UsageSpec = field(default_factory=UsageSpec)
    status: UsageStatus = field(default_factory=UsageStatus)


class UsageNamespace(Wire):
    """A namespace."""

    metadata: UsageMeta


class UsageNode(Wire):
    """A node."""

    metadata: LabelledMeta


class Pods(Wire):
    """A list of pods."""

    items: tuple[UsagePod, ...]


class Namespaces(Wire):
    """A list of namespaces."""

    items: tuple[UsageNamespace, ...]


class UsageNodes(Wire):
    """A list of nodes."""

    items: tuple[UsageNode, ...]
