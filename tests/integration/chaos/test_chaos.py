"""A quarter of a minute in which everything goes wrong, and nothing may be over quota (I1, I2).

The long run is `make chaos`; see docs/chaos.md.
"""

from pathlib import Path

import pytest

from chaos.lengths import SHORT
from chaos.report import Report
from chaos.run import run

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

SEED = 1


def test_nothing_is_over_quota_while_everything_goes_wrong(tmp_path: Path) -> None:
    report = run(SHORT, SEED, folder=tmp_path)
    shows_something(report)


def test_nor_beside_volcano(tmp_path: Path) -> None:
    """Its Jobs too run, or wait rightly, and none is ended by it (V3, E5)."""
    report = run(SHORT, SEED, folder=tmp_path, volcano=True)
    shows_something(report)
    assert report.tally["Jobs"], report.text()
    assert report.replay is not None
    assert report.replay.counts["groups enqueued by Volcano, and judged"], report.text()


def shows_something(report: Report) -> None:
    assert report.clean, report.text()
    assert report.replay is not None
    # Zero violations mean something only where something happened.
    # The run goes on until it has: who is killed has let some through, and so did who came before.
    assert report.tally["kills"] >= SHORT.kills, report.text()
    releases = SHORT.kills * SHORT.releases_before_a_kill
    assert report.replay.counts["releases"] >= releases, report.text()
    assert report.replay.counts["terms that let something through"] >= 2, report.text()
