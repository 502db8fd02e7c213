"""What others keep by node, and must not keep when the node changes."""

from typing import Any


class KeptByNode:
    """Mappings of others, by node name. Costs nothing as long as there are none."""

    __slots__ = ("_mappings",)

    def __init__(self) -> None:
        self._mappings: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._mappings)

    def add(self, mapping: dict[str, Any]) -> None:
        """From now on a node that changes is taken out of this mapping."""
        self._mappings.append(mapping)

    def discard(self, mapping: dict[str, Any]) -> None:
        """The inverse of `add`."""
        self._mappings = [one for one in self._mappings if one is not mapping]

    def drop(self, node: str) -> None:
        """The node has changed."""
        for mapping in self._mappings:
            mapping.pop(node, None)
