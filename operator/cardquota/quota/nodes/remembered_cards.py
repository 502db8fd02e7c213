"""Which card each node offers under which resource name, or last offered (D8)."""

from collections.abc import Mapping
from typing import Final

_NONE: Final[Mapping[str, str]] = {}


class RememberedCards:
    """By node and resource name."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, str]] = {}

    def put(self, node: str, resource: str, card: str) -> None:
        """A node offers this card, and no other one by the same resource name."""
        self._by_node.setdefault(node, {})[resource] = card

    def forget(self, node: str, resource: str) -> None:
        """Nothing is known any more of what a node offers by a resource name."""
        cards = self._by_node.get(node, {})
        if cards.pop(resource, None) is not None and not cards:
            del self._by_node[node]

    def forget_node(self, node: str) -> None:
        """The same for all resource names."""
        self._by_node.pop(node, None)

    def on(self, node: str) -> Mapping[str, str]:
        """By resource name: the cards of a node."""
        return self._by_node.get(node, _NONE)
