"""Simulations of sample files and of files written by a test."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cardquota.cli.simulate import Answers, Simulation
from cardquota.cli.simulate.inventory import sort_documents
from cardquota.cli.simulate.yaml_files import read_files
from cardquota.quota.reports.drift import drift
from cardquota.settings import Settings

SAMPLES = Path(__file__).parent / "samples"
CLUSTER = ("nodes.yaml", "queue.yaml", "queue-vision.yaml")
Simulate = Callable[..., Answers]


@pytest.fixture
def heeding_ctrl_c() -> Iterator[None]:
    """Programs that the test starts heed Ctrl-C, also where the tests run in the background of a
    shell: then it is ignored, and would be by them.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def samples() -> Path:
    return SAMPLES


@pytest.fixture
def simulate(tmp_path: Path) -> Simulate:
    """Simulate samples by name over the sample cluster, then YAML text."""

    def run(
        *names: str,
        text: str = "",
        cluster: tuple[str, ...] = CLUSTER,
        settings: Settings | None = None,
        edit: Callable[[str], str] = str,
    ) -> Answers:
        for name in (*cluster, *names):
            (tmp_path / name).write_text(edit((SAMPLES / name).read_text()))
        (tmp_path / "text.yaml").write_text(text)
        files = [str(tmp_path / name) for name in (*names, "text.yaml", *cluster)]
        found = sort_documents(read_files(files))
        simulation = Simulation(settings or Settings.model_construct(), found)
        answers = simulation.run()
        assert drift(simulation.ledger) == {}
        return answers

    return run
