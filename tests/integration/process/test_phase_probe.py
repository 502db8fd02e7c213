"""V6: without another scheduler the probe comes and goes, and concerns nobody."""

from pathlib import Path

import pytest

from cardquota_dev.testing import Cluster, eventually
from integration.asking import ask

from .running import QUICK, OperatorProcess, install_base, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]
PROBES = "/apis/scheduling.volcano.sh/v1beta1/namespaces/cardquota-system/podgroups"


def test_v6_without_another_scheduler_the_probe_comes_and_goes(
    bare: Cluster, tmp_path: Path
) -> None:
    install_base(bare)
    assert bare.folder is not None
    operator = OperatorProcess(tmp_path, bare.folder.product_kubeconfig, QUICK)
    operator.start()
    try:
        (probe,) = eventually(lambda: ask(bare, "GET", PROBES).body.get("items"), "it is there")
        operator.until_leading()
        eventually(lambda: not ask(bare, "GET", PROBES).body["items"], "it is gone")
        assert "status" not in probe
        assert operator.process.poll() is None
        assert operator.metric("cardquota_other_scheduler") == 0
    finally:
        operator.kill()
    assert tracebacks(operator.log) == []
