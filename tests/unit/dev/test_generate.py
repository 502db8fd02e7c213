"""The committed definitions and manifests are what the models and the settings say, every time."""

from pathlib import Path

import pytest
import yaml

from cardquota_dev.generate import (
    AUDIT,
    COMMITTED,
    COMPONENT,
    EXTENDER,
    LABELLED,
    LABELLED_AUDIT,
    RECLAIM,
    VOLCANO,
    committed,
    definitions,
    keep,
    main,
)
from cardquota_dev.paths import CHECKOUT


def test_committed_files_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDQUOTA_MODE", "audit")
    assert main(["--check"]) == 0
    assert {path.parent for path in committed()} == {
        *(COMMITTED.parent, COMPONENT, EXTENDER, VOLCANO, AUDIT, LABELLED, LABELLED_AUDIT, RECLAIM)
    }
    files = definitions()
    assert sorted((CHECKOUT / "crds").iterdir()) == sorted(files)
    kustomization = yaml.safe_load(files.pop(CHECKOUT / "crds" / "kustomization.yaml"))
    assert kustomization["resources"] == [path.name for path in files]


def test_what_differs_is_told_or_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {tmp_path / "new" / name: name for name in "ab"}
    assert keep(files, check=True) == 1
    assert len(capsys.readouterr().err.splitlines()) == len(files)
    assert keep(files, check=False) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(files)
    assert keep(files, check=False) == keep(files, check=True) == 0
    assert capsys.readouterr() == ("", "")
    (changed, _) = files
    changed.write_text("by hand")
    assert keep(files, check=True) == 1
    assert str(changed) in capsys.readouterr().err
    assert changed.read_text() == "by hand"
