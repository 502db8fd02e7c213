"""V6: an operator that says `scheduler: standalone` does not start where a scheduler writes phases.

The stand-in writes the phase of every group, under the program's name, as Volcano does.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota_dev.testing import Cluster, running_plane
from integration.asking import ask
from integration.process.running import QUICK, OperatorProcess, install_base, json_lines

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]
PROBES = "/apis/scheduling.volcano.sh/v1beta1/namespaces/cardquota-system/podgroups"


@pytest.fixture(scope="module")
def volcano(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("standalone-beside-volcano")
    with running_plane(
        folder, replicas=0, volcano="batch", crds="ours", volcano_period=0.2
    ) as plane:
        install_base(plane)
        yield plane


def test_v6_standalone_beside_volcano_is_refused_with_what_to_set(
    volcano: Cluster, tmp_path: Path
) -> None:
    assert volcano.folder is not None
    operator = OperatorProcess(tmp_path, volcano.folder.product_kubeconfig, QUICK)
    operator.start()
    try:
        assert operator.ended(30) == 1
    finally:
        operator.kill()
    said = [one["message"] for one in json_lines(operator.log) if one["level"] == "error"]
    assert len(said) == 1
    assert "<vc-scheduler> writes the phases of PodGroups" in said[0]
    assert "set scheduler: volcano" in said[0]
    assert ask(volcano, "GET", PROBES).body["items"] == []


def test_v6_beside_volcano_as_it_should_be_nobody_is_asked(
    volcano: Cluster, tmp_path: Path
) -> None:
    assert volcano.folder is not None
    settings = {**QUICK, "scheduler": "volcano"}
    operator = OperatorProcess(tmp_path, volcano.folder.product_kubeconfig, settings)
    operator.start()
    try:
        operator.until_leading()
        assert ask(volcano, "GET", PROBES).body["items"] == []
        assert operator.process.poll() is None
    finally:
        operator.kill()
