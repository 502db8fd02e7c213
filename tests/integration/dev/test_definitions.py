"""Definitions of other projects come out of their Go modules, by version and checksum."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cardquota_dev.build import definitions
from cardquota_dev.build.definitions import (
    JOB_SET,
    definition_file,
)
from cardquota_dev.failure import PlaneError

pytestmark = pytest.mark.slow


def test_a_definition_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "cache", lambda: tmp_path / "controlplane")
    file = definition_file(JOB_SET)
    assert yaml.safe_load(file.read_text())["metadata"]["name"] == "jobsets.jobset.x-k8s.io"
    monkeypatch.setattr(definitions, "go", lambda: tmp_path / "no-go")
    assert definition_file(JOB_SET) == file
    assert list(file.parent.iterdir()) == [file]


def test_another_checksum_gives_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "cache", lambda: tmp_path / "controlplane")
    with pytest.raises(PlaneError, match=r"checksum is h1:WC5a5G.* and not h1:another"):
        definition_file(replace(JOB_SET, checksum="h1:another"))
    assert not list(tmp_path.rglob("*.yaml"))
