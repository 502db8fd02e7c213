import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota_dev.failure import PlaneError
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.process import MARK, Process, marked
from cardquota_dev.plane.state import PlaneState, end_recorded


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "plane")
    folder.prepare()
    folder.clear()
    return folder


@pytest.fixture
def sleeper(folder: Folder) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    environment = {**os.environ, MARK: str(folder.path)}
    with subprocess.Popen(
        command, start_new_session=True, env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it runs
        yield process
        process.kill()


def test_what_is_recorded_is_ended(folder: Folder, sleeper: subprocess.Popen[bytes]) -> None:
    state = PlaneState(processes=[Process.of("sleeper", sleeper.pid)])
    state.write(folder)
    end_recorded(folder)
    assert sleeper.wait(10) < 0
    assert not state.process("sleeper").alive


def test_a_number_used_again_is_another(folder: Folder, sleeper: subprocess.Popen[bytes]) -> None:
    PlaneState(processes=[Process("sleeper", sleeper.pid, "another moment")]).write(folder)
    end_recorded(folder)
    assert sleeper.poll() is None


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_what_bears_the_mark_is_found(folder: Folder, sleeper: subprocess.Popen[bytes]) -> None:
    assert [one.pid for one in marked(folder.path)] == [sleeper.pid]
    assert marked(folder.path / "other") == []


def test_somebody_elses_folder_is_neither_used_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(PlaneError, match="neither empty"):
        Folder(tmp_path).prepare()
    with pytest.raises(PlaneError, match="no plane"):
        Folder(tmp_path).remove()
    assert (tmp_path / "thesis.txt").exists()
