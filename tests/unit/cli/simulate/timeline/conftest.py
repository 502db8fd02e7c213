"""Timelines of traces written by a test, over a cluster written by a test."""

from pathlib import Path

import pytest

from cardquota.cli.files.inventory import Inventory, sort_documents
from cardquota.cli.files.yaml_files import read_files
from cardquota.cli.simulate.simulation import Simulation
from cardquota.cli.simulate.timeline.timeline import Timeline
from cardquota.cli.simulate.timeline.timeline_report import timeline_report
from cardquota.cli.simulate.timeline.trace_file import read_trace
from cardquota.quota.reports.drift import drift
from cardquota.settings import Settings

from .timelines import HEADER, FinishedTimeline, Read, Run


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The objects of YAML text."""

    def inventory(cluster: str) -> Inventory:
        path = tmp_path / "cluster.yaml"
        path.write_text(cluster)
        return sort_documents(read_files([str(path)]))

    return inventory


@pytest.fixture
def run(tmp_path: Path, read: Read) -> Run:
    """Run a trace with the columns of `HEADER`, and `more`."""

    def ran(
        cluster: str, *lines: str, more: str = "", settings: Settings | None = None
    ) -> FinishedTimeline:
        path = tmp_path / "trace.csv"
        path.write_text("\n".join((f"{HEADER},{more}".rstrip(","), *lines)))
        simulation = Simulation(settings or Settings.model_construct(), read(cluster))
        simulation.see_cluster()
        records = Timeline(simulation, read_trace(str(path))).run()
        assert drift(simulation.ledger) == {}
        found = timeline_report(records, simulation.ledger, simulation.finished())
        return FinishedTimeline(found, simulation)

    return ran
