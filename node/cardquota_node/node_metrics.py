"""What the agent counts, in the text that Prometheus reads.

A library for that would take a twentieth of the agent's memory, for four numbers.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from .node_cards import NodeCards

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_BYTES: Final = 1024 * 1024


class NodeMetrics:
    """Numbers of the cards are read when they are asked for."""

    def __init__(self, cards: NodeCards) -> None:
        self._cards = cards
        self.starts: Counter[str] = Counter(given=0, refused=0)
        """Starts of containers: given their card, or refused."""

    def text(self) -> str:
        """All of them."""
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        cards = [
            (_labels(card=str(c.index), product=c.product, uuid=c.uuid), c)
            for c in self._cards.cards
        ]
        name = "cardquota_node_container_starts_total"
        yield from _head(name, "counter", "Starts of containers: given their card, or refused.")
        for result, number in self.starts.items():
            yield f"{name}{_labels(result=result)} {number}"
        name = "cardquota_node_card_healthy"
        yield from _head(name, "gauge", "1: pods can use the card. 0: they cannot.")
        yield from (f"{name}{labels} {int(card.healthy)}" for labels, card in cards)
        name = "cardquota_node_card_memory_bytes"
        yield from _head(name, "gauge", "Memory of the card.")
        yield from (f"{name}{labels} {card.memory * _BYTES}" for labels, card in cards)
        name = "cardquota_node_card_used_bytes"
        yield from _head(name, "gauge", "Memory that processes hold.")
        yield from (f"{name}{labels} {card.used * _BYTES}" for labels, card in cards)


def _head(name: str, kind: str, what: str) -> tuple[str, str]:
    return f"# HELP {name} {what}", f"# TYPE {name} {kind}"


def _labels(**values: str) -> str:
    escaped = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    pairs = (f'{key}="{value.translate(escaped)}"' for key, value in values.items())
    return "{" + ",".join(pairs) + "}"
