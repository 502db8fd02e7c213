"""Clusters as YAML text, and timelines that came to their end."""

from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from cardquota.cli.files.inventory import Inventory
from cardquota.cli.simulate.simulation import Simulation
from cardquota.cli.simulate.timeline.job_record import JobRecord
from cardquota.cli.simulate.timeline.timeline_report import TimelineReport

HEADER = "name,arrival,queue,card,cards,pods,duration,priority"


def node(name: str, cards: int, product: str = "NVIDIA-H200") -> str:
    return f"""
---
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels: {{nvidia.com/gpu.product: {product}, nvidia.com/gpu.memory: "143771"}}
status: {{allocatable: {{nvidia.com/gpu: "{cards}", pods: "110"}}}}
"""


def queue(name: str, quota: str, *, notes: str = "", spec: str = "") -> str:
    return f"""
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}, annotations: {{volcano.sh/card.quota: '{quota}'{notes}}}}}
spec: {{{spec}}}
"""


@dataclass
class FinishedTimeline:
    """A timeline that came to its end."""

    report: TimelineReport
    simulation: Simulation

    @property
    def records(self) -> dict[str, JobRecord]:
        return {record.job.name: record for record in self.report.records}

    def waits(self) -> dict[str, int | None]:
        return {name: record.wait for name, record in self.records.items()}


Run = Callable[..., FinishedTimeline]
Read = Callable[[str], Inventory]


def parsed(svg: str) -> ET.Element:
    """A picture of ours. Raises ParseError if it is not XML."""
    return ET.fromstring(svg)  # noqa: S314
