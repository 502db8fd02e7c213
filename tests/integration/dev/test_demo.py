"""The demo shows what it says, or says what it did not show; it leaves nothing behind."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota_dev.demo.runner import FILES
from cardquota_dev.demo.steps.order import STEPS
from cardquota_dev.demo.steps.real_cards import containers_see_the_card_of_their_pod
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.process import marked
from cardquota_dev.plane.real_node.requirements import real_node_lacks
from cardquota_dev.plane.state import read_state
from harness.console_blocks import DocumentedCommand, console_commands

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

COMMAND = [sys.executable, "-m", "cardquota_dev"]
README = CHECKOUT / "README.md"
OF_MAKE = ("make demo", "make test")
"""What the README shows beside the output of the demo: this, and the tests."""


def demonstrated(command: DocumentedCommand, said: str) -> bool:
    """Whether the demo runs what the README shows of it, with that output."""
    steps = said.split("\n$ ")
    typed = f"{command.text}   # "
    return any(one.startswith(typed) and not command.missing(one) for one in steps)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    folder = Folder(tmp_path / "plane")
    yield folder
    subprocess.run([*COMMAND, "down", "--dir", str(folder.path)], check=True, timeout=90)


def demo(folder: Folder, *options: str) -> list[str]:
    return [*COMMAND, "demo", "--dir", str(folder.path), *options]


def test_every_step_shows_what_it_says(folder: Folder) -> None:
    done = subprocess.run(demo(folder), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = iter(done.stdout.splitlines())
    for number, step in enumerate(STEPS, start=1):
        assert f"== {number}. {step.title}" in said
        if step.run is containers_see_the_card_of_their_pod and real_node_lacks():
            assert next(said) == f"Left out on this machine: {real_node_lacks()}"
        else:
            assert any(line.startswith("$ kubectl ") for line in said)
    assert any(line.endswith("in all") for line in said)
    shown = [one for one in console_commands(README.read_text()) if one.text not in OF_MAKE]
    assert shown
    assert [one for one in shown if not demonstrated(one, done.stdout)] == []
    assert done.stderr == ""
    assert not folder.path.exists()
    assert not marked(folder.path)


def test_a_step_that_shows_something_else_fails_and_the_plane_can_be_kept(
    folder: Folder, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    shutil.copytree(FILES, files)
    text = (files / "queues.yaml").read_text()
    (files / "queues.yaml").write_text(text.replace('"NVIDIA-H200": 3', '"NVIDIA-H200": 4'))
    options = ("--files", str(files), "--patience", "20", "--keep")
    done = subprocess.run(
        demo(folder, *options), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    assert f"step 1. {STEPS[0].title} failed" in done.stderr
    assert "expected: a row with NAME research, STATE Open, CARDS NVIDIA-H200 0/3" in done.stderr
    assert "NVIDIA-H200 0/4" in done.stderr.partition("seen:")[2]
    assert STEPS[1].title not in done.stdout
    assert f"down --dir {folder.path}" in done.stdout
    state = read_state(folder)
    assert state is not None
    assert state.ready
    assert all(one.alive for one in state.processes)


def test_an_interrupt_leaves_nothing(folder: Folder) -> None:
    with subprocess.Popen(
        demo(folder), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout is not None
        assert any(line.startswith("$ kubectl apply") for line in running.stdout)
        running.send_signal(signal.SIGINT)
        running.stdout.read()
        assert running.wait(90) == 130
    assert not marked(folder.path)
    assert not folder.path.exists()
