"""What is kept of a run on several versions of Kubernetes."""

import json
import sys
from pathlib import Path

import pytest

from cardquota_dev import tested_versions
from cardquota_dev.build.versions import MINORS
from cardquota_dev.failure import PlaneError

PYTHON = """#!/bin/sh
# Stands for Python: the demo passes, and so do two of three tests; on one version both fail.
for one; do case "$one" in --junitxml=*) echo '<testsuites><testsuite>
    <testcase name="a"/><testcase name="b"/>
    <testcase name="c"><skipped message="it needs more than '"$KUBERNETES"'"/></testcase>
    </testsuite></testsuites>' > "${one#*=}" ;; esac; done
[ "$KUBERNETES" != "$FAIL" ]
"""


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "python"
    program.write_text(PYTHON)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(tested_versions, "RESULTS", tmp_path / "results.json")
    monkeypatch.delenv("KUBERNETES", raising=False)
    monkeypatch.setenv("FAIL", "none")
    return tmp_path / "results.json"


def test_the_oldest_and_the_newest_are_tried_and_what_was_skipped_is_counted(results: Path) -> None:
    tested_versions.try_versions(workers=2, write=True)
    found = json.loads(results.read_text())
    assert [*found] == [MINORS[0], MINORS[-1]]
    for minor, one in found.items():
        assert one["release"].startswith(f"v{minor}.")
        assert (one["passed"], one["skipped"]) == (2, {f"it needs more than {minor}": 1})


def test_one_version_alone_leaves_the_others_as_they_were(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.write_text('{"1.33": {"passed": 7}}')
    monkeypatch.setenv("KUBERNETES", "1.34")
    tested_versions.try_versions(workers=2, write=True)
    found = json.loads(results.read_text())
    assert [*found] == ["1.33", "1.34"]
    assert found["1.33"] == {"passed": 7}


def test_nothing_is_kept_if_one_fails(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", MINORS[-1])
    with pytest.raises(PlaneError, match=rf"Kubernetes {MINORS[-1]}: .* failed"):
        tested_versions.try_versions(workers=2, write=True)
    assert not results.exists()
