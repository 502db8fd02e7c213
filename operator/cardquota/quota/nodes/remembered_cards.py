"""Which card each node offers under which resource name, or last offered (D8)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_NONE: Final[Mapping[str, str]] = {}


class RememberedCards:
    """Kept in both directions: by node for what changes, and by resource name, since thousands of
    nodes are asked about for one call of a scheduler.
    """

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, str]] = {}
        self._by_resource: dict[str, dict[str, str]] = {}
        """Resource name, node, card."""

    def put(self, node: str, resource: str, card: str) -> None:
        """A node offers this card, and no other one by the same resource name."""
        self._by_node.setdefault(node, {})[resource] = card
        self._by_resource.setdefault(resource, {})[node] = card

    def forget(self, node: str, resource: str) -> None:
        """Nothing is known any more of what a node offers by a resource name."""
        if self._by_node.get(node, {}).pop(resource, None) is not None:
            self._leave(node, resource)
            if not self._by_node[node]:
                del self._by_node[node]

    def forget_node(self, node: str) -> None:
        """The same for all resource names."""
        for resource in self._by_node.pop(node, _NONE):
            self._leave(node, resource)

    def on(self, node: str) -> Mapping[str, str]:
        """By resource name: the cards of a node."""
        return self._by_node.get(node, _NONE)

    def get(self, node: str, resource: str) -> str | None:
        """The card of a node by a resource name."""
        return self._by_resource.get(resource, _NONE).get(node)

    def of_all(self, nodes: Sequence[str], resource: str) -> Iterator[str | None]:
        """The card of each of these nodes. Costs one lookup for each."""
        return map(self._by_resource.get(resource, _NONE).get, nodes)

    def _leave(self, node: str, resource: str) -> None:
        nodes = self._by_resource[resource]
        del nodes[node]
        if not nodes:
            del self._by_resource[resource]
