"""`cardquota run` with a configuration that cannot be used: exit code 2, and one line."""

import os
import subprocess
from pathlib import Path

import pytest

from .running import CARDQUOTA


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "environment", "named"),
    [
        ("mdoe: audit\n", {}, "mdoe"),
        ("", {"CARDQUOTA_LOG__LEVEL": "loud"}, "log.level"),
        ("", {}, "/nowhere"),
    ],
    ids=["the file", "the environment", "no API server"],
)
def test_it_is_named_on_one_line(
    tmp_path: Path, text: str, environment: dict[str, str], named: str
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    done = subprocess.run(
        [*CARDQUOTA, "run", f"--config={config}"],
        env={**os.environ, "KUBECONFIG": "/nowhere", **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert named in done.stderr
