"""What the agent counts."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from .node_cards import NodeCards


class NodeMetrics(Collector):
    """Numbers of the cards are read when they are asked for."""

    def __init__(self, cards: NodeCards) -> None:
        self.registry = CollectorRegistry()
        self._cards = cards
        self.starts = Counter(
            "cardquota_node_container_starts",
            "Starts of containers with a part of a card: given their card, or refused.",
            ("result",),
            registry=self.registry,
        )
        self.registry.register(self)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """A row for each card."""
        keys = ("card", "uuid", "product")
        healthy = GaugeMetricFamily(
            "cardquota_node_card_healthy", "1: pods can use the card. 0: they cannot.", labels=keys
        )
        memory = GaugeMetricFamily(
            "cardquota_node_card_memory_bytes", "Memory of the card.", labels=keys
        )
        used = GaugeMetricFamily(
            "cardquota_node_card_used_bytes", "Memory that processes hold.", labels=keys
        )
        for card in self._cards.cards:
            row = (str(card.index), card.uuid, card.product)
            healthy.add_metric(row, float(card.healthy))
            memory.add_metric(row, card.memory * 1024.0 * 1024.0)
            used.add_metric(row, card.used * 1024.0 * 1024.0)
        yield from (healthy, memory, used)
