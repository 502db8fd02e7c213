import os
import platform

import pytest

from cardquota_dev.plane.real_node import requirements
from cardquota_dev.plane.real_node.requirements import LackingError, provide, real_node_lacks


@pytest.mark.skipif(platform.system() != "Linux", reason="says that it needs Linux")
def test_without_root_there_is_one_line_and_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "build", lambda _: pytest.fail("built"))
    assert real_node_lacks() == "a real node needs root: it mounts, and starts containers"
    with pytest.raises(LackingError, match="needs root"):
        provide()
