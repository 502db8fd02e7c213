"""`cardquota run` with a configuration that cannot be used: exit code 2, and one line."""

import os
import subprocess
from pathlib import Path

import pytest

from .running import CARDQUOTA

BAD = {
    "unknown key": ("mode: enforce\nmdoe: audit\n", "mdoe"),
    "unknown nested key": ("webhook: {prot: 1}\n", "webhook.prot"),
    "wrong mode": ("mode: maybe\n", "mode"),
    "a list": ("- a\n", "must hold a mapping"),
    "no YAML": ("{", "is not YAML"),
    "a port too large": ("webhook: {port: 70000}\n", "webhook.port"),
    "terms in disorder": ("leaderElection: {renewDeadline: 20}\n", "renewDeadline"),
}


def run(*flags: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*CARDQUOTA, "run", *flags],
        env={**os.environ, "KUBECONFIG": "/nowhere", **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("text", "named"), BAD.values(), ids=BAD)
def test_a_configuration_that_cannot_be_used(tmp_path: Path, text: str, named: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    done = run(f"--config={config}")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("cardquota: ")
    assert named in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "environment", "named"),
    [
        (["--config=/nowhere.yaml"], {}, "/nowhere.yaml: cannot be read"),
        ([], {"CARDQUOTA_LOG__LEVEL": "loud"}, "log.level"),
        ([], {}, "/nowhere"),
    ],
)
def test_nothing_to_run_with(flags: list[str], environment: dict[str, str], named: str) -> None:
    done = run(*flags, **environment)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert named in done.stderr
