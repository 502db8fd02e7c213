"""The committed CRDs are what the models say, every time."""

from pathlib import Path

import pytest

from cardquota.api import generate

CRDS = Path(__file__).parents[3] / "crds"


def test_what_differs_is_named_or_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crds = tmp_path / "crds"
    options = ["--directory", str(crds)]
    number = len(generate.RESOURCES) + 1
    assert generate.main(["--check", *options]) == 1
    assert len(capsys.readouterr().err.splitlines()) == number
    assert generate.main(options) == 0
    assert len(capsys.readouterr().out.splitlines()) == number
    assert generate.main(options) == generate.main(["--check", *options]) == 0
    assert capsys.readouterr() == ("", "")

    changed = crds / "scheduling.volcano.sh_queues.yaml"
    changed.write_text(before := changed.read_text() + "# by hand\n")
    assert generate.main(["--check", *options]) == 1
    assert str(changed) in capsys.readouterr().err
    assert changed.read_text() == before
