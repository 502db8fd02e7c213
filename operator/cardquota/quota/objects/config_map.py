"""ConfigMaps: the lists of broken cards that a node's health check writes."""

from msgspec import field

from .. import vocabulary as v
from .meta import Meta
from .wire import Wire


class ConfigMapData(Wire):
    """The one key that is read. All others are skipped."""

    unhealthy_cards: str | None = field(default=None, name=v.UNHEALTHY_CARDS_KEY)


class ConfigMap(Wire):
    """A ConfigMap."""

    metadata: Meta
    data: ConfigMapData | None = None

    @property
    def node(self) -> str:
        """The node whose cards it is about; empty if it is about no node."""
        return node_of(self.metadata.name)

    @property
    def text(self) -> str:
        """The list. Without its key it is one that nobody can read, not an empty one."""
        text = self.data.unhealthy_cards if self.data is not None else None
        return f"no key {v.UNHEALTHY_CARDS_KEY}" if text is None else text


def node_of(name: str) -> str:
    """The node that a ConfigMap of this name is about; empty if it is about no node."""
    ours = name.startswith(v.UNHEALTHY_CARDS_OF)
    return name.removeprefix(v.UNHEALTHY_CARDS_OF) if ours else ""
